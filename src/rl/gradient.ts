/** The gradient of a loss over a batch of any size, accumulated piece by piece, and the loss from the same forward passes. */
import type { Learner } from "../model/learner.ts";
import type { Gradient } from "../model/learner_batch.ts";
import { ADAM_BETA1, ADAM_BETA2, ADAM_EPS } from "../equations/adam.ts";
import { policyLoss, type PolicyLossOptions } from "../equations/policy_loss.ts";
import { type PackedBatch, packEpisodes } from "../rollout/batch.ts";
import { splitEpisodes } from "../rollout/score.ts";
import { lossTokens } from "./objective.ts";

/** A loss over a batch, row by row. */
export interface GradientTask {
  /** The packed episodes. */
  readonly batch: PackedBatch;
  /** (advantage, weight, mean weight, old log-prob) per row; the weights are those of the whole batch. */
  readonly objective_N4: Float32Array<ArrayBuffer>;
  /** Log-probs of the reference per row; undefined where the loss has no KL term. */
  readonly refLogp_N: Float32Array | undefined;
  /** Surrogate, KL and entropy. */
  readonly terms: PolicyLossOptions;
}

/** What {@linkcode accumulateGradient} hands back; the gradient itself stays on the device. */
export interface GradientResult {
  /** Value of the loss, in float64 from the f32 log-probs. */
  readonly loss: number;
  /** Norm of the gradient; not finite where a number overflowed. */
  readonly gradNorm: number;
}

/** Token ids of the episodes from `begin` to before `end`. */
function episodesOf({ token_N4, firstRow_B, length_B }: PackedBatch, begin: number, end: number) {
  return Array.from({ length: end - begin }, (_, i) => {
    const first = firstRow_B[begin + i];
    return Uint32Array.from(
      { length: length_B[begin + i] },
      (_, t) => token_N4[4 * (first + t)],
    );
  });
}

/**
 * Replaces the learner's gradient by that of a loss. A batch beyond the learner's capacity is cut between episodes and the
 * pieces are added up; that changes the gradient by rounding only, since every weight is the whole batch's.
 *
 * @param learner Its capacity must hold the longest episode, its weights stay as they are.
 * @param task Loss and batch.
 * @returns Loss and gradient norm.
 * @throws {RangeError} When an episode is longer than the capacity.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function accumulateGradient(
  learner: Learner,
  task: GradientTask,
): Promise<GradientResult> {
  const { loss, gradNorm } = await recordGradient(learner, task);
  return { loss, gradNorm };
}

async function recordGradient(
  learner: Learner,
  task: GradientTask,
): Promise<GradientResult & { readonly gradient: Gradient | undefined }> {
  const { batch, terms } = task;
  const { workspace, parameters: { config: { vocabSize } } } = learner;
  const ranges = splitEpisodes(batch.length_B, workspace.capacity);
  let gradient: Gradient | undefined;
  let loss = 0;
  let gradNorm = NaN;
  for (const [i, { begin, end, rowCount }] of ranges.entries()) {
    const first = batch.firstRow_B[begin];
    const objective_N4 = task.objective_N4.slice(4 * first, 4 * (first + rowCount));
    const refLogp_N = task.refLogp_N?.subarray(first, first + rowCount);
    const isWhole = ranges.length === 1;
    const loaded = learner.load(
      isWhole ? batch : packEpisodes(episodesOf(batch, begin, end), { vocabSize }),
      { objective_N4 },
    );
    if (refLogp_N) loaded.loadReference(refLogp_N);
    const scored = loaded.forward();
    scored.keepRows();
    gradient = scored.backward({ loss: terms, onto: gradient });
    if (i === ranges.length - 1) gradient.norm(Infinity).keep();
    const { rows: [kept], steps: [step] } = await learner.collect();
    loss += policyLoss(lossTokens({ ...kept, objective_N4, refLogp_N }), terms).loss;
    gradNorm = step?.gradNorm ?? NaN;
  }
  return { loss, gradNorm, gradient };
}

/** How {@linkcode takeAdamSteps} moves the weights. */
export interface AdamSteps {
  /** Number of steps. */
  readonly stepCount: number;
  /** Adam's step size. */
  readonly learningRate: number;
  /** The gradient's norm is clipped to this. */
  readonly maxNorm: number;
}

/**
 * Takes clipped Adam steps on one batch, with fresh moments and PyTorch's constants.
 *
 * @param learner Its weights are moved.
 * @param task Loss and batch, the same in every step.
 * @returns Loss and gradient norm before each step. A gradient that is not finite ends the list and moves nothing.
 * @throws {RangeError} When an episode is longer than the learner's capacity.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function takeAdamSteps(
  learner: Learner,
  task: GradientTask,
  { stepCount, learningRate, maxNorm }: AdamSteps,
): Promise<GradientResult[]> {
  learner.clearMoments();
  const results: GradientResult[] = [];
  for (let step = 1; step <= stepCount; step++) {
    const { loss, gradNorm, gradient } = await recordGradient(learner, task);
    results.push({ loss, gradNorm });
    if (!Number.isFinite(gradNorm)) break;
    gradient?.step(maxNorm, {
      learningRate,
      beta1: ADAM_BETA1,
      beta2: ADAM_BETA2,
      epsilon: ADAM_EPS,
      step,
    });
  }
  return results;
}
