/** Performance profiles: which share of a method's runs scores above each threshold (Agarwal et al. 2021, section 4.3). */
import { at } from "../core/element.ts";
import { mean, wilsonInterval } from "../core/statistics.ts";
import { leastSeeds, type Strata } from "./strata.ts";

/** One point of a profile. */
export interface ProfilePoint {
  /** The threshold τ. */
  readonly score: number;
  /** Share of runs above τ, mean over the strata. */
  readonly share: number;
  /** The low end of its 95 % interval. */
  readonly low: number;
  /** The high end. */
  readonly high: number;
}

/** Thresholds of a profile where there are more different scores than a chart shows. */
const MAX_POINTS = 60;

/**
 * The thresholds at which profiles of several methods change: their different scores, or as many steps between the ends.
 *
 * @param methods Scores of each.
 */
export function profileThresholds(methods: readonly Strata[]): number[] {
  const scores = [...new Set(methods.flat(2).filter(Number.isFinite))].sort((a, b) => a - b);
  if (scores.length <= MAX_POINTS) return scores;
  const [low, high] = [at(scores, 0), at(scores, scores.length - 1)];
  return Array.from({ length: MAX_POINTS }, (_, i) => low + (high - low) * i / (MAX_POINTS - 1));
}

/**
 * The profile of a method. The interval of a share is Wilson's of as many runs as there are in all strata: drawing within
 * strata varies less than that, so it is wide enough.
 *
 * @param strata Scores of seeds, at least one in each.
 * @param thresholds Ascending.
 */
export function performanceProfile(strata: Strata, thresholds: readonly number[]): ProfilePoint[] {
  if (strata.length === 0 || leastSeeds(strata) < 1) return [];
  const runs = leastSeeds(strata) * strata.length;
  return thresholds.map((score) => {
    const share = mean(
      strata.map((scores) => scores.filter((one) => one > score).length / scores.length),
    );
    // Of unequal strata the smallest decides: the interval may only be too wide.
    const { low, high } = wilsonInterval(Math.round(share * runs), runs);
    return { score, share, low: Math.min(low, share), high: Math.max(high, share) };
  });
}
