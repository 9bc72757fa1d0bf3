/**
 * The program of the process in which the test runner judges one source. Its main thread only watches the time and the memory;
 * a worker runs the source, so that even `for (;;);` leaves a thread that can end the process.
 *
 * The process has no permissions, and the source gets a V8 context of its own: fresh built-ins, no `Deno`, no `fetch`, no
 * `postMessage`, no `import()`. Only text crosses between the context and the worker, so no object of the one reaches the
 * other, and the expected values never come here. test_runner.ts sends this text to `deno run -` and appends the call of
 * `watch`, so it imports nothing of the project.
 */

/** A watch that looks every few milliseconds sees a program that allocates a gigabyte a second in time. */
const LOOK_EVERY_MS = 5;

/** What the worker runs: every list of arguments in turn. It is sent as text, so it uses nothing from outside of itself. */
async function judge({ source, calls, timeLimitMs, longestResult }) {
  // What the source throws later, in a promise or a microtask, is its own failure and no message for a terminal.
  globalThis.onunhandledrejection = (event) => event.preventDefault();
  globalThis.onerror = (event) => event.preventDefault();
  try {
    const { createContext, runInContext } = await import("node:vm");
    const context = createContext(Object.create(null));
    const end = performance.now() + timeLimitMs;
    /** The value of an expression where it is a text that may be right; null where it threw, took too long or is anything else. */
    const evaluate = (expression) => {
      const timeout = Math.max(1, Math.ceil(end - performance.now()));
      try {
        const result = runInContext(expression, context, { timeout });
        return typeof result === "string" && result.length <= longestResult ? result : null;
      } catch {
        return null;
      }
    };
    globalThis.postMessage("begun");
    evaluate(source);
    for (const call of calls) {
      // A loop that node:vm has stopped used up the time of the tests after it as well.
      if (performance.now() >= end) return globalThis.postMessage("time");
      globalThis.postMessage({ result: evaluate(`JSON.stringify(${call})`) });
    }
    globalThis.postMessage("done");
  } catch (error) {
    globalThis.postMessage({ crash: String(error) });
  }
}

/**
 * Starts the worker, prints what it reports, a line each, and ends the process when it is done or goes beyond a limit.
 *
 * The lines go to stderr behind a mark that the source cannot know: what it throws in a microtask, V8 prints to stdout.
 */
// deno-lint-ignore no-unused-vars -- test_runner.ts appends the call.
function watch({ mark, memoryLimitBytes, ...job }) {
  const report = (line) => console.error(`${mark}${JSON.stringify(line)}`);
  const end = (line) => {
    report(line);
    Deno.exit(0);
  };
  const blob = new Blob([`(${judge})(${JSON.stringify(job)});`], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(blob), { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data === "done" || data === "time" || data.crash !== undefined) end(data);
    report(data);
    if (data === "begun") setTimeout(() => end("time"), job.timeLimitMs);
  };
  worker.onerror = (event) => end({ crash: event.message });
  const baseBytes = Deno.memoryUsage().rss;
  setInterval(() => {
    if (Deno.memoryUsage().rss - baseBytes > memoryLimitBytes) end("memory");
  }, LOOK_EVERY_MS);
}
