/** TinyAgent on the GPU held to PyTorch in float64: log-probs, seven losses, whole gradients, three Adam steps, in both memories. */
import { assert } from "@std/assert";
import { readParameters } from "../../src/model/parameters.ts";
import { globalNorm } from "../../src/reference/clip_adam.ts";
import { policyLoss } from "../../src/equations/policy_loss.ts";
import { type LossName, NAMED_LOSSES } from "../../src/rl/named_losses.ts";
import { lossTokens } from "../../src/rl/objective.ts";
import { gpuTest, MEMORIES, testGpu } from "../gpu/gpu_test_device.ts";
import { readGolden } from "../reference/golden.ts";
import {
  flatGolden,
  GOLDEN_ADAM,
  GOLDEN_MAX_NORM,
  GOLDEN_ROWS,
  GOLDEN_SCALARS,
  GOLDEN_SIZES,
  goldenTask,
  recordGradient,
  withLearner,
} from "./golden_learner.ts";

/** What this project promises for f32 on a GPU: five times what a plain f32 run of PyTorch is off. */
const LOGP_BOUND = 2e-5;
/** Losses are weighted means of such log-probs; what they lose to the ratios they win by averaging. */
const LOSS_BOUND = 1e-5;
/** Of the gradient's norm, and per entry of its largest entry; a plain f32 run is off by 8e-7. */
const GRADIENT_BOUND = 1e-4;
/** Of the way that the weights went in three steps. */
const STEPS_BOUND = 1e-3;
/** Adam divides by the root of tiny second moments: a single weight may be off by two thirds of its three steps of 1e-3. */
const WEIGHT_BOUND = 2e-3;

const LOSSES = Object.keys(NAMED_LOSSES) as LossName[];

function assertWithin(name: string, error: number, bound: number): void {
  assert(error <= bound, `${name} is off by ${error}, allowed are ${bound}`);
}

function largest(values: Float32Array): number {
  return values.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
}

for (const memory of MEMORIES) {
  gpuTest(`LoadedBatch.forward() gives PyTorch's log-probs and entropies, ${memory}`, async () => {
    const golden = readGolden("forward");
    const { batch } = goldenTask("cross_entropy");
    await withLearner(await testGpu(memory), GOLDEN_SIZES, async (learner) => {
      for (const [temperature, name] of [[1, "logp"], [0.7, "logp_t07"]] as const) {
        learner.load(batch).forward(temperature).keepRows();
        const { rows: [kept] } = await learner.collect();
        let compared = 0;
        GOLDEN_ROWS.cell_N.forEach((cell, n) => {
          if (cell < 0) return;
          const [logp = NaN, entropy = NaN] = kept!.result_N4.subarray(4 * n);
          assertWithin(`${name} ${n}`, Math.abs(logp - golden[name]![cell]!), LOGP_BOUND);
          if (temperature === 1) {
            assertWithin(`entropy ${n}`, Math.abs(entropy - golden.entropy![cell]!), LOGP_BOUND);
          }
          compared++;
        });
        assert(compared > 600, `${compared} rows were compared`);
      }
    });
  });

  gpuTest(
    `ScoredBatch.backward() gives PyTorch's losses, norms and gradients, ${memory}`,
    async () => {
      await withLearner(await testGpu(memory), GOLDEN_SIZES, async (learner) => {
        for (const name of LOSSES) {
          const task = goldenTask(name);
          const expected = GOLDEN_SCALARS[name] as { loss: number; grad_norm: number };
          recordGradient(learner, task).norm(1).keep();
          const { rows: [kept], steps: [step] } = await learner.collect();
          const { loss } = policyLoss(lossTokens({ ...kept!, ...task }), task.terms);
          assertWithin(name, Math.abs(loss - expected.loss), LOSS_BOUND);
          const normError = Math.abs(step!.gradNorm - expected.grad_norm);
          assertWithin(`norm of ${name}`, normError, GRADIENT_BOUND * expected.grad_norm);
          if (name !== "reinforce_token_mean" && name !== "ppo_k3_entropy") continue;
          const golden = flatGolden(`grad_${name}`);
          const error = (await learner.readGradient()).map((g, w) => g - golden[w]!);
          const bound = GRADIENT_BOUND * globalNorm(golden);
          assertWithin(`gradient of ${name}`, globalNorm(error), bound);
          assertWithin(`entry of ${name}`, largest(error), GRADIENT_BOUND * largest(golden));
        }
      });
    },
  );

  gpuTest(
    `Gradient.step() gives PyTorch's weights after three clipped steps, ${memory}`,
    async () => {
      const start = flatGolden("model"), golden = flatGolden("adam3");
      const task = goldenTask("ppo_k3_entropy");
      await withLearner(await testGpu(memory), GOLDEN_SIZES, async (learner, parameters) => {
        learner.clearMoments();
        for (let step = 1; step <= 3; step++) {
          recordGradient(learner, task).step(GOLDEN_MAX_NORM, { ...GOLDEN_ADAM, step }).keep();
          const { steps: [kept] } = await learner.collect();
          const expected = GOLDEN_SCALARS.adam3[step - 1]!.grad_norm;
          assert(kept!.clipFactor < 1, "the clip must act");
          assertWithin(`norm ${step}`, Math.abs(kept!.gradNorm - expected), STEPS_BOUND * expected);
        }
        const error = (await readParameters(learner.commands, parameters))
          .map((weight, w) => weight - golden[w]!);
        const distance = globalNorm(golden.map((weight, w) => weight - start[w]!));
        assert(distance > 0.1, `the golden weights moved by ${distance}`);
        assertWithin("weights", globalNorm(error), STEPS_BOUND * distance);
        assertWithin("one weight", largest(error), WEIGHT_BOUND);
      });
    },
  );
}
