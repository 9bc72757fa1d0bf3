/** Tests of steps whose batch is larger than the learner or the decoder holds: computed in pieces, they are the same step. */
import { assert, assertEquals } from "@std/assert";
import { Learner } from "../../src/model/learner.ts";
import {
  createParameters,
  destroyParameters,
  readParameters,
  writeParameters,
} from "../../src/model/parameters.ts";
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
    const { counters } = commands.gpu;
    const submitted = counters.submits;
    const seen: { readonly submits: number; readonly readbacks: number }[] = [];
    const readBefore = counters.readbacks;
    const whileRunning = () =>
      void seen.push({
        submits: counters.submits - submitted,
        readbacks: counters.readbacks - readBefore,
      });
    assertEquals(await rolloutResident(decoder, { ...request, whileRunning }), whole);
    // Once, of three parts, and after the device was given its work.
    assertEquals(seen, [{ submits: 1, readbacks: 0 }]);
    decoder.destroy();
    destroyParameters(parameters);
  },
);

gpuTest("Trainer.loss() is that of lossAndGradient() and leaves the gradient alone", async () => {
  const { commands, agent } = await openBench();
  const parameters = createParameters(commands, agent.config, agent.weights_W);
  const setup = trainingSetup(commands, {
    config: smallConfig({ klCoef: 0.1, entropyCoef: 0.01 }),
  });
  const trainer = new Trainer(setup, { parameters, isLearnerLate: true });
  const batch = await trainer.sampleBatch();
  const prepared = await trainer.prepare(batch);
  const { loss, gradient_W } = await trainer.lossAndGradient(batch, { prepared });
  assert(Number.isFinite(loss) && loss !== 0 && globalNorm(gradient_W) > 0);
  const other_W = agent.weights_W.map((w) => 0.9 * w);
  writeParameters(commands, parameters, other_W);
  const otherLoss = await trainer.loss(batch, prepared);
  assert(otherLoss !== loss);
  assertSameBits("gradient", await trainer.learner.readGradient(), gradient_W);
  assertEquals((await trainer.lossAndGradient(batch, { prepared })).loss, otherLoss);
  assertSameBits("weights", await readParameters(commands, parameters), other_W);
  trainer.destroy();
  destroyParameters(parameters);
});
