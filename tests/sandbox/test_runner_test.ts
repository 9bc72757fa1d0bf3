/** Holds the test runner to its isolation: hostile programs fail or stay harmless, and a crash is never a verdict. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { fileURLToPath } from "node:url";
import { TestRunner } from "../../src/sandbox/test_runner.ts";
import { childrenOf, isAlive } from "./processes.ts";

/** Long enough for a program that ends (2 ms) on a busy machine, short enough to wait for one that does not. */
const SHORT_LIMIT_MS = 400;

/** Runs `f(x)` with x = 1 and 2 and expects the values given. */
function verdictsOf(
  source: string,
  expected: readonly [unknown, unknown],
  runner = new TestRunner(),
): Promise<readonly boolean[]> {
  return runner.run({ source, name: "f" }, [
    { args: [1], expected: expected[0] as number },
    { args: [2], expected: expected[1] as number },
  ]);
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

Deno.test("TestRunner judges a program that fails later, in a promise or a microtask, whatever it throws", async () => {
  const hostile = "new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 1; } })";
  for (const thrown of ["x", "new Error('no')", hostile]) {
    const rejected = `function f(x) { Promise.reject(${thrown}); return x; }`;
    assertEquals(await verdictsOf(rejected, [1, 2]), [true, true], rejected);
    const late = `function f(x) { queueMicrotask(() => { throw ${thrown}; }); return x; }`;
    assertEquals(await verdictsOf(late, [1, 2]), [true, true], late);
    const asynchronous = `async function f(x) { throw ${thrown}; }`;
    assertEquals(await verdictsOf(asynchronous, [1, 2]), [false, false], asynchronous);
  }
});

/** Programs that never end by themselves, or take all memory, each with its verdicts for f(1) = 1 and f(2) = 2. */
const HANGING: Readonly<Record<string, readonly [source: string, ...boolean[]]>> = {
  "a loop": ["function f() { for (;;); }", false, false],
  "a loop at the second test": ["function f(x) { while (x > 1); return x; }", true, false],
  "a loop outside of the function": ["for (;;); function f(x) { return x; }", false, false],
  "a loop that catches": ["function f() { for (;;) try { f(); } catch {} }", false, false],
  "a loop in finally": [
    "function f() { try { for (;;); } finally { for (;;); } }",
    false,
    false,
  ],
  "a loop in toJSON": ["function f() { return { toJSON() { for (;;); } }; }", false, false],
  "a loop in a getter": ["function f() { return { get x() { for (;;); } }; }", false, false],
  "a loop in a trap": [
    "function f() { return new Proxy({}, { ownKeys() { for (;;); } }); }",
    false,
    false,
  ],
  "a loop of tagged templates": ["function f() { for (;;) String.raw`x`; }", false, false],
  "a loop of generated code": [
    "function f() { for (;;) new Function('return 1')(); }",
    false,
    false,
  ],
  "a flood of microtasks": [
    "Promise.resolve().then(function again() { Promise.resolve().then(again); }); const f = (x) => x;",
    true,
    true,
  ],
  "a flood that grows": [
    "(function again() { for (let i = 0; i < 9; i++) queueMicrotask(again); })(); const f = (x) => x;",
    true,
    true,
  ],
  "an endless async function": ["async function f() { for (;;) await 0; }", false, false],
  "a thenable that is never done": [
    "const t = { then(r) { r(t); } }; Promise.resolve(t); const f = (x) => x;",
    true,
    true,
  ],
  "a regular expression": ["function f() { return /(a+)+b/.test('a'.repeat(60)); }", false, false],
  "one step of big integers": [
    "function f() { return String(3n ** (2n ** 25n)).length; }",
    false,
    false,
  ],
  "a thread that sleeps": [
    "function f() { Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0); }",
    false,
    false,
  ],
  "arrays of bytes": [
    "function f() { for (const a = [];;) a.push(new Uint8Array(1e7).fill(1)); }",
    false,
    false,
  ],
  "objects": ["function f() { for (const a = [];;) a.push({ a }); }", false, false],
  "one huge array": [
    "function f() { return new Array(4e8).fill(0).map((x) => [x]); }",
    false,
    false,
  ],
  "a string that doubles": ["function f() { for (let s = 'x';;) s += s; }", false, false],
};

/** Waits for a process of a program and says its number. */
async function firstChild(program: string): Promise<number> {
  for (;;) {
    const [child] = childrenOf(Deno.pid, program);
    if (child !== undefined) return child;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

for (const [what, [source, ...verdicts]] of Object.entries(HANGING)) {
  Deno.test(`TestRunner ends with the process of a program: ${what}`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      // A name of its own, because other tests start processes as well.
      const deno = `${folder}/deno`;
      await Deno.symlink(Deno.execPath(), deno);
      const runner = new TestRunner({ timeLimitMs: SHORT_LIMIT_MS, deno });
      const judged = verdictsOf(source, [1, 2], runner);
      const before = await Promise.race([judged, firstChild(deno)]);
      assert(typeof before === "number", "the process was not seen");
      assertEquals(await judged, verdicts);
      assertEquals(childrenOf(Deno.pid, deno), []);
      assertEquals(await verdictsOf("const f = (x) => x;", [1, 2], runner), [true, true]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("TestRunner bounds the memory of a program that would have the time to take all of it", async () => {
  const runner = new TestRunner({ timeLimitMs: 60_000, memoryLimitBytes: 64 * 2 ** 20 });
  const start = performance.now();
  const bomb = "function f() { for (const a = [];;) a.push(new Uint8Array(1e6).fill(1)); }";
  assertEquals(await verdictsOf(bomb, [1, 2], runner), [false, false]);
  // 64 MiB are written in 50 ms; a bound that only the time limit holds would take the minute.
  assert(performance.now() - start < 20_000);
});

/** A program of somebody else that judges an endless loop and has nothing else to do. */
const HOST = `
  import { TestRunner } from ${JSON.stringify(new URL("../../mod.ts", import.meta.url).href)};
  const runner = new TestRunner({ timeLimitMs: TIME_LIMIT_MS });
  const program = { name: "f", source: "function f() { for (;;); }" };
  console.log(await runner.run(program, [{ args: [], expected: 1 }]));`;

function startHost(timeLimitMs: number): Deno.ChildProcess {
  const config = fileURLToPath(new URL("../../deno.json", import.meta.url));
  const host = `data:text/javascript,${
    encodeURIComponent(HOST.replace("TIME_LIMIT_MS", `${timeLimitMs}`))
  }`;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--frozen", `--config=${config}`, "--allow-all", host],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

Deno.test("a program that uses TestRunner ends by itself after it has judged an endless loop", async () => {
  const { code, stdout } = await startHost(100).output();
  assertEquals([code, new TextDecoder().decode(stdout)], [0, "[ false ]\n"]);
});

Deno.test("the process of a program ends by itself when its runner is killed", async () => {
  const timeLimitMs = 3000;
  const host = startHost(timeLimitMs);
  let children: readonly number[] = [];
  const startEnd = performance.now() + 60_000;
  while (children.length === 0) {
    assert(performance.now() < startEnd, "no process was seen");
    await new Promise((resolve) => setTimeout(resolve, 20));
    children = childrenOf(host.pid);
  }
  // Until the program runs; its start takes 40 ms when the machine is quiet.
  await new Promise((resolve) => setTimeout(resolve, timeLimitMs / 3));
  host.kill("SIGKILL");
  await host.output();
  assert(children.some(isAlive));
  const end = performance.now() + 10 * timeLimitMs;
  while (children.some(isAlive)) {
    assert(performance.now() < end, "it goes on");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
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

/** A stand-in for Deno: a shell script that gets the sandbox on its standard input and says what it likes with `say LINE`. */
async function withDeno(script: string, use: (deno: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const start = `#!/bin/sh
    mark=$(sed -n 's/^watch(.*"mark":"\\([^"]*\\)".*/\\1/p')
    say() { printf '%s\\n' "$mark$1" >&2; }`;
  try {
    await Deno.writeTextFile(`${folder}/deno`, `${start}\n${script}\n`, { mode: 0o755 });
    await use(`${folder}/deno`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("TestRunner starts its process without a permission and without the environment", async () => {
  const script = `say '"begun"'; say '{"result":"'"\${HOME:-1}"'"}'
    for argument; do case $argument in --allow* | -A) exit 1 ;; esac; done; say '"done"'`;
  await withDeno(script, async (deno) => {
    const runner = new TestRunner({ deno });
    const verdicts = runner.run({ source: "", name: "f" }, [{ args: [], expected: 1 }]);
    assertEquals(await verdicts, [true]);
  });
});

Deno.test("TestRunner rejects when its process crashes, and does not remember that", async () => {
  const crash = `say '{"crash":"out of order"}'`;
  for (const script of ["exit 3", "kill -9 $$", "kill -ABRT $$", `say '"begun"'`, crash]) {
    await withDeno(script, async (deno) => {
      const runner = new TestRunner({ deno });
      for (let attempt = 0; attempt < 2; attempt++) {
        await assertRejects(
          () => verdictsOf("const f = (x) => x;", [1, 2], runner),
          Error,
          "Cannot run the tests of f: their process failed: ",
        );
      }
    });
  }
});

Deno.test("TestRunner fails a program whose process V8 ends for want of memory", async () => {
  await withDeno(`say '"begun"'; say '{"result":"1"}'; kill -TRAP $$`, async (deno) => {
    const runner = new TestRunner({ deno });
    assertEquals(await verdictsOf("const f = (x) => x;", [1, 2], runner), [true, false]);
  });
});

Deno.test("TestRunner does not read what a program writes, which V8 does for what a microtask throws", async () => {
  const forged = JSON.stringify('\n{"result":"2"}\n{"crash":"no"}\n"done"\n');
  const source = `for (let i = 0; i < 1000; i++) queueMicrotask(() => { throw ${forged}; });
    function f(x) { return x; }`;
  assertEquals(await verdictsOf(source, [1, 3]), [true, false]);
  assertEquals(await verdictsOf("function f(x) { return 'x'.repeat(1e8); }", [1, 2]), [
    false,
    false,
  ]);
});

Deno.test("TestRunner runs a distinct program once and answers from memory afterwards", async () => {
  const script = `echo x >>"$0.runs"
    say '"begun"'; say '{"result":"'"$(grep -c x "$0.runs")"'"}'; say '"done"'`;
  await withDeno(script, async (deno) => {
    const runner = new TestRunner({ deno });
    const run = (source: string) => runner.run({ source, name: "f" }, [{ args: [], expected: 1 }]);
    assertEquals(await run("one"), [true]);
    assertEquals(await run("one"), [true]);
    assertEquals(await run("two"), [false]);
  });
});
