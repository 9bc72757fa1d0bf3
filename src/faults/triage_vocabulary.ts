/** The tests and bounds that several rules about the tiny agent's runs share. */
import type { Bound, Needs, RuleTest } from "../diagnose/triage/knowledge.ts";
import type { MetricName } from "../rl/metrics.ts";

/** A test of ours. */
export type Test = RuleTest<MetricName>;

/** Two f32 engines differ by about 1e-6 nats, one adapter by none or as little; bf16 engines need a bound of their own. */
export const GAP_NOISE: Bound = { value: 1e-4, from: "100 times what two f32 engines differ by" };

/** A record of 0 at a token that nobody sampled is off by that token's whole surprise, which is several nats. */
export const SURPRISE: Bound = {
  value: 1,
  from: "the surprise of a token that the policy did not choose",
};

/** Where no update had a gradient nothing moved, and what must move stands still in a right trainer as well. */
export const NOTHING_MOVED: readonly Test[] = [{
  metric: "grad_norm",
  statistic: "largest",
  relation: "<=",
  bound: { value: 0, from: "a batch with a signal has a gradient" },
}];

/** A number that is exactly trivial but for the rounding of f32. */
export const EXACT: Bound = { value: 1e-7, from: "exactly trivial but for the rounding of f32" };

/** The k3 estimate of two log-probs that differ by rounding: half the square of 1e-6 nats, with room. */
export const KL_EXACT: Bound = {
  value: 1e-12,
  from: "the divergence of two policies that differ by rounding alone",
};

/** Seeds of one setup differ by less than these multiples (src/faults/triage_confusion.md counts how often that failed). */
export function ofHealthy(
  words: string,
  multiple: { readonly healthy: "low" | "high"; readonly times: number },
): Bound {
  return { ...multiple, from: `${words} of the healthy seeds` };
}

/** Half of what the lowest healthy seed has. */
export const HALF = ofHealthy("half the smallest", { healthy: "low", times: 0.5 });
/** Twice what the highest healthy seed has. */
export const TWICE = ofHealthy("twice the largest", { healthy: "high", times: 2 });
/** Three times what the highest healthy seed has. */
export const THREE_TIMES = ofHealthy("three times the largest", { healthy: "high", times: 3 });
/** Five times what the highest healthy seed has. */
export const FIVE_TIMES = ofHealthy("five times the largest", { healthy: "high", times: 5 });

/** A violated invariant, by its key; where a value is named, with that number. */
export const violated = (check: string, value?: number): Test => ({
  check,
  verdict: "violated",
  ...(value !== undefined && { value }),
});
/** An invariant that holds, by its key. */
export const holds = (check: string): Test => ({ check, verdict: "holds" });
/** An invariant that is violated at a later step, by its key. */
export const violatedLater = (check: string): Test => ({
  check,
  verdict: "violated",
  isLater: true,
});

/** The gap between sampler and trainer in the first step. */
export const gapAtFirst = (relation: "<=" | ">=", bound: Bound): Test => (
  { metric: "logp_gap", statistic: "first", relation, bound }
);

/** In the first step the ratio is 1 in the first minibatch and has moved a little in the second. */
export const ratioAtFirst = (relation: "<=" | ">="): Test => ({
  metric: "ratio_max",
  statistic: "first",
  relation,
  bound: ofHealthy("half as much again as the largest", { healthy: "high", times: 1.5 }),
});

/** The reward rises clearly within the run. */
export const REWARD_RISES: Test = {
  metric: "reward",
  statistic: "trend",
  relation: ">=",
  bound: { value: 0.3, from: "five standard errors of four steps of 64 episodes" },
};

/** A setting that must have a value. */
export const needs = (setting: string, is: string | number, words: string): Needs => ({
  settings: [{ setting, is, words }],
});

/** A setting that must be above a number. */
export const needsAbove = (setting: string, above: number, words: string): Needs => ({
  settings: [{ setting, above, words }],
});
