/** Advantages that the product does not train with, in float64: other normalisers of groups, ReMax, whitening, GAE. */
import { groupCenteredAdvantage } from "../equations/advantage.ts";
import { at } from "../core/element.ts";

/** How a group is normalised. */
export interface GroupNormalization {
  /** 1: n − 1 in the variance's denominator; 0: n. */
  readonly ddof: 0 | 1;
  /** Added to the standard deviation. */
  readonly eps: number;
  /** What an episode alone in its group gets: 0, or its reward over 1 + ε. */
  readonly single: "zero" | "raw";
}

/** The members of each group, by its id. */
export function groupMembers(groupId_B: readonly number[]): Map<number, number[]> {
  const members = new Map<number, number[]>();
  for (const [b, id] of groupId_B.entries()) {
    const rows = members.get(id);
    if (rows === undefined) members.set(id, [b]);
    else rows.push(b);
  }
  return members;
}

/** Standard deviation about the mean, with n − ddof in the denominator; 0 where that is 0. */
export function standardDeviation(values: readonly number[], ddof: 0 | 1): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / Math.max(values.length - ddof, 1));
}

/**
 * GRPO's advantage as trainers differ in it: (r − mean) / (std + ε). With n − 1 and groups of two or more it is
 * `groupStandardizedAdvantage`.
 *
 * @param rewards_B Reward of every episode.
 * @param groupId_B Group of every episode.
 */
export function normalizedAdvantage(
  rewards_B: readonly number[],
  groupId_B: readonly number[],
  options: GroupNormalization,
): number[] {
  const { ddof, eps, single } = options;
  const centered_B = groupCenteredAdvantage(rewards_B, groupId_B);
  const members = groupMembers(groupId_B);
  return rewards_B.map((reward, b) => {
    const rows = members.get(at(groupId_B, b)) ?? [];
    if (rows.length < 2) return single === "raw" ? reward / (1 + eps) : 0;
    const std = standardDeviation(rows.map((row) => at(rewards_B, row)), ddof);
    return std === 0 ? 0 : at(centered_B, b) / (std + eps);
  });
}

/** ReMax (Li et al. 2023, arXiv:2310.10505): r minus the reward of the greedy answer to the same prompt. */
export function greedyBaselineAdvantage(
  rewards_B: readonly number[],
  greedyRewards_B: readonly number[],
): number[] {
  return rewards_B.map((reward, b) => reward - at(greedyRewards_B, b));
}

/**
 * Whitening of REINFORCE++ (Hu 2025, arXiv:2501.03262): (x − mean) / √(var + 1e-8) over the whole batch, each value counted as often as
 * its weight says (the tokens that it is copied to), n − 1 in the denominator.
 *
 * @param values_N What is whitened; not looked at where the weight is 0.
 * @param weight_N How often each value counts, integers of at least 0.
 */
export function whitened(values_N: readonly number[], weight_N: readonly number[]): number[] {
  let count = 0;
  let sum = 0;
  for (const [n, weight] of weight_N.entries()) {
    if (weight === 0) continue;
    count += weight;
    sum += weight * at(values_N, n);
  }
  const mean = sum / count;
  let squares = 0;
  for (const [n, weight] of weight_N.entries()) {
    if (weight !== 0) squares += weight * (at(values_N, n) - mean) ** 2;
  }
  const scale = Math.sqrt(squares / (count - 1) + 1e-8);
  return values_N.map((value) => (value - mean) / scale);
}

/** One row of GAE's inputs. */
export interface GaeOptions {
  /** γ. */
  readonly gamma: number;
  /** λ. */
  readonly lambda: number;
  /** Whether tokens outside the mask are skipped: the next value is then the next trained token's. */
  readonly skipsMasked: boolean;
}

/**
 * Generalized advantage estimation (Schulman et al. 2015, arXiv:1506.02438, equation 16) over one row, with value 0 after its end:
 * δ_t = r_t + γ V_{t+1} − V_t, A_t = δ_t + γλ A_{t+1}.
 *
 * @param rewards_T Reward that arrives with each token.
 * @param values_T V.
 * @param mask_T 1 where the token was the policy's; an entry outside is skipped, or treated as any other.
 * @returns A_T, where skipped the advantage of the next trained token.
 */
export function generalizedAdvantage(
  rewards_T: readonly number[],
  values_T: readonly number[],
  options: GaeOptions & { readonly mask_T: readonly number[] },
): number[] {
  const { gamma, lambda, mask_T, skipsMasked } = options;
  const advantage_T = rewards_T.map(() => 0);
  let next = 0;
  let following = 0;
  for (let t = rewards_T.length - 1; t >= 0; t--) {
    if (!skipsMasked || at(mask_T, t) !== 0) {
      following = at(rewards_T, t) + gamma * next - at(values_T, t) + gamma * lambda * following;
      next = at(values_T, t);
    }
    advantage_T[t] = following;
  }
  return advantage_T;
}
