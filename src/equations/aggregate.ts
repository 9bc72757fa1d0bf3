/** Loss aggregation: the weight of every token, so that loss = Σ weight · term, in the four modes in common use. */
import { at } from "../core/element.ts";
import { requireSizes } from "../core/shape.ts";

/** Every aggregation mode, in the order in which tables print them. */
export const AGGREGATION_MODES = [
  "token_mean",
  "seq_mean_token_sum",
  "seq_mean_token_mean",
  "constant",
] as const;

/** How per-token terms become one loss; see {@link aggregationWeights}. */
export type AggregationMode = typeof AGGREGATION_MODES[number];

/** Smallest denominator, so that a batch or an episode without a trained token weighs 0 and divides nothing by 0. */
const MIN_DENOMINATOR = 1e-8;

/** The mask's shape and the mode. */
export interface AggregationOptions {
  /** Which of the four. */
  readonly mode: AggregationMode;
  /** B: all episodes of the batch count, including those whose mask is empty. */
  readonly episodeCount: number;
  /** T: columns of the mask. */
  readonly columnCount: number;
  /** The rows that count (default all); the others get no weight, and B is the number of these. */
  readonly episodes?: readonly number[];
  /** Denominator C of `constant`, which needs it; for instance B times the largest number of policy tokens. */
  readonly normConst?: number;
}

/**
 * Weight of every token under a mask m, with L[b] = Σ_t m[b, t]:
 *
 * - `token_mean`: m / Σ_b L[b]. Every token of the batch counts the same; the step shrinks as episodes get longer.
 * - `seq_mean_token_sum`: m / B. The policy gradient as it is derived: a sum over tokens, a mean over episodes.
 * - `seq_mean_token_mean`: m / (B · L[b]). Every episode counts the same, so a token of a long one counts less.
 * - `constant`: m / C. The weight of a token is the same in every batch (Dr. GRPO, Liu et al. 2025, arXiv:2503.20783).
 *
 * Where Σ_b L[b] or L[b] is 0 the weights are 0.
 *
 * @param mask_BT Non-negative; 1 where the loss trains on the token, 0 elsewhere.
 * @returns weight_BT
 * @throws {RangeError} When the mask does not fit its shape or has a negative or NaN entry, or when `constant` has no
 *   `normConst` above 0.
 */
export function aggregationWeights(
  mask_BT: ArrayLike<number>,
  options: AggregationOptions,
): Float64Array {
  const { mode, episodeCount, columnCount: T } = options;
  requireSizes("aggregationWeights", { mask_BT: [mask_BT, { B: episodeCount, T }] });
  const { episodes = Array.from({ length: episodeCount }, (_, b) => b) } = options;
  const length_B = new Float64Array(episodeCount);
  let lengthSum = 0;
  for (const b of episodes) {
    for (let i = b * T; i < (b + 1) * T; i++) {
      const mask = at(mask_BT, i);
      if (!(mask >= 0)) {
        throw new RangeError(
          `Cannot compute aggregationWeights: mask_BT[${i}] is ${mask} but must be a number of at least 0`,
        );
      }
      length_B[b] = at(length_B, b) + mask;
      lengthSum += mask;
    }
  }
  const B = episodes.length;
  const denominatorOf = (b: number): number => {
    switch (mode) {
      case "token_mean":
        return Math.max(lengthSum, MIN_DENOMINATOR);
      case "seq_mean_token_sum":
        return B;
      case "seq_mean_token_mean":
        return B * Math.max(at(length_B, b), MIN_DENOMINATOR);
      case "constant":
        return requireNormConst(options.normConst);
      default:
        return mode satisfies never;
    }
  };
  const weight_BT = new Float64Array(episodeCount * T);
  for (const b of episodes) {
    const denominator = denominatorOf(b);
    for (let i = b * T; i < (b + 1) * T; i++) weight_BT[i] = at(mask_BT, i) / denominator;
  }
  return weight_BT;
}

function requireNormConst(normConst: number | undefined): number {
  if (normConst !== undefined && normConst > 0 && Number.isFinite(normConst)) return normConst;
  throw new RangeError(
    `Cannot aggregate with mode constant: normConst is ${normConst} but must be a finite number above 0, ` +
      `for instance the batch size times the largest number of policy tokens`,
  );
}
