/** Runs in environments of users': Three Doors learns, goes on bit for bit, survives failures, and loses no episode in silence. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import calculator from "../../docs/examples/calculator.ts";
import threeDoors, { ThreeDoors } from "../../docs/examples/three_doors.ts";
import { UserError } from "../../src/core/errors.ts";
import { mean } from "../../src/core/statistics.ts";
import { readJournal } from "../../src/files/journal.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { EpisodeLostError } from "../../src/gym/environment.ts";
import type { EnvironmentDefinition } from "../../src/gym/environment_definition.ts";
import { createParameters, destroyParameters, initialValues } from "../../src/model/parameters.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import {
  environmentDemonstrations,
  environmentModel,
  openForTraining,
} from "../../src/rl/environment_agent.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";
import { environmentRecord } from "../../src/run/environment_record.ts";
import { replayRun } from "../../src/run/replay_run.ts";
import { openRunDirectory, runPaths } from "../../src/run/run_directory.ts";
import { readSettings, type RunSettings, writeSettings } from "../../src/run/run_settings.ts";
import { runTraining, type TrainingOptions } from "../../src/run/training_run.ts";
import { triageRun } from "../../src/run/triage_run.ts";
import { readRun } from "../../src/report/files/run.ts";
import { runPage } from "../../src/report/run_page.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

const SETS = ["episodes=32", "checkpointEvery=2", "recordEvery=2", "evalEvery=3"];

/** Trains in an environment, from the beginning or from where the folder stands. */
async function train(
  definition: EnvironmentDefinition,
  options: Partial<TrainingOptions> & {
    readonly path: string;
    readonly steps: number;
    readonly seed?: number;
    readonly resume?: boolean;
    readonly sets?: readonly string[];
  },
) {
  const { path, steps, seed = 0, resume = false, sets = SETS, ...rest } = options;
  const environment = await openForTraining(definition);
  const { source } = environment;
  using directory = openRunDirectory(path, { resume });
  const fresh: RunSettings = {
    config: resolveConfig({
      flags: { algorithm: "reinforce", steps, seed },
      sets,
      environment: source,
    }),
    base: { kind: "untrained", seed },
    bug: null,
    environment: environmentRecord(source, { env: "three_doors.ts" }),
    baseHash: null,
    adapter: null,
    starts: [],
  };
  const settings = resume ? readSettings(directory.config) : fresh;
  if (!resume) writeSettings(directory.config, settings);
  const commands = new Commands(await testGpu());
  return await runTraining({ commands, directory, settings, environment, ...rest });
}

/** Three Doors with other environments behind it. */
function doorsOf(create: () => ThreeDoors): EnvironmentDefinition {
  return { ...threeDoors, create } as EnvironmentDefinition;
}

const rowsOf = (path: string) => readJournal(runPaths(path).metrics);
const episodesOf = (path: string) => readJournal(runPaths(path).episodes);

/** Trains an untrained agent by REINFORCE, and returns the mean reward of each step with the last batch. */
async function learn(
  definition: EnvironmentDefinition,
  options: { readonly seed: number; readonly steps: number; readonly sets: readonly string[] },
) {
  const { seed, steps, sets } = options;
  const commands = new Commands(await testGpu());
  const { source } = await openForTraining(definition);
  const model = environmentModel(definition);
  const config = resolveConfig({
    flags: { algorithm: "reinforce", seed },
    sets,
    environment: source,
  });
  const parameters = createParameters(commands, model, initialValues(model, seed));
  const trainer = new Trainer(trainingSetup(commands, { config, source }), { parameters });
  const rewards: number[] = [];
  let trajectories: readonly Trajectory[] = [];
  for (let step = 0; step < steps; step++) {
    const { batch } = await trainer.step();
    rewards.push(mean(batch.rewards_B));
    trajectories = batch.trajectories;
  }
  trainer.destroy();
  destroyParameters(parameters);
  return { rewards, trajectories };
}

// A fifth of the steps that it may take, on fewer episodes than the default.
gpuTest(
  "Three Doors is learned from below 0.1 to above 0.9 within 60 steps, for three seeds",
  async () => {
    for (const seed of [0, 1, 2]) {
      const { rewards } = await learn(threeDoors, { seed, steps: 12, sets: ["episodes=48"] });
      assert(rewards[0] < 0.1, `seed ${seed} begins with ${rewards[0]}`);
      assert(rewards.at(-1)! > 0.9, `seed ${seed} ends with ${rewards.at(-1)}`);
    }
  },
);

gpuTest("the calculator is learned, and an episode is paid what its calls are", async () => {
  const { rewards, trajectories } = await learn(calculator, {
    seed: 0,
    steps: 15,
    sets: ["lr=0.003", "episodes=96"],
  });
  assert(rewards[0] < 0.3, `it begins with ${rewards[0]}`);
  assert(rewards.at(-1)! > 0.6, `it ends with ${rewards.at(-1)}`);
  for (const { reward, info } of trajectories) {
    const { calls, passed } = info;
    assertEquals(reward, Number(passed) + (calls.includes("=") ? 0.2 : 0), calls.join());
  }
});

gpuTest(
  "demonstrations are played in their environment, and refused where they are no play",
  async () => {
    const [first] = await environmentDemonstrations(await openForTraining(calculator));
    const { words } = calculator;
    assertEquals(first.ids.map((id) => words[id]).join(" "), "0 + 0 = 0 0");
    assertEquals(first.owners, [1, 1, 1, 2, 3, 2]);
    const cases: readonly (readonly [unknown, string])[] = [
      [[[10], [0], [0]], "call 2 of 3 already ended the episode"],
      [[[10, 0]], "call 1 has 2 tokens, but must end with spec.callEnd or at 1 tokens"],
      [[[10]], "its 1 calls do not end the episode"],
      [[[99]], "it must be a list of calls, each a list of ids from 0 to 11"],
      ["=", "it must be a list of calls"],
    ];
    for (const [calls, sentence] of cases) {
      const wrong = { ...calculator, demonstration: () => calls } as EnvironmentDefinition;
      const opened = await openForTraining(wrong);
      await assertRejects(
        () => environmentDemonstrations(opened),
        UserError,
        `Cannot use the demonstration of task 0 of calculator: ${sentence}`,
      );
    }
  },
);

gpuTest(
  "an environment that fails ends the run, which goes on from there with the bits of one that did not",
  () =>
    withFolder(async (folder) => {
      const whole = await train(threeDoors, { path: `${folder}/whole`, steps: 5 });
      let [calls, failsAt] = [0, 0];
      class Failing extends ThreeDoors {
        override step(call: readonly number[]) {
          if (++calls === failsAt) throw new Error("the lock is stuck");
          return super.step(call);
        }
      }
      const path = `${folder}/failing`;
      const failing = train(doorsOf(() => new Failing()), {
        path,
        steps: 5,
        // In step 3, whose evaluation is due: calls are counted while it trains.
        onStep: ({ step }) => failsAt = step === 2 ? calls + 5 : failsAt,
      });
      const error = await failing.catch((reason) => reason);
      assert(error instanceof UserError);
      const sentence =
        /^The environment three_doors failed in task [012], call [123]: the lock is stuck$/;
      assert(sentence.test(error.message), error.message);
      assertEquals(rowsOf(path).length, 3);

      const resumed = await train(threeDoors, { path, steps: 5, resume: true });
      assertEquals(resumed.weightsHash, whole.weightsHash);
      assertEquals(rowsOf(path), rowsOf(`${folder}/whole`));
      assertEquals(episodesOf(path), episodesOf(`${folder}/whole`));

      const { source } = await openForTraining(threeDoors);
      const commands = new Commands(await testGpu());
      for (const step of [2, 3]) {
        const { replay } = await replayRun(commands, { path, step, source });
        assertEquals(replay.differences, []);
        assertEquals(replay.isSampledAlike, step === 2 ? true : undefined);
      }
      await assertRejects(
        () => replayRun(commands, { path, step: 2 }),
        UserError,
        "it was trained in the environment three_doors; name it with `env` three_doors.ts",
      );
      const grown = await openForTraining({ ...threeDoors, words: [...threeDoors.words, "more"] });
      await assertRejects(
        () => replayRun(commands, { path, step: 2, source: grown.source }),
        UserError,
        "the environment three_doors has changed since: its words are not those",
      );
      const { report } = triageRun(path);
      assertEquals([report.causes, report.evidence], [[], []]);
      const { markup } = runPage(readRun(path), 0).body;
      for (
        const shown of [
          "three_doors: 6 words, 3 tasks for training, 0 held out",
          "asked: share of episodes that ask (rises in a healthy run)",
          '<span class="token prompt">&lt;start&gt;</span>',
        ]
      ) assertStringIncludes(markup, shown);
    }),
);

gpuTest(
  "a lost episode is marked and left out of the batch, and its step replays",
  () =>
    withFolder(async (path) => {
      let calls = 0;
      class Losing extends ThreeDoors {
        override step(call: readonly number[]) {
          if (++calls % 40 === 0) throw new EpisodeLostError("the process died");
          return super.step(call);
        }
      }
      const run = `${path}/run`;
      await train(doorsOf(() => new Losing()), { path: run, steps: 2, ignoreChecks: true });
      const lost = episodesOf(run).filter(({ error }) => error !== undefined);
      assert(lost.length > 0);
      for (const { error, reward } of lost) {
        assertEquals([error, reward], ["the process died", null]);
      }
      assertEquals(
        episodesOf(run).map(({ episode }) => episode),
        [
          ...Array(32).keys(),
          ...Array(32).keys(),
        ],
      );
      const [first] = rowsOf(run);
      const ended = episodesOf(run).filter(({ step, error }) => step === 0 && error === undefined);
      assertEquals(first["env/lost"], 32 - ended.length);
      const paid = ended.reduce((sum, { reward }) => sum + Number(reward), 0);
      assertEquals(first.reward, paid / ended.length);
      const { source } = await openForTraining(threeDoors);
      const commands = new Commands(await testGpu());
      const { replay } = await replayRun(commands, { path: run, step: 0, source });
      assertEquals(replay.differences, []);
    }),
);
