/** Tests of cli/agentrl as a user starts it: from anywhere, through links, with bad input, and where Deno is missing. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { withCheckout } from "./checkout.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
const LAUNCHER = `${ROOT}/cli/agentrl`;

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the launcher and waits for its end. */
async function run(
  args: readonly string[],
  options: { launcher?: string; cwd?: string; env?: Record<string, string>; clearEnv?: boolean } =
    {},
): Promise<Result> {
  const { launcher = LAUNCHER, ...rest } = options;
  const output = await new Deno.Command(launcher, { args: [...args], ...rest }).output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}

Deno.test("agentrl --help lists the commands in groups within 80 columns and needs no command", async () => {
  const help = await run(["--help"]);
  assertEquals([help.code, help.stderr], [0, ""]);
  for (const name of ["info", "test"]) assertMatch(help.stdout, new RegExp(`^ {2}${name} `, "m"));
  assert(help.stdout.split("\n").every((line) => line.length <= 80));
  // What the user of another trainer came for stands first.
  const names = Array.from(help.stdout.matchAll(/^ {2}(\w+) /gm), ([, name]) => name);
  assertEquals(names.slice(0, 5), ["triage", "report", "compare", "watch", "formats"]);
  assertEquals(new Set(names).size, names.length);
  const none = await run([]);
  assertEquals([none.code, none.stdout, none.stderr], [2, "", help.stdout]);
  // However long the path is by which it is called.
  const folder = await Deno.makeTempDir({ prefix: "a".repeat(80) });
  try {
    await Deno.symlink(LAUNCHER, `${folder}/agentrl`);
    const deep = await run(["--help"], { launcher: `${folder}/agentrl` });
    assertStringIncludes(deep.stdout, "\nUsage: agentrl COMMAND [flags]\n");
    assert(deep.stdout.split("\n").every((line) => line.length <= 80));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("agentrl help explains a command as its own --help does, and those of the launcher", async () => {
  const texts = await Promise.all(
    [["help", "config"], ["config", "--help"], ["help", "test"], ["test", "--help"], ["test", "-h"]]
      .map(async (args) => {
        const { code, stdout, stderr } = await run(args);
        assertEquals([code, stderr], [0, ""]);
        return stdout;
      }),
  );
  const [help, own, helpOfTest, ...ofTest] = texts;
  assertMatch(help ?? "", /^agentrl config: .*\n\nUsage: .* config \[KEY…\] \[flags\]\n/);
  assertEquals(own, help);
  assertMatch(helpOfTest ?? "", /^agentrl test: [^]* test \[FILE…\]/);
  assertEquals(ofTest, [helpOfTest, helpOfTest]);
  const unknown = await run(["help", "evl"]);
  assertEquals([unknown.code, unknown.stdout], [2, ""]);
  assertStringIncludes(unknown.stderr, 'unknown command "evl": did you mean "eval"?');
});

Deno.test("agentrl ends with exit code 2 and one sentence when the command or a flag is unknown", async () => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [["inof"], 'agentrl: unknown command "inof": did you mean "info"?\n'],
    [["toString"], 'agentrl: unknown command "toString": choose one of triage'],
    [["--json"], 'agentrl: unknown flag before the command "--json"'],
    [["info", "--jsno"], 'agentrl info: unknown flag --jsno: did you mean "--json"?\n'],
    [["info", "--seed", "x"], "agentrl info: --seed must be an integer from 0 to"],
    [["info", "file"], 'agentrl info: unexpected argument "file"'],
    [["train", "--lr", "0.01"], "agentrl train: unknown flag --lr: write --set lr=0.01\n"],
  ];
  for (const [args, sentence] of cases) {
    const { code, stdout, stderr } = await run(args);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, sentence);
    assertEquals(stderr.trimEnd().split("\n").length, 1);
  }
});

Deno.test("agentrl info prints one JSON document and nothing else when XDG_RUNTIME_DIR is unset", async () => {
  const { PATH = "", HOME = "" } = Deno.env.toObject();
  const { code, stdout, stderr } = await run(["info", "--json"], {
    env: { PATH, HOME },
    clearEnv: true,
  });
  assertEquals([code, stderr], [0, ""]);
  assertEquals(JSON.parse(stdout).versions.deno, Deno.version.deno);
});

Deno.test("agentrl starts in another folder and through links, and its hints name it as it was called", async () => {
  const folder = await Deno.makeTempDir({ prefix: "with space " });
  try {
    await Deno.symlink(LAUNCHER, `${folder}/first`);
    await Deno.symlink("first", `${folder}/second 'link'`);
    await Deno.mkdir(`${folder}/bin`);
    await Deno.symlink(LAUNCHER, `${folder}/bin/agentrl`);
    const usageOf = async (command: string) => {
      const PATH = `${folder}/bin:${Deno.env.get("PATH")}`;
      const { code, stdout, stderr } = await run(["-c", command], {
        launcher: "/bin/sh",
        cwd: folder,
        env: { PATH },
      });
      assertEquals(code, 0, stderr);
      return /^Usage: (.*) info \[flags\]$/m.exec(stdout)?.[1];
    };
    const quoted = String.raw`'${folder}/second '\''link'\'''`;
    assertEquals(await usageOf(`"${folder}/second 'link'" info --help`), quoted);
    assertEquals(await usageOf("./first info --help"), "./first");
    assertEquals(await usageOf("agentrl info --help"), "agentrl");
    assertEquals(await usageOf(`cd '${ROOT}' && cli/agentrl info --help`), "cli/agentrl");
    assertEquals(await usageOf(`cd '${ROOT}/cli' && sh agentrl info --help`), "agentrl");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("agentrl prints hints, errors and results with its name as it was called, and paths as they are", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.symlink(LAUNCHER, `${folder}/agentrl`);
    const called = `${folder}/agentrl`;
    const call = (args: readonly string[]) => run(args, { launcher: called });
    assertStringIncludes((await call(["--help"])).stdout, `\nUsage: ${called} COMMAND [flags]\n`);
    assertStringIncludes((await call([])).stderr, `\n${called} help COMMAND explains`);
    assertStringIncludes((await call(["info"])).stdout, `\`${called} tune\``);
    const path = await call(["triage", "x/cli/agentrl y"]);
    assertStringIncludes(path.stderr, "Cannot read x/cli/agentrl y: ");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("agentrl --version says its version in every shell, and needs no Deno for that", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
  for (const shell of ["sh", "dash", "bash --posix", "busybox sh"]) {
    const [program = "", ...args] = shell.split(" ");
    const launcher = [`/usr/bin/${program}`, `/bin/${program}`].find(exists);
    if (launcher === undefined) continue; // `sh` is everywhere.
    const withoutDeno = await run([...args, LAUNCHER, "--version"], {
      launcher,
      env: { PATH: "/nowhere" },
      clearEnv: true,
    });
    assertEquals(withoutDeno, { code: 0, stdout: `agentrl ${version}\n`, stderr: "" }, shell);
    const help = await run([...args, LAUNCHER, "metrics", "--help"], { launcher });
    assertEquals([help.code, help.stderr], [0, ""], shell);
  }
});

Deno.test("agentrl starts nothing but what looks at Deno's file, once it knows that Deno", async () => {
  // Each process costs a millisecond and more; a Deno that is asked for its version costs 20.
  await run(["--help"]);
  const { stderr } = await run(["-x", LAUNCHER, "--help"], { launcher: "/bin/sh" });
  const external = /^\++ (?:LC_ALL=C )?(?:ls|readlink|sed|uname|dirname|cat|mktemp|rm|sleep)\b/;
  const found = stderr.split("\n").filter((line) => external.test(line));
  assert(found.length <= 2, found.join("\n"));
  assert(!stderr.includes("--version\n"), stderr);
});

Deno.test("agentrl fetches no package that only tests need, and says in one sentence that packages are missing", async () => {
  const folder = await Deno.makeTempDir();
  const asked = new Set<string>();
  const registry = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const path = decodeURIComponent(new URL(request.url).pathname);
    asked.add(path.slice(1).split("/-/")[0] ?? "");
    return new Response("not here", { status: 404 });
  });
  try {
    const metrics = `${folder}/metrics.jsonl`;
    await Deno.writeTextFile(metrics, '{"step":0,"reward":1}\n');
    const env = {
      DENO_DIR: `${folder}/cache`,
      AGENTRL_READBACK: "awaited",
      NPM_CONFIG_REGISTRY: `http://127.0.0.1:${registry.addr.port}/`,
    };
    // Triage needs no package at all.
    assertEquals((await run(["triage", metrics], { env })).code, 0);
    for (const [command, ...args] of [["report", metrics], ["info"], ["train"]] as const) {
      const { code, stdout, stderr } = await run([command, ...args], { env });
      assertEquals([code, stdout], [4, ""], stderr);
      const [announced = "", sentence = "", ...more] = stderr.split("\n");
      assertMatch(announced, /^agentrl: Deno looks for the packages [^\n]*http:\/\/127\.0\.0\.1:/);
      assertMatch(sentence, new RegExp(`^agentrl ${command}: Cannot start: .*npm registry`));
      assertEquals(more, [""]);
    }
  } finally {
    await registry.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
  const needed = [
    "zod",
    "chart.js",
    "@kurkle/color",
    "hyparquet",
    "@huggingface/jinja",
    "@huggingface/tokenizers",
    "yaml",
  ];
  assert(asked.size > 0);
  assertEquals([...asked].filter((name) => !needed.includes(name)), []);
});

Deno.test("agentrl says what to install when neither Deno nor npm is there", async () => {
  const folder = await Deno.makeTempDir();
  try {
    // A checkout of its own, in which no earlier start has left a Deno, and a PATH with the system's tools only.
    await Deno.mkdir(`${folder}/cli`);
    await Deno.copyFile(LAUNCHER, `${folder}/cli/agentrl`);
    await Deno.mkdir(`${folder}/bin`);
    for (const tool of ["sh", "dirname", "readlink", "sed", "mkdir", "uname", "id"]) {
      const path = [`/usr/bin/${tool}`, `/bin/${tool}`].find(exists);
      if (path !== undefined) await Deno.symlink(path, `${folder}/bin/${tool}`);
    }
    const { code, stderr } = await run(["info"], {
      launcher: `${folder}/cli/agentrl`,
      env: { PATH: `${folder}/bin` },
      clearEnv: true,
    });
    assertEquals(code, 1);
    assertMatch(
      stderr,
      /^agentrl: Deno 2\.9 or a later 2\.x is not installed, and neither is npm to install it: install [^\n]*\n$/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("agentrl deno is the Deno that runs the commands, with its exit code", async () => {
  const told = await run(["deno", "eval", "console.log(Deno.version.deno); Deno.exit(3)"]);
  assertEquals(told, { code: 3, stdout: `${Deno.version.deno}\n`, stderr: "" });
});

Deno.test(".ci/run goes through every gate and ends with the tests, whose failure or success it tells", async () => {
  await withCheckout(async ({ folder, addProgram }) => {
    await Deno.mkdir(`${folder}/repository/.ci`);
    await Deno.copyFile(`${ROOT}/.ci/run`, `${folder}/repository/.ci/run`);
    // A Deno that fails at what the environment says, and otherwise tells what it is to do.
    addProgram(
      "deno",
      `#!/bin/sh\ncase $1 in --version) echo "deno 2.9.6" && exit ;; esac
      if [ "$1" = "$FAIL" ]; then echo "1 problem" && exit 1; fi
      if [ "$1" = test ]; then echo "ok | 2 passed | 0 failed (1s)"; else echo "did $*"; fi\n`,
    );
    const gates = ["did fmt --check", "did lint", "did check", "did doc --lint mod.ts report.ts"];
    for (const fail of ["", "fmt", "lint", "check", "doc"]) {
      const { code, stdout } = await run([], {
        launcher: `${folder}/repository/.ci/run`,
        env: { PATH: `${folder}/bin:/usr/bin:/bin`, FAIL: fail },
      });
      const lines = stdout.trimEnd().split("\n");
      const done = gates.filter((gate) => !gate.startsWith(`did ${fail || "-"}`));
      assertEquals(lines.filter((line) => line.startsWith("did ")), done);
      assertEquals([code, lines.at(-1)], [fail === "" ? 0 : 1, "2 passed, 0 failed"]);
    }
  });
});

Deno.test("agentrl test repeats the closing line and keeps the exit code when a test fails", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/sample_test.ts`;
    await Deno.writeTextFile(
      path,
      `Deno.test("good", async (t) => void await t.step("a step", () => {}));
       Deno.test.ignore("later", () => {});
       Deno.test("bad", () => { throw new Error("ok | 7 passed | 0 failed"); });`,
    );
    const last = (text: string) => text.trimEnd().split("\n").at(-1);
    const failed = await run(["test", path]);
    assertEquals([failed.code, last(failed.stdout)], [1, "1 passed, 1 failed"]);
    const passed = await run(["test", "--filter", "good", "sample_test.ts"], { cwd: folder });
    assertEquals([passed.code, last(passed.stdout)], [0, "1 passed, 0 failed"]);
    await Deno.writeTextFile(path, `const x: number = "text";`);
    const untyped = await run(["test", path]);
    assertEquals([untyped.code, last(untyped.stdout)], [1, "0 passed, 1 failed"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
