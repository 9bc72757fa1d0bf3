/**
 * The rules that make advantages of rewards, as what they promise about pairs of episodes. src/equations/advantage.ts goes by
 * means and deviations; an invariant that did the same would make the same mistake.
 */
import { at } from "../core/element.ts";
import { mean } from "../core/statistics.ts";

/** How a trainer makes advantages of rewards. */
export type AdvantageRule =
  /** GRPO: centred in the group, divided by its sample standard deviation + eps. */
  | { readonly kind: "group_standardized"; readonly eps: number }
  /** Dr. GRPO: centred in the group. */
  | { readonly kind: "group_centred" }
  /** RLOO: compared with the mean of the others of the group. */
  | { readonly kind: "leave_one_out" }
  /** REINFORCE: compared with a moving baseline, which the batch then moves. */
  | {
    readonly kind: "moving_baseline";
    /** The baseline before the batch. */
    readonly before: number;
    /** Share of the old value in the next one. */
    readonly decay: number;
    /** The trainer's own baseline after the batch. */
    readonly after: number;
  };

/**
 * What the difference of two rewards of a group of n is divided by; the advantage is the sum of what is left over all pairs
 * that the episode is in. The sample variance is the sum of all squared differences over n (n − 1), each pair taken once.
 */
function divisorOf(
  rule: Exclude<AdvantageRule, { readonly kind: "moving_baseline" }>,
  rewards: readonly number[],
): number {
  const n = rewards.length;
  switch (rule.kind) {
    case "group_standardized": {
      let squares = 0;
      rewards.forEach((a, i) => rewards.slice(0, i).forEach((b) => squares += (a - b) ** 2));
      // Equal rewards have no deviation, and no difference that could be divided by it.
      return squares === 0 ? 1 : n * (Math.sqrt(squares / (n * (n - 1))) + rule.eps);
    }
    case "group_centred":
      return n;
    case "leave_one_out":
      return n - 1;
    default:
      return rule satisfies never;
  }
}

/**
 * The advantages that a rule promises.
 *
 * @param rewards_B Reward of each episode.
 * @param group_B Group of each episode; not read by a moving baseline.
 * @returns One an episode; undefined for an episode that is alone in its group, of which a rule about groups says nothing.
 */
export function promisedAdvantages(
  rule: AdvantageRule,
  rewards_B: readonly number[],
  group_B: readonly number[],
): (number | undefined)[] {
  if (rule.kind === "moving_baseline") return rewards_B.map((reward) => reward - rule.before);
  const rewardsOf = new Map<number, number[]>();
  rewards_B.forEach((reward, b) => {
    const group = at(group_B, b);
    rewardsOf.set(group, [...rewardsOf.get(group) ?? [], reward]);
  });
  const divisors = new Map([...rewardsOf].map(([id, rewards]) => [id, divisorOf(rule, rewards)]));
  return rewards_B.map((reward, b) => {
    const rewards = rewardsOf.get(at(group_B, b)) ?? [];
    if (rewards.length < 2) return undefined;
    const differences = rewards.reduce((sum, other) => sum + (reward - other), 0);
    return differences / (divisors.get(at(group_B, b)) ?? NaN);
  });
}

/**
 * How far a moving baseline is from where the batch should have moved it.
 *
 * @param rule The rule with the baseline before and after.
 * @param rewards_B Reward of each episode, at least one.
 */
export function baselineError(
  rule: Extract<AdvantageRule, { readonly kind: "moving_baseline" }>,
  rewards_B: readonly number[],
): number {
  // What is left of the distance to the batch's mean.
  const target = mean(rewards_B);
  return Math.abs((rule.after - target) - rule.decay * (rule.before - target));
}
