/** Runs the tests of a program for real: in a process of its own without permissions, within limits of time and memory. */
import type { TestCase } from "../gym/task.ts";
// As text, so that starting the process needs no permission to read the file.
import SANDBOX_SOURCE from "./sandbox.js" with { type: "text" };

/** Far above the 2 ms that a program of the gym takes: only an endless loop meets it, also on a busy machine. */
const DEFAULT_TIME_LIMIT_MS = 5000;

/** Far above what a program of the gym takes (less than 1 MiB), far below what a machine has. */
const DEFAULT_MEMORY_LIMIT_BYTES = 256 * 2 ** 20;

/** How long the process may take beside the program: its start takes 40 ms when the machine is quiet. */
const START_LIMIT_MS = 30_000;

/** How V8 ends a process that asks for more memory than there can be, in one step that no watch sees coming. */
const OUT_OF_MEMORY_SIGNALS: readonly (Deno.Signal | null)[] = ["SIGTRAP", "SIGABRT", "SIGILL"];

/** No permissions, no configuration, no modules from anywhere; the program comes on the standard input. */
const ARGUMENTS = [
  "run",
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--ext=js",
  "-",
];

/** A line of the process: the JSON of one returned value (null: thrown, or nothing returned), or a change of its state. */
type SandboxLine =
  | "begun"
  | "done"
  | "time"
  | "memory"
  | { readonly result: string | null }
  | { readonly crash: string };

/** A program: JavaScript text that declares the function `name`. */
export interface TestedProgram {
  /** JavaScript, a script and not a module. */
  readonly source: string;
  /** The function under test. */
  readonly name: string;
}

/** What a {@linkcode TestRunner} may be told. */
export interface TestRunnerOptions {
  /** How long one program may take for all its tests; default 5000. */
  readonly timeLimitMs?: number;
  /** How much memory one program may take; default 256 MiB. */
  readonly memoryLimitBytes?: number;
  /** The Deno that runs the programs; default the one that runs this. */
  readonly deno?: string;
}

/**
 * Runs programs against tests, one after the other, each distinct pair of program and tests once.
 *
 * Every program runs in a process of its own that has no permissions, and there in a V8 context of its own (sandbox.js):
 * it can neither read a file, reach the network, nor touch another program's run. A program that goes beyond the time or
 * the memory fails the test in which it does and those after it. Its process ends with its verdict, whatever the program
 * does (endless loops, floods of microtasks, memory bombs), and by itself where this process is killed.
 *
 * Starting the process needs the permission to run Deno (`--allow-run`) and takes about 40 ms.
 *
 * @example
 * ```ts
 * import { TestRunner } from "./test_runner.ts";
 * const runner = new TestRunner();
 * const program = { name: "twice", source: "function twice(x) { return x + x; }" };
 * console.log(await runner.run(program, [{ args: [2], expected: 4 }])); // [true]
 * ```
 */
export class TestRunner {
  readonly #options: Required<TestRunnerOptions>;
  readonly #remembered = new Map<string, Promise<readonly boolean[]>>();
  #last: Promise<unknown> = Promise.resolve();

  /** Starts nothing yet; `run` does. */
  constructor(options: TestRunnerOptions = {}) {
    this.#options = {
      timeLimitMs: options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
      memoryLimitBytes: options.memoryLimitBytes ?? DEFAULT_MEMORY_LIMIT_BYTES,
      deno: options.deno ?? Deno.execPath(),
    };
  }

  /**
   * Whether each test passes: the JSON of the value that the function returns is the JSON of the expected one. A
   * function that throws fails the test.
   *
   * @returns One verdict per test, in their order.
   * @throws {Error} When the process itself fails: that is not a verdict, and it is not remembered.
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

  async #judge(program: TestedProgram, tests: readonly TestCase[]): Promise<readonly boolean[]> {
    const expected = tests.map((test) => JSON.stringify(test.expected));
    const { status, lines } = await this.#runProcess({
      source: program.source,
      calls: tests.map(({ args }) => `${program.name}(...${JSON.stringify(args)})`),
      // A longer text is not the expected one, and it need not fill the memory of this process.
      longestResult: Math.max(0, ...expected.map((text) => text.length)),
    });
    const last = lines.at(-1);
    const isOver = last === "done" || last === "time" || last === "memory";
    // A process that V8 ended while the program ran is the program's doing; any other end says nothing about the program.
    const isOutOfMemory = lines.includes("begun") && OUT_OF_MEMORY_SIGNALS.includes(status.signal);
    if (!isOver && !isOutOfMemory) {
      const reason = typeof last === "object" && "crash" in last
        ? last.crash
        : `it ended with ${status.signal ?? `exit code ${status.code}`}`;
      throw new Error(`Cannot run the tests of ${program.name}: their process failed: ${reason}`);
    }
    const results = lines.flatMap((line) =>
      typeof line === "object" && "result" in line ? [line.result] : []
    );
    return expected.map((text, i) => results[i] === text);
  }

  async #runProcess(
    program: {
      readonly source: string;
      readonly calls: readonly string[];
      readonly longestResult: number;
    },
  ): Promise<{ readonly status: Deno.CommandStatus; readonly lines: readonly SandboxLine[] }> {
    const { deno, timeLimitMs, memoryLimitBytes } = this.#options;
    const mark = crypto.randomUUID();
    const job = JSON.stringify({ ...program, mark, timeLimitMs, memoryLimitBytes });
    const child = new Deno.Command(deno, {
      args: ARGUMENTS,
      clearEnv: true,
      stdin: "piped",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const timer = setTimeout(() => child.kill("SIGKILL"), START_LIMIT_MS + timeLimitMs);
    try {
      const script = new Blob([SANDBOX_SOURCE, `watch(${job});\n`]).stream();
      // A process that ends before it has read everything says by its status what went wrong.
      const [, text, status] = await Promise.all([
        script.pipeTo(child.stdin).catch(() => {}),
        new Response(child.stderr).text(),
        child.status,
      ]);
      // What a crash cut off in the middle is not a line.
      const lines = text.split("\n").slice(0, -1).filter((line) => line.startsWith(mark));
      return {
        status,
        lines: lines.map((line): SandboxLine => JSON.parse(line.slice(mark.length))),
      };
    } finally {
      clearTimeout(timer);
    }
  }
}
