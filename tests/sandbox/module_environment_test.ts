/** Holds a module's environment in a process of its own to what it may do, and its failures to sentences; nobody outlives us. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { UserError } from "../../src/core/errors.ts";
import { PlayedEnvironment } from "../../src/rollout/played_environment.ts";
import type { EnvironmentPool } from "../../src/sandbox/environment_pool.ts";
import { openModuleEnvironment } from "../../src/sandbox/module_environment.ts";
import { withFolder } from "../files/with_folder.ts";
import higherLower from "../python/higher_lower.ts";
import { scriptedPlay } from "./scripted_play.ts";
import { childrenOf, isAlive } from "./processes.ts";

/** What a task of the module does in its only step. */
const STEPS: Readonly<Record<string, string>> = {
  plays: "return { observation: [], done: true }",
  "reads its folder": "Deno.readTextFileSync(new URL('beside.txt', import.meta.url)); return END",
  prints: "console.log('debug'); return END",
  throws: "throw new TypeError('no such door')",
  rejects: "return Promise.reject(new Error('the server is away'))",
  "answers nothing": "return",
  "pays NaN": "return { ...END, reward: NaN }",
  "reads elsewhere": "Deno.readTextFileSync('/etc/hostname'); return END",
  "has the network": "return Deno.connect({ port: 9 }).then(() => END)",
  exits: "Deno.exit(3)",
  hangs: "for (;;);",
};
const TASKS = Object.keys(STEPS);

/** A module outside of the repository that imports this library. */
const MODULE = `
import { isCallComplete } from "agentrl";
const END = { observation: [], done: true, reward: isCallComplete ? 1 : 0 };
const STEPS = [${Object.values(STEPS).map((code) => `() => { ${code} }`)}];
class Steps {
  spec = { callEnd: 1, maxCallTokens: 1, maxTurns: 1, maxEpisodeTokens: 2, taskCount: ${TASKS.length} };
  reset(task) { this.task = task; return [0]; }
  step(call) { return STEPS[this.task](); }
  reward() { return 0.25; }
  info() { return { task: "t" + this.task, turns: 1, malformed: 0, stop: "over", calls: ["x"] }; }
}
export default { name: "steps", words: ["a", "b"], tasks: { train: ${TASKS.length}, heldout: 0 }, create: () => new Steps(),
  demonstration: async (task) => [[task % 2]] };
`;

async function withModule(text: string, use: (file: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    // A name that shells and addresses would each read something into.
    Deno.mkdirSync(`${folder}/my "env" #1%20 é`);
    const file = `${folder}/my "env" #1%20 é/steps.ts`;
    Deno.writeTextFileSync(file, text);
    Deno.writeTextFileSync(`${folder}/my "env" #1%20 é/beside.txt`, "");
    await use(file);
  });
}

/** The reward of an episode, or what is said about it. */
async function play({ definition }: EnvironmentPool, task: string): Promise<number | string> {
  const { name } = definition;
  const played = new PlayedEnvironment(await definition.create(), { name, vocabSize: 2 });
  try {
    await played.reset(TASKS.indexOf(task));
    await played.step([1], 2);
    return (await played.ending()).reward;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

Deno.test("a module plays in a process that reads its folder and nothing else, and its failures are sentences", () =>
  withModule(MODULE, async (file) => {
    const said: string[] = [];
    await using pool = await openModuleEnvironment(file, {
      processes: 1,
      timeoutMs: 800,
      onRemark: (text) => said.push(text),
    });
    assertEquals(await pool.definition.demonstration?.(3), [[1]]);
    assertEquals(await play(pool, "plays"), 0.25);
    assertEquals(await play(pool, "reads its folder"), 1);
    assertEquals(await play(pool, "prints"), 1);
    const expected: Readonly<Record<string, string>> = {
      throws: "TypeError: no such door",
      rejects: "Error: the server is away",
      "answers nothing":
        "TypeError: step answered undefined, but must answer { observation, done }",
      "pays NaN": 'its answer is wrong: reward is "NaN", but must be a finite number',
      "reads elsewhere": 'NotCapable: Requires read access to "/etc/hostname"',
      "has the network": 'Requires net access to "127.0.0.1:9"',
      exits: "its process ended with exit code 3",
      hangs: "gave no answer within 0.8 s",
    };
    for (const [task, sentence] of Object.entries(expected)) {
      const place = `The environment steps failed in task ${TASKS.indexOf(task)}, call 1: `;
      const found = String(await play(pool, task));
      assert(found.startsWith(place), found);
      assertStringIncludes(found, sentence);
    }
    assertStringIncludes(said.join(""), "debug\n");
  }));

Deno.test("episodes are the same in this program, in one process and in three", async () => {
  const file = fileURLToPath(new URL("../python/higher_lower.ts", import.meta.url));
  const options = {
    episodes: 16,
    callOf: ({ episode, turn }: { episode: number; turn: number }) => [(episode * 5 + turn) % 11],
  };
  const expected = await scriptedPlay(higherLower, options);
  for (const processes of [1, 3]) {
    await using pool = await openModuleEnvironment(file, { processes });
    assertEquals(await scriptedPlay(pool.definition, options), expected);
  }
});

Deno.test("further permissions are handed to Deno; a project that says where the library is keeps its own names", () =>
  withModule(MODULE.replace("agentrl", "theirs"), async (file) => {
    const folder = file.slice(0, file.lastIndexOf("/"));
    const library = new URL("../../mod.ts", import.meta.url).href;
    Deno.writeTextFileSync(
      `${folder}/deno.json`,
      JSON.stringify({ imports: { agentrl: library, theirs: library } }),
    );
    const permissions = { read: ["/etc/hostname", "/etc/hosts"], net: ["all"] };
    await using pool = await openModuleEnvironment(file, {
      processes: 1,
      permissions,
      onRemark: () => {},
    });
    assertEquals(await play(pool, "reads elsewhere"), 1);
    assertStringIncludes(String(await play(pool, "has the network")), "ConnectionRefused");
  }));

Deno.test("a module that is no environment is refused before anything is played", async () => {
  const options = { processes: 1, onRemark: () => {} };
  const cases = [
    ["export default 5;", "its default export is 5, but must be an object with name, words, tasks"],
    ["export const a = ;", "it cannot be loaded: "],
    [MODULE.replace('name: "steps"', 'name: "Steps!"'), 'name is "Steps!", but must be'],
  ];
  for (const [text = "", expected = ""] of cases) {
    await withModule(text, async (file) => {
      const error = await assertRejects(() => openModuleEnvironment(file, options), UserError);
      assert(error.message.startsWith("Cannot use the environment "), error.message);
      assertStringIncludes(error.message, expected);
    });
  }
  await assertRejects(
    () => openModuleEnvironment("/nowhere.ts"),
    UserError,
    "there is no such file",
  );
  await withFolder(async (folder) => {
    Deno.mkdirSync(`${folder}/a,b`);
    Deno.writeTextFileSync(`${folder}/a,b/env.ts`, MODULE);
    await assertRejects(
      () => openModuleEnvironment(`${folder}/a,b/env.ts`),
      UserError,
      "Deno takes the comma in its path for the end of a name",
    );
  });
  await assertRejects(() => openModuleEnvironment("/tmp"), UserError, "it is not a file");
});

Deno.test("a process that hangs ends with this program, even where that is killed", () =>
  withModule(MODULE, async (file) => {
    const library = import.meta.resolve("../../src/sandbox/module_environment.ts");
    const program = `import { openModuleEnvironment } from ${JSON.stringify(library)};
      const { definition } = await openModuleEnvironment(${JSON.stringify(file)}, { processes: 1 });
      const environment = await definition.create();
      await environment.reset(${TASKS.indexOf("hangs")});
      environment.step([1]);
      console.log("hangs");
      setInterval(() => {}, 1000);`;
    Deno.writeTextFileSync(`${file}.main.ts`, program);
    const config = fileURLToPath(new URL("../../deno.json", import.meta.url));
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--no-lock", `--config=${config}`, `${file}.main.ts`],
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    assertEquals(new TextDecoder().decode((await reader.read()).value), "hangs\n");
    const orphans = childrenOf(child.pid);
    assertEquals(orphans.length, 1);
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    const endMs = performance.now() + 10_000;
    while (orphans.some(isAlive) && performance.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert(!orphans.some(isAlive), "the environment's process is still there");
  }));
