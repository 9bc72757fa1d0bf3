/**
 * The stages of an update, each a function: sampler → loss mask → old log-probs → advantages → minibatch split → loss terms
 * → accumulation; clip and Adam follow. `HEALTHY_STAGES` is the trainer. A fault replaces one stage or two (src/faults).
 */
import type { RandomSequence } from "../core/rng.ts";
import type { EnvironmentSpec } from "../gym/environment.ts";
import type { PolicyLossOptions } from "../equations/policy_loss.ts";
import type { EpisodeSource } from "../rollout/episode_source.ts";
import type { RolloutRequest } from "../rollout/resident.ts";
import type { Trajectory } from "../rollout/trajectory.ts";
import { aggregationWeights } from "../equations/aggregate.ts";
import type { AdvantageOutput } from "./algorithm.ts";
import { ALGORITHMS } from "./algorithms.ts";
import type { TrainConfig } from "./config.ts";
import type { TrainBatch } from "./train_batch.ts";

/** What stages may ask of the trainer. */
export interface StageContext {
  /** The run's configuration. */
  readonly config: TrainConfig;
  /** The training step, from 0. */
  readonly step: number;
  /** Where the episodes come from. */
  readonly source: EpisodeSource;
  /** Plays episodes with the current weights. */
  readonly rollOut: (request: RolloutRequest) => Promise<Trajectory[]>;
  /** Log-probs [B, C] of the batch under the current weights, in nats, at the given temperature (default the config's). */
  readonly recompute: (batch: TrainBatch, temperature?: number) => Promise<Float32Array>;
  /**
   * The weights [W] as they were so many steps before this one (0: now), or those of the start where the run is younger.
   * The trainer keeps them as far back as `weightsKept` of its stages says.
   */
  readonly weightsBefore: (steps: number) => Promise<Float32Array<ArrayBuffer>>;
  /** Rolls out with other weights than the current ones. */
  readonly rollOutWith: (
    weights_W: Float32Array<ArrayBuffer>,
    request: RolloutRequest,
  ) => Promise<Trajectory[]>;
}

/** The weight of every token in the loss of a minibatch, on the batch's grid. */
export interface TokenWeights {
  /** Of the surrogate term, [B, C]. */
  readonly weight_BC: ArrayLike<number>;
  /** Of KL and entropy terms and of statistics, [B, C]. */
  readonly meanWeight_BC: ArrayLike<number>;
}

/** A microbatch: some episodes of a minibatch. The weights of other episodes are not looked at. */
export interface Part extends TokenWeights {
  /** Places of the episodes in the batch. */
  readonly episodes: readonly number[];
}

/** One function per stage. */
export interface Stages {
  /** Samples the requested episodes; the request carries the temperature. */
  readonly sample: (
    request: RolloutRequest,
    context: StageContext,
  ) => Promise<Trajectory[]>;
  /** Which tokens are trained: 1 or 0, [B, C]. */
  readonly lossMask: (
    batch: TrainBatch,
    context: { readonly spec: EnvironmentSpec },
  ) => Float32Array;
  /** log π_old, [B, C], in nats; called once per update, before any step. */
  readonly oldLogp: (
    batch: TrainBatch,
    context: StageContext & { readonly mask_BC: Float32Array },
  ) => Promise<Float32Array> | Float32Array;
  /** log π_old as a minibatch sees it; the healthy stage passes on what the update began with. */
  readonly minibatchOldLogp: (
    oldLogp_BC: Float32Array,
    context: StageContext & { readonly batch: TrainBatch },
  ) => Promise<Float32Array> | Float32Array;
  /** Advantage of every episode, and the moving baseline after the batch. */
  readonly advantages: (
    batch: TrainBatch,
    context: { readonly config: TrainConfig; readonly baseline: number },
  ) => AdvantageOutput;
  /** Episodes of each minibatch of one pass over the batch. */
  readonly split: (batch: TrainBatch, context: {
    readonly config: TrainConfig;
    readonly random: RandomSequence;
  }) => readonly (readonly number[])[];
  /** Surrogate, clip, KL and entropy. */
  readonly lossTerms: (config: TrainConfig) => PolicyLossOptions;
  /** Microbatches of a minibatch and the weights of their tokens. */
  readonly accumulate: (
    episodes: readonly number[],
    context: {
      readonly config: TrainConfig;
      readonly mask_BC: Float32Array;
      readonly columnCount: number;
      /** The most tokens that the policy may write in an episode. */
      readonly maxPolicyTokens: number;
    },
  ) => readonly Part[];
  /** The KL reference: a copy of the weights at the start, or (a fault) the weights that are trained. */
  readonly reference: "frozen" | "live";
  /** How many steps back `weightsBefore` reaches (default 0); checkpoints then hold these weights as well. */
  readonly weightsKept?: number;
}

/** Cuts a list into `count` runs of nearly equal length. */
export function chunk<T>(items: readonly T[], count: number): T[][] {
  return Array.from({ length: count }, (_, i) =>
    items.slice(
      Math.floor(i * items.length / count),
      Math.floor((i + 1) * items.length / count),
    )).filter((run) => run.length > 0);
}

/** The divisor of `constant` aggregation for a minibatch: the configured one, or the most tokens that it could train. */
export function normConstOf(
  { normConst }: TrainConfig,
  { episodeCount, maxPolicyTokens }: {
    readonly episodeCount: number;
    readonly maxPolicyTokens: number;
  },
): number {
  return normConst ?? episodeCount * maxPolicyTokens;
}

/** Weights of some episodes, a whole minibatch, under the configured aggregation, and those of its means. */
export function minibatchWeights(
  mask_BC: ArrayLike<number>,
  options: {
    readonly config: TrainConfig;
    readonly episodes: readonly number[];
    readonly columnCount: number;
    readonly maxPolicyTokens: number;
  },
): TokenWeights {
  const { config, episodes, columnCount, maxPolicyTokens } = options;
  const shape = { episodes, columnCount, episodeCount: mask_BC.length / columnCount };
  return {
    weight_BC: aggregationWeights(mask_BC, {
      ...shape,
      mode: config.aggregation,
      normConst: normConstOf(config, { episodeCount: episodes.length, maxPolicyTokens }),
    }),
    meanWeight_BC: aggregationWeights(mask_BC, { ...shape, mode: "token_mean" }),
  };
}

/** Old log-probs recomputed by the trainer: what every fault starts from, and what a mask beyond the policy's tokens needs. */
export const recomputedOldLogp: Stages["oldLogp"] = (
  batch,
  { recompute },
): Promise<Float32Array> => recompute(batch);

/** The sampler's record where it covers the mask: a recomputation would give the same bits, or rounding apart on an adapter that reorders, and it is free. */
const recordedOldLogp: Stages["oldLogp"] = (batch, context) =>
  context.mask_BC.some((trained, i) => trained > 0 && batch.policyMask_BC[i] === 0)
    ? context.recompute(batch)
    : batch.sampleLogp_BC;

/** A whole minibatch in one pass, which every right accumulation equals up to rounding. */
export const onePass: Stages["accumulate"] = (episodes, { mask_BC, ...context }) => [
  { episodes, ...minibatchWeights(mask_BC, { ...context, episodes }) },
];

/** The trainer. */
export const HEALTHY_STAGES: Stages = {
  sample: (request, { rollOut }) => rollOut(request),
  lossMask: ({ policyMask_BC }) => policyMask_BC,
  oldLogp: recordedOldLogp,
  minibatchOldLogp: (oldLogp_BC) => oldLogp_BC,
  advantages: ({ rewards_B, groupId_B }, { config, baseline }) => {
    const { algorithm, advantageEps, baselineDecay } = config;
    return ALGORITHMS[algorithm].advantage({
      rewards_B,
      groupId_B,
      baseline,
      advantageEps,
      baselineDecay,
    });
  },
  split: (batch, { config, random }) => {
    const { episodeCount } = batch.packed;
    const inOrder = Array.from({ length: episodeCount }, (_, b) => b);
    const isWhole = config.minibatches === 1 && config.epochs === 1;
    return chunk(isWhole ? inOrder : random.permutation(episodeCount), config.minibatches);
  },
  lossTerms: (config) => ({
    surrogate: ALGORITHMS[config.algorithm].surrogate,
    clipLow: config.clipLow,
    clipHigh: config.clipHigh,
    klKind: config.klKind,
    klCoef: config.klCoef,
    entropyCoef: config.entropyCoef,
  }),
  accumulate: (episodes, context) =>
    onePass(episodes, context).flatMap(({ weight_BC, meanWeight_BC }) => {
      // As the loss reads them; what a fault makes of them begins with the rounded ones.
      const weights = {
        weight_BC: Float32Array.from(weight_BC),
        meanWeight_BC: Float32Array.from(meanWeight_BC),
      };
      return chunk(episodes, context.config.microbatches)
        .map((run) => ({ ...weights, episodes: run }));
    }),
  reference: "frozen",
};
