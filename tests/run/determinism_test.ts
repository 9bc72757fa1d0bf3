/**
 * The determinism contract under load, in one test: four training steps, their episodes and their metrics have the same bits with every layout
 * of the kernels that may be chosen, every driver of the rollouts, command lists or single dispatches, records or none, and after a resume.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { metricsRow } from "../../src/rl/metrics.ts";
import { Commands, type Plan } from "../../src/gpu/commands.ts";
import { type Gpu, openGpu } from "../../src/gpu/device.ts";
import { bugFixSpec } from "../../src/gym/bugfix.ts";
import { CompiledEnvironment } from "../../src/gym/compiled.ts";
import { createParameters, hashWeights, readParameters } from "../../src/model/parameters.ts";
import { HEALTHY_STAGES, type Stages } from "../../src/rl/stages.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import { type BugFixOptions, bugFixSource } from "../../src/rollout/bugfix_source.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutHost } from "../../src/rollout/host.ts";
import { rolloutResident } from "../../src/rollout/resident.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { episodeRows } from "../../src/run/episode_rows.ts";
import { readJournal } from "../../src/files/journal.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { golden } from "../e2e/command_line.ts";
import { gpuTest, TEST_READBACK, testGpu } from "../gpu/gpu_test_device.ts";
import { SOME_LAYOUTS } from "../gpu/layouts.ts";
import { compiledGym } from "../rollout/agent.ts";
import { resumeRun, smallSettings, startRun } from "./small_run.ts";
import { withFolder } from "../files/with_folder.ts";

const STEPS = 4;
const SETS = ["evalEvery=0", "checkpointEvery=2", "episodesEvery=1"];

/** What a training leaves: the hash of its weights, its metrics and its episodes. */
interface Outcome {
  readonly weightsHash: string;
  readonly metrics: unknown;
  readonly episodes: unknown;
}

/** Submits every dispatch alone, in a pass of its own: what recording spares. */
class UnrecordedCommands extends Commands {
  override replay<Size>(plan: Plan<Size>, size: Size): void {
    for (const step of plan.steps) {
      const alone = this.plan<Size>();
      alone.steps.push(step);
      super.replay(alone, size);
      this.submit();
    }
  }
}

/** Where a training takes its episodes from, other than from its own decoder. */
interface Driver {
  readonly kind: "fused" | "layered";
  readonly sampleWith: (decoder: Decoder, played: BugFixOptions) => Stages["sample"];
}

const HOST: Driver = {
  kind: "fused",
  sampleWith: (decoder, { gym, reward, maxTurns }) => (request) => {
    const createEnvironment = () => new CompiledEnvironment(gym, { reward, maxTurns });
    return rolloutHost(decoder, { ...request, createEnvironment });
  },
};

const LAYERED: Driver = {
  kind: "layered",
  sampleWith: (decoder, played) => (request) => rolloutResident(decoder, { ...request, ...played }),
};

/** A training in memory, from the golden agent. */
async function train(commands: Commands, driver?: Driver): Promise<Outcome> {
  const { config: model, weights_W } = readCheckpoint(golden("model.safetensors"));
  const parameters = createParameters(commands, model, weights_W);
  const { config } = smallSettings(STEPS, SETS);
  const { maxTurns, reward } = config;
  const played = { gym: compiledGym(config.preset), maxTurns, reward };
  const { maxEpisodeTokens: maxPositions } = bugFixSpec(played.gym.taskNames.length, maxTurns);
  const decoder = driver && new Decoder(commands, parameters, { kind: driver.kind, maxPositions });
  const stages = {
    ...HEALTHY_STAGES,
    ...(driver && decoder && { sample: driver.sampleWith(decoder, played) }),
  };
  const trainer = new Trainer({ commands, config, source: bugFixSource(played), stages }, {
    parameters,
  });
  const metrics: unknown[] = [];
  const episodes: unknown[] = [];
  for (let step = 0; step < STEPS; step++) {
    const report = await trainer.step();
    metrics.push(metricsRow(report));
    episodes.push(...episodeRows(step, report.batch));
  }
  const weightsHash = await hashWeights(await readParameters(commands, parameters));
  trainer.destroy();
  decoder?.destroy();
  // As journals on disk hold them.
  return JSON.parse(JSON.stringify({ weightsHash, metrics, episodes }));
}

/** The same training on disk, every step recorded, stopped after half of the steps and taken up on another device. */
async function trainTwice(path: string, devices: readonly [Gpu, Gpu]): Promise<Outcome> {
  const [first, second] = devices;
  let steps = 0;
  await startRun(new Commands(first), {
    path,
    settings: smallSettings(STEPS, [...SETS, "recordEvery=1"]),
    ignoreChecks: true,
    isStopRequested: () => ++steps === STEPS / 2,
  });
  const { weightsHash } = await resumeRun(new Commands(second), { path });
  const { metrics, episodes } = runPaths(path);
  return { weightsHash, metrics: readJournal(metrics), episodes: readJournal(episodes) };
}

gpuTest(
  "four steps have the same bits with every layout, driver, with and without recording, and after a resume",
  () =>
    withFolder(async (folder) => {
      const gpu = await testGpu();
      const expected = await train(new Commands(gpu));
      const { weights_W } = readCheckpoint(golden("model.safetensors"));
      assertNotEquals(expected.weightsHash, await hashWeights(weights_W), "the weights moved");
      const rewards = (expected.metrics as { reward: number }[]).map(({ reward }) => reward);
      assert(new Set(rewards).size > 1, "the batches differ");

      assertEquals(await train(new Commands(gpu), HOST), expected, "host driver");
      assertEquals(await train(new Commands(gpu), LAYERED), expected, "layered decoder");
      assertEquals(await train(new UnrecordedCommands(gpu)), expected, "single dispatches");
      for (const tuning of SOME_LAYOUTS) {
        const tuned = await openGpu({ tuning, readback: TEST_READBACK });
        assertEquals(await train(new Commands(tuned)), expected, JSON.stringify(tuning));
        if (tuning !== SOME_LAYOUTS.at(-1)) continue;
        const resumed = await trainTwice(`${folder}/run`, [tuned, gpu]);
        assertEquals(resumed, expected, "recorded, and resumed with another layout");
      }
    }),
);
