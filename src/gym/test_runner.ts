/** Runs the tests of a program for real, in an isolated worker without permissions and with a time limit. */
import type { TestCase } from "./tasks.ts";
// As text, so that starting the worker needs no permission to read the file.
import WORKER_SOURCE from "./test_worker.js" with { type: "text" };

/** Far above the 2 ms that a program of the gym takes: only an endless loop meets it, also on a busy machine. */
const DEFAULT_TIME_LIMIT_MS = 5000;

/** A constant of its own because the option `deno` is not in the stable type library yet. */
const WORKER_OPTIONS = { type: "module", deno: { permissions: "none" } } as const;

/** What the worker sends: the JSON of one returned value (null: thrown, or nothing returned), or a change of its state. */
type WorkerMessage = "ready" | "done" | { readonly result: string | null };

/** A program: JavaScript text that declares the function `name`. */
export interface TestedProgram {
  /** JavaScript, a script and not a module. */
  readonly source: string;
  /** The function under test. */
  readonly name: string;
}

/** How a worker's turn ended, and the results that it sent before that. */
interface Turn {
  readonly results: readonly (string | null)[];
  readonly timedOut: boolean;
}

/**
 * Runs programs against tests, one after the other in one worker, each distinct pair of program and tests once.
 *
 * The worker has no permissions and every source its own V8 context (test_worker.js), so a source can neither read a
 * file, reach the network, nor touch another source's run. A program that does not finish within the time limit fails
 * the test it hangs in and those after it, and its worker is replaced. Not covered: a program that exhausts memory ends
 * the whole process.
 *
 * No permission is needed; `"unstable": ["worker-options"]` must stand in the deno.json of the main program.
 *
 * @example
 * ```ts
 * import { TestRunner } from "./test_runner.ts";
 * const runner = new TestRunner();
 * const program = { name: "twice", source: "function twice(x) { return x + x; }" };
 * console.log(await runner.run(program, [{ args: [2], expected: 4 }])); // [true]
 * await runner.close();
 * ```
 */
export class TestRunner {
  readonly #timeLimitMs: number;
  readonly #workerSource: string;
  readonly #remembered = new Map<string, Promise<readonly boolean[]>>();
  #last: Promise<unknown> = Promise.resolve();
  #worker: Worker | null = null;

  /**
   * Starts no worker yet; the first `run` does.
   * @param options.timeLimitMs How long one program may take for all its tests; default 5000.
   * @param options.workerSource The text of the worker, for tests of this class.
   */
  constructor(options: { readonly timeLimitMs?: number; readonly workerSource?: string } = {}) {
    this.#timeLimitMs = options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS;
    this.#workerSource = options.workerSource ?? WORKER_SOURCE;
  }

  /**
   * Whether each test passes: the JSON of the value that the function returns is the JSON of the expected one. A
   * function that throws fails the test.
   *
   * @returns One verdict a test, in their order.
   * @throws {Error} When the worker itself crashes: that is no verdict, and it is not remembered.
   */
  run(program: TestedProgram, tests: readonly TestCase[]): Promise<readonly boolean[]> {
    const key = JSON.stringify([program.name, program.source, tests]);
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined) return remembered;
    const verdicts = this.#last.then(() => this.#judge(program, tests));
    this.#remembered.set(key, verdicts);
    this.#last = verdicts.catch(() => this.#remembered.delete(key));
    return verdicts;
  }

  /** Ends the worker after the runs that were asked for; a later `run` starts another. */
  async close(): Promise<void> {
    await this.#last;
    this.#endWorker();
  }

  #endWorker(): void {
    this.#worker?.terminate();
    this.#worker = null;
  }

  async #judge(program: TestedProgram, tests: readonly TestCase[]): Promise<readonly boolean[]> {
    const wasFresh = this.#worker === null;
    let turn = await this.#takeTurn(program, tests);
    // Only a fresh worker convicts: in a used one, the delay may be what an earlier source left behind.
    if (turn.timedOut && !wasFresh) turn = await this.#takeTurn(program, tests);
    return tests.map(({ expected }, i) => turn.results[i] === JSON.stringify(expected));
  }

  async #takeTurn(program: TestedProgram, tests: readonly TestCase[]): Promise<Turn> {
    const worker = this.#worker ??= await this.#startWorker(program.name);
    const results: (string | null)[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<Turn>();
    const timer = setTimeout(() => {
      this.#endWorker();
      resolve({ results, timedOut: true });
    }, this.#timeLimitMs);
    worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
      if (data === "done") resolve({ results, timedOut: false });
      else if (data !== "ready") results.push(data.result);
    };
    worker.onerror = (event) => reject(this.#crash(program.name, event));
    worker.postMessage({
      source: program.source,
      calls: tests.map(({ args }) => `${program.name}(...${JSON.stringify(args)})`),
    });
    return await promise.finally(() => clearTimeout(timer));
  }

  /** A worker that has said it is ready, so that its start does not count against the time limit. */
  async #startWorker(name: string): Promise<Worker> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const url = URL.createObjectURL(
      new Blob([this.#workerSource], { type: "text/javascript" }),
    );
    const worker = new Worker(url, WORKER_OPTIONS);
    worker.onmessage = () => resolve();
    worker.onerror = (event) => reject(this.#crash(name, event));
    await promise.finally(() => URL.revokeObjectURL(url));
    return worker;
  }

  #crash(name: string, event: ErrorEvent): Error {
    event.preventDefault();
    this.#endWorker();
    return new Error(`Cannot run the tests of ${name}: the test worker crashed: ${event.message}`);
  }
}
