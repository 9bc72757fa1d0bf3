/**
 * The program inside the isolated worker of the test runner: calls one function of one source with each list of arguments.
 *
 * It runs without permissions, and each source gets a V8 context of its own: fresh built-ins, no `Deno`, no `fetch`, no
 * `postMessage`, no `import()`. Only text crosses between the context and this program, so no object of the one reaches
 * the other, and the expected values never come here. test_runner.ts loads this file as text; it must import nothing of
 * the project.
 */
import { createContext, runInContext } from "node:vm";

/** What test_runner.ts sends. */
interface Job {
  readonly source: string;
  readonly calls: readonly string[];
}

/** The part of the worker's global scope that is used here; the type library of workers clashes with that of windows. */
interface WorkerScope {
  onmessage: (event: MessageEvent<Job>) => void;
  postMessage(message: unknown): void;
}

const scope = globalThis as unknown as WorkerScope;

/** The returned value as JSON; null where the program threw or returned nothing that has a JSON. */
function evaluate(text: string, context: object): string | null {
  try {
    const result: unknown = runInContext(text, context);
    return typeof result === "string" ? result : null;
  } catch {
    return null;
  }
}

scope.onmessage = ({ data: { source, calls } }) => {
  const context = createContext(Object.create(null));
  evaluate(source, context);
  for (const call of calls) {
    scope.postMessage({ result: evaluate(`JSON.stringify(${call})`, context) });
  }
  // A macrotask: what the source left behind to run later still runs in its own time, not in that of the next source.
  setTimeout(() => scope.postMessage("done"), 0);
};
scope.postMessage("ready");
