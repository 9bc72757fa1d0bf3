/**
 * The determinism contract under load, in one test: ten training steps, their episodes and their metrics have the same bits with every layout
 * of the kernels that may be chosen, every driver of the rollouts, command lists or single dispatches, records or none, and after a resume.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { metricsRow } from "../../src/debug/metrics.ts";
import { Commands, type Plan } from "../../src/gpu/commands.ts";
import { type Gpu, openGpu } from "../../src/gpu/device.ts";
import { TUNING_CANDIDATES } from "../../src/gpu/tuning.ts";
import { bugFixSpec } from "../../src/gym/bugfix.ts";
import { CompiledEnvironment } from "../../src/gym/compiled.ts";
import { createParameters, hashWeights, readParameters } from "../../src/model/parameters.ts";
import { HEALTHY_STAGES, type Stages } from "../../src/rl/stages.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutHost } from "../../src/rollout/host.ts";
import { rolloutResident } from "../../src/rollout/resident.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { episodeRows } from "../../src/run/episode_rows.ts";
import { readJournal } from "../../src/run/journal.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { golden } from "../e2e/command_line.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { compiledGym } from "../rollout/agent.ts";
import { resumeRun, smallSettings, startRun } from "./small_run.ts";
import { withFolder } from "./with_folder.ts";

const STEPS = 10;
const SETS = ["evalEvery=0", "checkpointEvery=5", "episodesEvery=1"];

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

function outcomeOf(path: string, { weightsHash }: { readonly weightsHash: string }): Outcome {
  const { metrics, episodes } = runPaths(path);
  return { weightsHash, metrics: readJournal(metrics), episodes: readJournal(episodes) };
}

/** A run on disk, from the golden agent. */
async function run(
  commands: Commands,
  { path, sets = [] }: { readonly path: string; readonly sets?: readonly string[] },
): Promise<Outcome> {
  const settings = smallSettings(STEPS, [...SETS, ...sets]);
  return outcomeOf(path, await startRun(commands, { path, settings, ignoreChecks: true }));
}

/** A run that is stopped after five steps and taken up by commands of another device. */
async function runTwice(path: string): Promise<Outcome> {
  let steps = 0;
  await startRun(new Commands(await testGpu()), {
    path,
    settings: smallSettings(STEPS, SETS),
    ignoreChecks: true,
    isStopRequested: () => ++steps === STEPS / 2,
  });
  const other = new Commands(await openGpu());
  return outcomeOf(path, await resumeRun(other, { path, ignoreChecks: true }));
}

/** The same training without a folder, with another sampler. */
async function trainWith(
  makeSample: (decoder: Decoder) => Stages["sample"],
  kind: "fused" | "layered",
): Promise<Outcome> {
  const commands = new Commands(await testGpu());
  const { config: model, weights_W } = readCheckpoint(golden("model.safetensors"));
  const parameters = createParameters(commands, model, weights_W);
  const { config } = smallSettings(STEPS, SETS);
  const gym = await compiledGym(config.preset);
  const { maxEpisodeTokens: maxPositions } = bugFixSpec(gym.taskNames.length, config.maxTurns);
  const decoder = new Decoder(commands, parameters, { kind, maxPositions });
  const stages = { ...HEALTHY_STAGES, sample: makeSample(decoder) };
  const trainer = new Trainer({
    commands,
    parameters,
    gym,
    config,
    stages,
    reference_W: weights_W,
  });
  const metrics: unknown[] = [];
  const episodes: unknown[] = [];
  for (let step = 0; step < STEPS; step++) {
    const report = await trainer.step();
    metrics.push({ ...metricsRow(report) });
    episodes.push(...episodeRows(step, report.batch));
  }
  const weightsHash = await hashWeights(await readParameters(commands, parameters));
  trainer.destroy();
  decoder.destroy();
  // As a journal on disk would hold them.
  return JSON.parse(JSON.stringify({ weightsHash, metrics, episodes }));
}

const hostSample = (decoder: Decoder): Stages["sample"] => ({ gym, reward, ...request }) =>
  rolloutHost(decoder, {
    ...request,
    createEnvironment: () => new CompiledEnvironment(gym, { reward, maxTurns: request.maxTurns }),
  });

const residentSample = (decoder: Decoder): Stages["sample"] => (request) =>
  rolloutResident(decoder, request);

gpuTest(
  "ten steps have the same bits with every layout, driver, with and without recording, and after a resume",
  () =>
    withFolder(async (folder) => {
      const gpu = await testGpu();
      const expected = await run(new Commands(gpu), { path: `${folder}/expected` });
      const { weights_W } = readCheckpoint(golden("model.safetensors"));
      assertNotEquals(expected.weightsHash, await hashWeights(weights_W), "the weights moved");
      const rewards = (expected.metrics as { reward: number }[]).map(({ reward }) => reward);
      assert(new Set(rewards).size > 2, "the batches differ");

      for (const [i, tuning] of TUNING_CANDIDATES.entries()) {
        const tuned: Gpu = await openGpu({ tuning });
        const found = await run(new Commands(tuned), { path: `${folder}/layout-${i}` });
        assertEquals(found, expected, JSON.stringify(tuning));
      }
      const path = `${folder}/unrecorded`;
      assertEquals(await run(new UnrecordedCommands(gpu), { path }), expected, "single dispatches");
      assertEquals(
        await run(new Commands(gpu), { path: `${folder}/records`, sets: ["recordEvery=1"] }),
        expected,
        "recorded steps",
      );
      assertEquals(await runTwice(`${folder}/resumed`), expected, "resumed");
      assertEquals(await trainWith(hostSample, "fused"), expected, "host driver");
      assertEquals(await trainWith(residentSample, "layered"), expected, "layered decoder");
    }),
);
