/** Losses under a name, each a record of an aggregation and the terms that it sums; a new one is one more record. */
import type { PolicyLossOptions } from "../equations/policy_loss.ts";
import { findMaskFault, gridToRows, type PackedBatch } from "../rollout/batch.ts";
import { type AggregationMode, aggregationWeights } from "../equations/aggregate.ts";
import type { GradientTask } from "./gradient.ts";
import { objectiveRows } from "./objective.ts";

/** A loss over the masked tokens of a batch. */
export interface NamedLoss {
  /** How surrogate terms become one number. KL and entropy terms are token means whatever it is. */
  readonly aggregation: AggregationMode;
  /** Surrogate, KL and entropy. */
  readonly terms: PolicyLossOptions;
  /** `batch`: the advantages that the batch brings. `one`: 1 for every episode, which is imitation. */
  readonly advantages: "batch" | "one";
}

const REINFORCE_TERMS: PolicyLossOptions = {
  surrogate: "reinforce",
  clipLow: 0.2,
  clipHigh: 0.2,
  klKind: "k3",
  klCoef: 0,
  entropyCoef: 0,
};

const PPO_TERMS: PolicyLossOptions = { ...REINFORCE_TERMS, surrogate: "clipped" };

function reinforce(aggregation: AggregationMode): NamedLoss {
  return { aggregation, terms: REINFORCE_TERMS, advantages: "batch" };
}

/** Every loss under the name that the command line uses. */
export const NAMED_LOSSES = {
  reinforce_token_mean: reinforce("token_mean"),
  reinforce_seq_mean_token_sum: reinforce("seq_mean_token_sum"),
  reinforce_seq_mean_token_mean: reinforce("seq_mean_token_mean"),
  reinforce_constant: reinforce("constant"),
  ppo_clip_token_mean: { aggregation: "token_mean", terms: PPO_TERMS, advantages: "batch" },
  ppo_k3_entropy: {
    aggregation: "token_mean",
    terms: { ...PPO_TERMS, klCoef: 0.1, entropyCoef: 0.01 },
    advantages: "batch",
  },
  /** −mean log π of the masked tokens: behaviour cloning. */
  cross_entropy: { aggregation: "token_mean", terms: REINFORCE_TERMS, advantages: "one" },
} as const satisfies Readonly<Record<string, NamedLoss>>;

/** Name of a loss. */
export type LossName = keyof typeof NAMED_LOSSES;

/** Every name, in the order in which help texts list them. */
export const LOSS_NAMES = Object.keys(NAMED_LOSSES) as readonly LossName[];

/** What losses read of a batch; column t of a [B, C] grid is about the token at position t + 1. */
export interface LossGrids {
  /** 1 where the loss trains, 0 elsewhere and on pads. */
  readonly actionMask_BC: ArrayLike<number>;
  /** One per episode. */
  readonly advantages_B: ArrayLike<number> | undefined;
  /** Log-probs before the update, in nats. */
  readonly oldLogp_BC: ArrayLike<number> | undefined;
  /** Log-probs of the reference, in nats. */
  readonly refLogp_BC: ArrayLike<number> | undefined;
}

/** The grids of {@linkcode LossGrids} that a batch need not have. */
export type OptionalGrid = Exclude<keyof LossGrids, "actionMask_BC">;

/**
 * Says what a loss cannot do without.
 *
 * @param loss The loss.
 * @returns The grids that it reads besides the mask.
 */
export function requiredGrids({ advantages, terms }: NamedLoss): OptionalGrid[] {
  const required: OptionalGrid[] = [];
  if (advantages === "batch") required.push("advantages_B");
  if (terms.surrogate === "clipped") required.push("oldLogp_BC");
  if (terms.klCoef !== 0) required.push("refLogp_BC");
  return required;
}

/**
 * Brings a named loss and a batch together.
 *
 * @param batch The packed episodes.
 * @param options.loss The loss.
 * @param options.grids What it reads of the batch.
 * @param options.normConst Denominator of the aggregation `constant`, above 0.
 * @returns What `accumulateGradient` computes the gradient of.
 * @throws {RangeError} When a grid is missing or does not fit the batch, the mask holds a number other than 0 and 1 or trains
 *   on a pad, or `constant` has no denominator.
 */
export function namedLossTask(
  batch: PackedBatch,
  options: {
    readonly loss: NamedLoss;
    readonly grids: LossGrids;
    readonly normConst?: number | undefined;
  },
): GradientTask {
  const { loss, grids, normConst } = options;
  const missing = requiredGrids(loss).find((name) => grids[name] === undefined);
  if (missing !== undefined) {
    throw new RangeError(`Cannot compute the loss: it needs ${missing}, which is undefined`);
  }
  const fault = findMaskFault(grids.actionMask_BC, batch);
  if (fault !== undefined) {
    throw new RangeError(
      `Cannot compute the loss: actionMask_BC[${fault.cell}] is ${
        grids.actionMask_BC[fault.cell]
      } but must be ${
        fault.kind === "value" ? "0 or 1" : "0, since the episode has no token there"
      }`,
    );
  }
  const { episodeCount, columnCount } = batch;
  const weights = (mode: AggregationMode) =>
    aggregationWeights(grids.actionMask_BC, {
      mode,
      episodeCount,
      columnCount,
      ...(normConst !== undefined && { normConst }),
    });
  const advantage_B = loss.advantages === "one" ? undefined : grids.advantages_B;
  return {
    batch,
    objective_N4: objectiveRows(batch, {
      advantage_B: advantage_B ?? new Float32Array(episodeCount).fill(1),
      weight_BC: weights(loss.aggregation),
      meanWeight_BC: weights("token_mean"),
      oldLogp_BC: grids.oldLogp_BC,
    }),
    refLogp_N: grids.refLogp_BC && gridToRows(batch, grids.refLogp_BC),
    terms: loss.terms,
  };
}
