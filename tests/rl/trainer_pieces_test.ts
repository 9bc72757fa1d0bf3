/** Tests of steps whose batch is larger than the learner or the decoder holds: computed in pieces, they are the same step. */
import { assert, assertEquals } from "@std/assert";
import { Learner } from "../../src/model/learner.ts";
import { createParameters, destroyParameters, readParameters } from "../../src/model/parameters.ts";
import { globalNorm } from "../../src/reference/clip_adam.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutResident } from "../../src/rollout/resident.ts";
import { openBench, smallConfig } from "../faults/small_runs.ts";
import { assertSameBits } from "../kernels/harness.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";

gpuTest("Trainer.step() cuts what its learner cannot hold into pieces", async () => {
  const bench = await openBench();
  const { commands, agent } = bench;
  const config = smallConfig({ minibatches: 2, epochs: 2 });
  const run = async (sizes: { readonly capacity: number } | undefined) => {
    const parameters = createParameters(commands, agent.config, agent.weights_W);
    const learner = sizes && new Learner(commands, parameters, { ...sizes, maxPositions: 64 });
    const trainer = new Trainer(trainingSetup(commands, { config }), {
      parameters,
      ...(learner && { learner }),
    });
    const { batch, update } = await trainer.step();
    const moved_W = await readParameters(commands, parameters);
    const recomputed_BC = await trainer.recompute(batch);
    const reference_BC = await trainer.referenceLogp(batch);
    trainer.destroy();
    learner?.destroy();
    destroyParameters(parameters);
    return { batch, update, moved_W, recomputed_BC, reference_BC: reference_BC! };
  };
  const whole = await run(undefined), cut = await run({ capacity: 70 });
  assert(whole.batch.packed.rowCount > 4 * 70, `${whole.batch.packed.rowCount} rows`);
  assertEquals(whole.batch, cut.batch);
  assertSameBits("reference log-probs", whole.reference_BC, cut.reference_BC);
  const step = globalNorm(whole.moved_W.map((w, i) => w - agent.weights_W[i]));
  const error = globalNorm(whole.moved_W.map((w, i) => w - cut.moved_W[i]));
  // Adam turns a gradient near 0, where rounding decides the sign, into a whole step: of few weights.
  assert(step > 0 && error < 0.02 * step, `${error} of ${step}`);
  whole.update.minibatches.forEach(({ statistics, gradNorm, trainedTokens }, i) => {
    const other = cut.update.minibatches[i];
    assertEquals(other.trainedTokens, trainedTokens);
    assert(Math.abs(other.gradNorm - gradNorm) <= 1e-3 * gradNorm, `minibatch ${i}`);
    assert(Math.abs(other.statistics.loss - statistics.loss) <= 1e-4, `minibatch ${i}`);
  });
  const differences = whole.recomputed_BC.map((logp, i) => Math.abs(logp - cut.recomputed_BC[i]));
  assert(differences.every((difference) => difference < 1e-3));
});

gpuTest(
  "rolloutResident() plays more episodes than its records hold, part after part",
  async () => {
    const { commands, gym, agent } = await openBench();
    const parameters = createParameters(commands, agent.config, agent.weights_W);
    const decoder = new Decoder(commands, parameters, { maxPositions: 64, slotCount: 8 });
    assertEquals(decoder.maxEpisodes, Math.floor(2 ** 27 / (8 * 65)));
    const request = {
      gym,
      tasks_B: Array.from({ length: 20 }, (_, b) => b),
      maxTurns: 6,
      reward: "hidden",
      random: { seed: 1, stream: 2, step: 3 },
    } as const;
    const whole = await rolloutResident(decoder, request);
    Object.defineProperty(decoder, "maxEpisodes", { value: 7 });
    assertEquals(await rolloutResident(decoder, request), whole);
    decoder.destroy();
    destroyParameters(parameters);
  },
);
