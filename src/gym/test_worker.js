/**
 * The program inside the isolated worker of the test runner: calls one function of one source with each list of arguments.
 *
 * It runs without permissions, and each source gets a V8 context of its own: fresh built-ins, no `Deno`, no `fetch`, no
 * `postMessage`, no `import()`. Only text crosses between the context and this program, so no object of the one reaches
 * the other, and the expected values never come here. test_runner.ts loads this file as text, so it imports nothing of
 * the project; it is JavaScript because TypeScript would be type-checked again at every start of a worker.
 */
import { setImmediate } from "node:timers";
import { createContext, runInContext } from "node:vm";

/** The value of an expression where it is a text; null where it threw or is anything else. */
function evaluate(expression, context) {
  try {
    const result = runInContext(expression, context);
    return typeof result === "string" ? result : null;
  } catch {
    return null;
  }
}

// What a program throws later (a rejected promise, a microtask) is its own failure; an error of this realm is a crash.
globalThis.onunhandledrejection = (event) => {
  if (!(event.reason instanceof Error)) event.preventDefault();
};
globalThis.onerror = (event) => {
  if (!(event.error instanceof Error)) event.preventDefault();
};

globalThis.onmessage = ({ data: { source, calls } }) => {
  const context = createContext(Object.create(null));
  evaluate(source, context);
  for (const call of calls) {
    globalThis.postMessage({ result: evaluate(`JSON.stringify(${call})`, context) });
  }
  // A turn of its own: what the source left behind to run later still runs in its own time, not in that of the next source.
  // Not setTimeout, which waits 3 ms.
  setImmediate(() => globalThis.postMessage("done"));
};
globalThis.postMessage("ready");
