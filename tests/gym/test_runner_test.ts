/** Holds the test runner to its isolation: hostile programs fail or stay harmless, and a crash is never a verdict. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { openGym } from "../../src/gym/gym.ts";
import { makeTasks } from "../../src/gym/tasks.ts";
import { TestRunner } from "../../src/gym/test_runner.ts";

/** Long enough for a program that ends (2 ms) on a busy machine, short enough to wait for one that does not. */
const SHORT_LIMIT_MS = 400;

/** Runs `f(x)` with x = 1 and 2 and expects the values given. */
async function verdictsOf(
  source: string,
  expected: readonly [unknown, unknown],
  runner = new TestRunner({ timeLimitMs: SHORT_LIMIT_MS }),
): Promise<readonly boolean[]> {
  try {
    return await runner.run({ source, name: "f" }, [
      { args: [1], expected: expected[0] as number },
      { args: [2], expected: expected[1] as number },
    ]);
  } finally {
    await runner.close();
  }
}

Deno.test("TestRunner judges each test by the value that the function returns", async () => {
  assertEquals(await verdictsOf("function f(x) { return x + x; }", [2, 4]), [true, true]);
  assertEquals(await verdictsOf("function f(x) { return x * x; }", [1, 3]), [true, false]);
  assertEquals(await verdictsOf("const f = (x) => [x, { x }]", [[1, { x: 1 }], [2]]), [
    true,
    false,
  ]);
});

Deno.test("TestRunner does not take NaN, undefined or a function for an expected null or 0", async () => {
  assertEquals(await verdictsOf("function f(x) { return 0 / (x - 1); }", [0, 0]), [false, true]);
  assertEquals(await verdictsOf("function f() {}", [0, null]), [false, false]);
  assertEquals(await verdictsOf("function f() { return f; }", [0, null]), [false, false]);
});

Deno.test("TestRunner fails a program that throws, does not parse or lacks the function", async () => {
  const thrower = "function f(x) { if (x > 1) throw new Error('no'); return x; }";
  assertEquals(await verdictsOf(thrower, [1, 2]), [true, false]);
  assertEquals(await verdictsOf("function f(x) {", [1, 2]), [false, false]);
  assertEquals(await verdictsOf("function g(x) { return x; }", [1, 2]), [false, false]);
  assertEquals(await verdictsOf("function f(x) { return f(x); }", [1, 2]), [false, false]);
});

Deno.test("TestRunner fails a program that fails later, in a promise or a microtask, without a crash", async () => {
  assertEquals(await verdictsOf("async function f(x) { throw x; }", [1, 2]), [false, false]);
  const throws = "async function f(x) { throw new Error('no'); }";
  assertEquals(await verdictsOf(throws, [1, 2]), [false, false]);
  const late = "function f(x) { queueMicrotask(() => { throw new Error('late'); }); return x; }";
  assertEquals(await verdictsOf(late, [1, 2]), [true, true]);
});

Deno.test("TestRunner fails an endless loop and replaces the worker for the next program", async () => {
  const runner = new TestRunner({ timeLimitMs: SHORT_LIMIT_MS });
  const run = (source: string) =>
    runner.run({ source, name: "f" }, [{ args: [1], expected: 1 }, { args: [2], expected: 2 }]);
  const [before, endless, later] = await Promise.all([
    run("const f = (x) => x;"),
    run("function f(x) { while (x > 1); return x; }"),
    run("const f = (x) => 0 + x;"),
  ]);
  assertEquals(before, [true, true]);
  assertEquals(endless, [true, false]);
  assertEquals(later, [true, true]);
  await runner.close();
});

Deno.test("TestRunner does not let a program that hangs after its answers fail the next one", async () => {
  const runner = new TestRunner({ timeLimitMs: SHORT_LIMIT_MS });
  const tests = [{ args: [1], expected: 1 }];
  const hangs =
    "Promise.resolve().then(function again() { Promise.resolve().then(again); }); const f = (x) => x;";
  const first = runner.run({ source: hangs, name: "f" }, tests);
  assertEquals(await runner.run({ source: "const f = (x) => x;", name: "f" }, tests), [true]);
  await first;
  await runner.close();
});

Deno.test("TestRunner convicts no program in a worker that others have used", async () => {
  // This worker answers its first program only, as if that one had left something behind that hangs.
  const workerSource = `let jobs = 0;
    onmessage = () => {
      if (jobs++ > 0) return;
      postMessage({ result: "1" });
      postMessage("done");
    };
    postMessage("ready");`;
  const runner = new TestRunner({ workerSource, timeLimitMs: SHORT_LIMIT_MS });
  const run = (source: string) => runner.run({ source, name: "f" }, [{ args: [], expected: 1 }]);
  assertEquals(await run("one"), [true]);
  assertEquals(await run("two"), [true]);
  await runner.close();
});

Deno.test("TestRunner shields programs from one another's built-ins", async () => {
  const runner = new TestRunner();
  const tests = [{ args: [[1, 2]], expected: [2, 4] }];
  const tamper = `
    Array.prototype.map = () => [2, 4]; JSON.stringify = () => "[2,4]"; Object.prototype.toJSON = () => [2, 4];
    function f() { return "anything"; }`;
  // It may lie about its own value, as any program that returns a constant may.
  assertEquals(await runner.run({ source: tamper, name: "f" }, tests), [true]);
  const honest = "function f(values) { return values.map((x) => 3 * x); }";
  assertEquals(await runner.run({ source: honest, name: "f" }, tests), [false]);
  await runner.close();
});

Deno.test("TestRunner gives a program no way out of its context", async () => {
  const names = ["Deno", "fetch", "postMessage", "process", "require", "self", "Worker", "close"];
  const looks = `function f() { return [${names.map((name) => `typeof ${name}`)}]; }`;
  const nothing = names.map(() => "undefined");
  assertEquals(await verdictsOf(looks, [nothing, nothing]), [true, true]);
  const climbs = `function f(x) {
    const made = x === 1 ? globalThis.constructor.constructor : queueMicrotask.constructor;
    return made("return typeof Deno + typeof postMessage")();
  }`;
  const outside = "undefinedundefined";
  assertEquals(await verdictsOf(climbs, [outside, outside]), [true, true]);
});

Deno.test("TestRunner runs its worker without permissions, so even the worker reads no file and no network", async () => {
  const workerSource = `
    const nameOf = (error) => JSON.stringify(error.name);
    onmessage = async () => {
      try { Deno.readTextFileSync("deno.json"); } catch (error) { postMessage({ result: nameOf(error) }); }
      try { await Deno.connect({ port: 1 }); } catch (error) { postMessage({ result: nameOf(error) }); }
      postMessage("done");
    };
    postMessage("ready");`;
  const runner = new TestRunner({ workerSource });
  assertEquals(await verdictsOf("", ["NotCapable", "NotCapable"], runner), [true, true]);
});

Deno.test("TestRunner rejects when its worker crashes, and does not remember that", async () => {
  const workerSource =
    `onmessage = () => { throw new Error("out of order"); }; postMessage("ready");`;
  const runner = new TestRunner({ workerSource });
  const program = { source: "const f = (x) => x;", name: "f" };
  for (let attempt = 0; attempt < 2; attempt++) {
    await assertRejects(
      () => runner.run(program, [{ args: [1], expected: 1 }]),
      Error,
      "Cannot run the tests of f: the test worker crashed",
    );
  }
  await runner.close();
});

Deno.test("openGym() rejects when the worker crashes at its start", async () => {
  const runner = new TestRunner({ workerSource: "throw new Error('no start');" });
  await assertRejects(() => openGym(makeTasks("all"), runner), Error, "crashed");
});

Deno.test("TestRunner runs a distinct program once and answers from memory afterwards", async () => {
  const workerSource = `let runs = 0;
    onmessage = () => { postMessage({ result: String(++runs) }); postMessage("done"); };
    postMessage("ready");`;
  const runner = new TestRunner({ workerSource });
  const run = (source: string) => runner.run({ source, name: "f" }, [{ args: [], expected: 1 }]);
  assertEquals(await run("one"), [true]);
  assertEquals(await run("one"), [true]);
  assertEquals(await run("two"), [false]);
  await runner.close();
});

Deno.test({
  name: "openGym() needs no permission and well under five seconds",
  permissions: "none",
  fn: async () => {
    const start = performance.now();
    const gym = await openGym();
    // 0.4 s when quiet; the bound leaves room for a machine that is busy with other work.
    assert(performance.now() - start < 5000);
    assertEquals(gym.verdicts.reduce((count, sources) => count + sources.size, 0), 90);
  },
});
