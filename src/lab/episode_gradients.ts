/**
 * Gradients of single episodes over all parameters, without ever holding all of them: their norms come from one backward
 * pass an episode, their weighted sums from a backward pass over all episodes at once.
 *
 * A gradient here is Σ_t w[b, t] ∇ log π(token t of episode b). Its weights w are a [B, C] grid that is 0 outside the
 * policy's tokens; with w = the policy mask it is the score ∇ log p(τ) of the episode.
 */
import { largest } from "../core/statistics.ts";
import type { Commands } from "../gpu/commands.ts";
import { Learner } from "../model/learner.ts";
import { createParameters, destroyParameters, type Parameters } from "../model/parameters.ts";
import { TINY_AGENT } from "../model/config.ts";
import { accumulateGradient } from "../rl/gradient.ts";
import { objectiveRows } from "../rl/objective.ts";
import { gridRows, type TrainBatch } from "../rl/train_batch.ts";
import { type PackedBatch, packEpisodes, selectEpisodes } from "../rollout/batch.ts";
import type { Weights } from "./agents.ts";
import { dot } from "../core/vectors.ts";

/** Plain log-probs: no ratio, no KL, no entropy. */
export const SCORE_LOSS = {
  surrogate: "reinforce",
  clipLow: 0,
  clipHigh: 0,
  klKind: "k3",
  klCoef: 0,
  entropyCoef: 0,
} as const;

/** Rows of one backward pass over many episodes; more are cut between episodes. */
const MAX_ROWS = 2048;
/** Single episodes that are recorded before a submit. */
const QUEUE_LENGTH = 32;

/**
 * The objective whose gradient is Σ w ∇ log π: the loss is −A log π, so the advantage is −w.
 * @param weight_BC Weight of every token's log-prob.
 */
function scoreObjective(
  packed: PackedBatch,
  weight_BC: ArrayLike<number>,
): Float32Array<ArrayBuffer> {
  const advantage_BC = Float64Array.from(weight_BC, (weight) => -weight);
  return objectiveRows(packed, {
    advantage_BC,
    weight_BC: advantage_BC.map((advantage) => Number(advantage !== 0)),
    meanWeight_BC: new Float64Array(advantage_BC.length),
  });
}

/** Gradients of single episodes: their norms and weighted sums without ever holding all of them. `destroy` frees its memory. */
export class EpisodeGradients {
  readonly #batch: TrainBatch;
  readonly #parameters: Parameters;
  /** Holds one episode at a time, in many copies of its inputs. */
  readonly #single: Learner;
  readonly #whole: Learner;

  /** @throws {RangeError} When an episode exceeds what the device can hold. */
  constructor(commands: Commands, weights_W: Weights, batch: TrainBatch) {
    const longest = largest(batch.packed.length_B);
    this.#batch = batch;
    this.#parameters = createParameters(commands, TINY_AGENT, weights_W);
    this.#single = new Learner(commands, this.#parameters, {
      capacity: longest,
      maxPositions: longest,
      queueLength: QUEUE_LENGTH,
    });
    this.#whole = new Learner(commands, this.#parameters, {
      capacity: Math.max(longest, Math.min(batch.packed.rowCount, MAX_ROWS)),
      maxPositions: longest,
    });
  }

  /**
   * ‖Σ_t w[b, t] ∇ log π‖² of every episode, each from a backward pass of its own.
   * @param onProgress Called with the episodes done.
   * @throws {DeviceLostError} When the device is gone.
   */
  async squaredNorms(
    weight_BC: ArrayLike<number>,
    onProgress: (done: number) => void = () => {},
  ): Promise<Float64Array> {
    const { trajectories, packed: { columnCount } } = this.#batch;
    const { vocabSize } = TINY_AGENT;
    const learner = this.#single;
    const norms: number[] = [];
    for (const [b, { ids }] of trajectories.entries()) {
      const packed = packEpisodes([ids], { vocabSize });
      const row_C = gridRows(weight_BC, [b], columnCount).subarray(0, packed.columnCount);
      learner.load(packed, { objective_N4: scoreObjective(packed, row_C) })
        .forward().backward({ loss: SCORE_LOSS }).norm(Infinity).keep();
      if (learner.room > 0 && b < trajectories.length - 1) continue;
      const { steps } = await learner.collect();
      norms.push(...steps.map(({ gradNorm }) => gradNorm));
      onProgress(norms.length);
    }
    return Float64Array.from(norms, (norm) => norm ** 2);
  }

  /**
   * Σ over episodes of Σ_t w[b, t] ∇ log π, over all parameters [W].
   * @param episodes Which episodes to add up (default all).
   * @throws {DeviceLostError} When the device is gone.
   */
  async sum(weight_BC: ArrayLike<number>, episodes?: readonly number[]): Promise<Weights> {
    const packed = selectEpisodes(this.#batch, {
      episodes: episodes ?? this.#batch.trajectories.map((_, b) => b),
      vocabSize: TINY_AGENT.vocabSize,
    });
    await accumulateGradient(this.#whole, {
      batch: packed,
      objective_N4: scoreObjective(packed, weight_BC),
      refLogp_N: undefined,
      terms: SCORE_LOSS,
    });
    return await this.#whole.readGradient();
  }

  /**
   * Total variance of the episodes' gradients, the trace of their covariance:
   * (Σ_b ‖x_b‖² − ‖Σ_b x_b‖² / B) / (B − 1).
   * @throws {DeviceLostError} When the device is gone.
   */
  async totalVariance(
    weight_BC: ArrayLike<number>,
    options: {
      /** ‖x_b‖² where they are known; otherwise they are computed. */
      readonly squaredNorms_B?: ArrayLike<number>;
      readonly onProgress?: (done: number) => void;
    } = {},
  ): Promise<number> {
    const squaredNorms_B = options.squaredNorms_B ??
      await this.squaredNorms(weight_BC, options.onProgress);
    const sum_W = await this.sum(weight_BC);
    return varianceOf(squaredNorms_B, dot(sum_W, sum_W));
  }

  /** Frees everything. */
  destroy(): void {
    this.#single.destroy();
    this.#whole.destroy();
    destroyParameters(this.#parameters);
  }
}

/**
 * Total variance of B vectors from their squared norms and the squared norm of their sum.
 * @throws {RangeError} When there are fewer than two vectors.
 */
export function varianceOf(squaredNorms_B: ArrayLike<number>, squaredNormOfSum: number): number {
  const count = squaredNorms_B.length;
  if (count < 2) {
    throw new RangeError(`Cannot take the variance of ${count} gradients: at least 2 are needed`);
  }
  const squares = Array.from(squaredNorms_B).reduce((sum, square) => sum + square, 0);
  return (squares - squaredNormOfSum / count) / (count - 1);
}

/** A grid of token weights: the policy mask times a number for each episode. */
export function scaledMask(
  { policyMask_BC, packed: { columnCount } }: TrainBatch,
  scale_B: ArrayLike<number>,
): Float64Array {
  return Float64Array.from(policyMask_BC, (mask, i) => mask * scale_B[Math.floor(i / columnCount)]);
}
