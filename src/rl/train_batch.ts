/** Collating: sampled episodes as the trainer works on them, packed rows beside [B, C] grids. */
import type { EpisodeInfo } from "../gym/environment.ts";
import { OWNER } from "../core/owner.ts";
import { type PackedBatch, packEpisodes } from "../rollout/batch.ts";
import type { Trajectory } from "../rollout/trajectory.ts";

/** An episode that was drawn and could not be played to its end. */
export interface LostEpisode {
  /** Its place among the episodes that were drawn. */
  readonly place: number;
  /** Its group. */
  readonly group: number;
  /** What there is of it, and why. */
  readonly trajectory: Trajectory;
}

/** One step's episodes. On a grid, column t belongs to the token at position t + 1; C = longest episode − 1 + pad columns. */
export interface TrainBatch<Info extends EpisodeInfo = EpisodeInfo> {
  /** The episodes. */
  readonly trajectories: readonly Trajectory<Info>[];
  /** Group of each episode: episodes of one problem share an id. */
  readonly groupId_B: readonly number[];
  /** Reward of each episode. */
  readonly rewards_B: readonly number[];
  /** Their tokens without padding. */
  readonly packed: PackedBatch;
  /** 1 where the policy wrote the token, from the owners alone. */
  readonly policyMask_BC: Float32Array;
  /** The sampler's log-probs, in nats; 0 where nothing was sampled. */
  readonly sampleLogp_BC: Float32Array;
  /** Episodes that were drawn as well and are no part of the batch; none where left out. */
  readonly lost?: readonly LostEpisode[];
}

/**
 * Collates episodes.
 * @param options.padColumns Columns of padding after the longest episode (default 0).
 * @throws {RangeError} When there is no episode or one holds an id outside the vocabulary.
 */
export function collate<Info extends EpisodeInfo>(
  trajectories: readonly Trajectory<Info>[],
  options: {
    readonly groupId_B: readonly number[];
    readonly vocabSize: number;
    readonly padColumns?: number;
  },
): TrainBatch<Info> {
  const { groupId_B, vocabSize, padColumns = 0 } = options;
  const packed = packEpisodes(trajectories.map(({ ids }) => ids), { vocabSize, padColumns });
  const { columnCount: C, episodeCount } = packed;
  const policyMask_BC = new Float32Array(episodeCount * C);
  const sampleLogp_BC = new Float32Array(episodeCount * C);
  trajectories.forEach(({ owners, logps }, b) => {
    for (let t = 1; t < owners.length; t++) {
      if (owners[t] !== OWNER.policy) continue;
      policyMask_BC[b * C + t - 1] = 1;
      sampleLogp_BC[b * C + t - 1] = logps[t] ?? 0;
    }
  });
  return {
    trajectories,
    groupId_B,
    rewards_B: trajectories.map(({ reward }) => reward),
    packed,
    policyMask_BC,
    sampleLogp_BC,
  };
}

/** The rows of a grid that belong to some episodes, in their order. */
export function gridRows(
  grid_BC: ArrayLike<number>,
  episodes: readonly number[],
  columnCount: number,
): Float32Array {
  const rows = new Float32Array(episodes.length * columnCount);
  episodes.forEach((b, i) => {
    for (let t = 0; t < columnCount; t++) {
      rows[i * columnCount + t] = grid_BC[b * columnCount + t] ?? 0;
    }
  });
  return rows;
}
