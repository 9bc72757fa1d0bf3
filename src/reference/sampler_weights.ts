/** Weights that correct for a sampler whose log-probs differ from the trainer's, in float64; constants of the loss. */
import { at } from "../core/element.ts";

/** What one weight covers: a token, a sequence by the product of its ratios, or by their geometric mean. */
export type WeightLevel = "token" | "sequence" | "geometric";

/** What happens to a ratio outside the bounds: held at the upper one, or its tokens get weight 0. */
export type WeightBound = "truncate" | "mask";

/**
 * exp(Σ (log π_old − log π_sampler)) at a level, truncated (Ionides 2008; Yao et al. 2025) or masked.
 *
 * @param difference_T log π_old − log π_sampler of one row's tokens; not looked at where the mask is 0.
 * @param options.cap Upper bound of a weight, above 0.
 * @param options.floor Lower bound where weights are masked.
 * @returns weight_T, 0 outside the mask.
 */
export function samplerWeights(
  difference_T: readonly number[],
  options: {
    readonly mask_T: readonly number[];
    readonly level: WeightLevel;
    readonly bound: WeightBound;
    readonly cap: number;
    readonly floor: number;
  },
): number[] {
  const { mask_T, level, bound, cap, floor } = options;
  const count = mask_T.reduce((sum, mask) => sum + (mask === 0 ? 0 : 1), 0);
  const total = mask_T.reduce((sum, mask, t) => mask === 0 ? sum : sum + at(difference_T, t), 0);
  return mask_T.map((mask, t) => {
    if (mask === 0) return 0;
    const log = level === "token"
      ? at(difference_T, t)
      : level === "sequence"
      ? total
      : total / count;
    const ratio = Math.exp(log);
    if (bound === "truncate") return Math.min(ratio, cap);
    return ratio > cap || ratio < floor ? 0 : ratio;
  });
}
