/** Every key of the configuration does something: changed, it changes the weights, the metrics or the files of a run of two steps. */
import { assert, assertEquals } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { resolveConfig, type TrainConfig } from "../../src/rl/config.ts";
import { COMMON_DEFAULTS } from "../../src/rl/config_keys.ts";
import {
  createParameters,
  destroyParameters,
  hashWeights,
  readParameters,
} from "../../src/model/parameters.ts";
import { trainLogged } from "../../src/rl/train_logged.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { golden } from "../e2e/command_line.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { startRun } from "./small_run.ts";

/** Two steps of eight episodes, of which some pass; their second minibatch sees a policy that has moved. */
const TINY = [
  "steps=2",
  "problems=2",
  "groupSize=4",
  "maxTurns=3",
  "evalEvery=0",
  "checkpointEvery=0",
  "lr=0.01",
];

const UNGROUPED = [
  "algorithm=reinforce",
  "preset=rl",
  "steps=2",
  "episodes=8",
  "maxTurns=3",
  "evalEvery=0",
  "lr=0.01",
];

/** One call cannot pass a test, so every reward is 0 and no advantage says anything. */
const NO_SIGNAL = ["steps=2", "problems=1", "groupSize=2", "maxTurns=1", "evalEvery=0"];

/** Each key's other value, and the run in which it must show. */
const CASES: Readonly<Record<keyof TrainConfig, readonly [value: string, run: readonly string[]]>> =
  {
    algorithm: ["rloo", TINY],
    seed: ["1", TINY],
    steps: ["1", TINY],
    preset: ["chapter6", TINY],
    // The two judge differently where an episode hardcodes the public tests.
    reward: ["public", [...TINY, "groupSize=16"]],
    maxTurns: ["2", TINY],
    episodes: ["4", UNGROUPED],
    problems: ["1", TINY],
    groupSize: ["3", TINY],
    resampleRounds: ["1", TINY],
    temperature: ["0.7", TINY],
    advantageEps: ["0.5", TINY],
    baselineDecay: ["0.1", UNGROUPED],
    aggregation: ["seq_mean_token_sum", TINY],
    normConst: ["7", [...TINY, "aggregation=constant"]],
    clipLow: ["0", TINY],
    clipHigh: ["0", TINY],
    klCoef: ["0.1", TINY],
    klKind: ["k1", [...TINY, "klCoef=0.1"]],
    entropyCoef: ["0.1", TINY],
    epochs: ["2", TINY],
    minibatches: ["1", TINY],
    microbatches: ["2", TINY],
    lr: ["0.001", TINY],
    betas: ["[0.5, 0.999]", TINY],
    eps: ["0.01", TINY],
    maxGradNorm: ["0.001", TINY],
    skipZeroSignal: ["true", [...NO_SIGNAL, "entropyCoef=0.1"]],
    evalEvery: ["2", NO_SIGNAL],
    evalEpisodesPerTask: ["1", [...NO_SIGNAL, "evalEvery=2"]],
    checkpointEvery: ["1", TINY],
    episodesEvery: ["0", TINY],
    checkEvery: ["1", TINY],
    recordEvery: ["1", TINY],
    // A median means something after four steps.
    recordSpikeFactor: ["0.001", [...NO_SIGNAL, "steps=5", "entropyCoef=0.1"]],
  };

/** Every file below a folder by its path, with its text; of tensors the name alone. */
function filesBelow(folder: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(Deno.readDirSync(folder), ({ name, isDirectory }) => {
      const path = `${folder}/${name}`;
      return isDirectory
        ? Object.entries(filesBelow(path)).map(([below, text]) => [`${name}/${below}`, text])
        : [[name, name.endsWith(".safetensors") ? "" : Deno.readTextFileSync(path)]];
    }).flat(),
  );
}

/** Keys that say what a run writes; the others show in memory, which takes a third of the time. */
const FILE_KEYS = [
  "steps",
  "checkpointEvery",
  "episodesEvery",
  "checkEvery",
  "recordEvery",
  "recordSpikeFactor",
];

/** The weights and metrics that a training ends with. */
async function trained(commands: Commands, config: TrainConfig): Promise<unknown> {
  const { config: model, weights_W } = readCheckpoint(golden("model.safetensors"));
  const parameters = createParameters(commands, model, weights_W);
  const trainer = new Trainer(trainingSetup(commands, { config }), { parameters });
  try {
    const rows = await trainLogged(trainer);
    return { rows, hash: await hashWeights(await readParameters(commands, parameters)) };
  } finally {
    trainer.destroy();
    destroyParameters(parameters);
  }
}

/** The files that a run leaves, but for those that repeat its configuration and that a clock decides. */
async function written(commands: Commands, config: TrainConfig): Promise<unknown> {
  const folder = Deno.makeTempDirSync();
  try {
    const path = `${folder}/run`;
    await startRun(commands, {
      path,
      settings: {
        config,
        base: { file: golden("model.safetensors") },
        bug: null,
        baseHash: null,
        starts: [],
        adapter: null,
      },
    });
    const { "config.json": _, "timing.jsonl": _clock, ...files } = filesBelow(path);
    return files;
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

// About 30 s: some 60 runs.
gpuTest(
  "every key of the configuration changes the weights, the metrics or the files",
  async () => {
    const commands = new Commands(await testGpu());
    const runs = new Map<string, string>();
    const run = async (key: string, sets: readonly string[]) => {
      const outcome = FILE_KEYS.includes(key) ? written : trained;
      const name = `${outcome.name} ${sets.join(" ")}`;
      const found = runs.get(name) ??
        JSON.stringify(await outcome(commands, resolveConfig({ sets })));
      runs.set(name, found);
      return found;
    };
    const idle: string[] = [];
    for (const [key, [value, sets]] of Object.entries(CASES)) {
      if (await run(key, sets) === await run(key, [...sets, `${key}=${value}`])) idle.push(key);
    }
    assertEquals(idle, []);
    // Nothing but the configuration tells two runs apart.
    for (const [key, outcome] of [["lr", trained], ["steps", written]] as const) {
      const again = await outcome(commands, resolveConfig({ sets: TINY }));
      assertEquals(JSON.stringify(again), await run(key, TINY));
    }
  },
);

Deno.test("the cases are of every key, and none is of its default", () => {
  const known = [...Object.keys(COMMON_DEFAULTS), "algorithm", "aggregation"];
  assertEquals(Object.keys(CASES).sort(), known.sort());
  for (const [key, [value, sets]] of Object.entries(CASES)) {
    const before = resolveConfig({ sets });
    const after = resolveConfig({ sets: [...sets, `${key}=${value}`] });
    const changed = Object.keys(before).filter((name) =>
      JSON.stringify(before[name as keyof TrainConfig]) !==
        JSON.stringify(after[name as keyof TrainConfig])
    );
    assert(changed.includes(key), `${key}: ${changed}`);
    // An algorithm brings its own aggregation.
    if (key !== "algorithm") assertEquals(changed, [key]);
  }
});
