/** A metric: how far the rewards of a step lie apart. */
import { sampleVariance } from "../../../src/core/statistics.ts";

/** Sample standard deviation of the rewards; 0 of a single episode. */
export function rewardStd(rewards_B: ArrayLike<number>): number {
  return rewards_B.length < 2 ? 0 : Math.sqrt(sampleVariance(rewards_B));
}
