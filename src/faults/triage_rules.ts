/** The rules of triage as data: symptom → tests → candidate causes, in order of cost: invariants, consistency, reference, outcome. */
import type { FaultName } from "./faults.ts";
import type { StatisticName } from "../diagnose/metric_series.ts";
import type { MetricName } from "../rl/metrics.ts";

/** What a value is held against, and where the number comes from. */
export type Bound =
  | { readonly value: number; readonly from: string }
  /** A multiple of the lowest or highest value of the healthy seeds' same statistic over the same steps. */
  | { readonly healthy: "low" | "high"; readonly times: number; readonly from: string };

/** One test; it fires, stays quiet, or is not measured. */
export type Test =
  /** The verdict of an invariant (see src/diagnose/invariant_list.ts). */
  | { readonly check: number; readonly verdict: "violated" | "holds" }
  | {
    readonly metric: MetricName;
    /** Each value is divided by that of this metric in the same step. */
    readonly per?: MetricName;
    readonly statistic: StatisticName;
    readonly relation: "<=" | ">=";
    readonly bound: Bound;
  };

/** The four steps of the procedure, cheapest and most decisive first. */
export const TIERS = ["invariant", "consistency", "reference", "outcome"] as const;

/** A rule. */
export interface Rule {
  readonly tier: typeof TIERS[number];
  readonly symptom: string;
  /** It fires when all of them do. */
  readonly tests: readonly Test[];
  /** The invariant that asks the same before the run: where it is not applicable to the setting, neither is the rule. */
  readonly asks?: number;
  /** The symptom means nothing where all of these fire. */
  readonly unless?: readonly Test[];
  /** What can cause it, with the share of belief that this rule alone gives it, 0 to 1. */
  readonly causes: Partial<Readonly<Record<FaultName, number>>>;
}

/**
 * Beliefs. An invariant names its fault; a consistency metric is a bug for certain and leaves open which; a range of another
 * run is weaker, since seeds and settings move it. A second cause of the same symptom gets what is left.
 */
const NAMED = 0.95;
const DECISIVE = 0.85;
const LIKELY = 0.6;
const POSSIBLE = 0.3;

/** Two f32 engines differ by about 1e-6 nats, one adapter by none; bf16 engines need a bound of their own. */
const GAP_NOISE: Bound = { value: 1e-4, from: "100 times what two f32 engines differ by" };
/** A record of 0 at a token that nobody sampled is off by that token's whole surprise, which is several nats. */
const SURPRISE: Bound = {
  value: 1,
  from: "the surprise of a token that the policy did not choose",
};
/** Where no update had a gradient nothing moved, and what must move stands still in a right trainer, too. */
const NOTHING_MOVED: readonly Test[] = [{
  metric: "grad_norm",
  statistic: "largest",
  relation: "<=",
  bound: { value: 0, from: "a batch with a signal has a gradient" },
}];

const EXACT: Bound = { value: 1e-7, from: "exactly trivial but for the rounding of f32" };

/** Seeds of one setup differ by less than these multiples (src/faults/triage_confusion.md counts how often that failed). */
function ofHealthy(
  words: string,
  multiple: { readonly healthy: "low" | "high"; readonly times: number },
): Bound {
  return { ...multiple, from: `${words} of the healthy seeds` };
}

const HALF = ofHealthy("half the smallest", { healthy: "low", times: 0.5 });
const TWICE = ofHealthy("twice the largest", { healthy: "high", times: 2 });
const THREE_TIMES = ofHealthy("three times the largest", { healthy: "high", times: 3 });
const FIVE_TIMES = ofHealthy("five times the largest", { healthy: "high", times: 5 });

const violated = (check: number): Test => ({ check, verdict: "violated" });
const holds = (check: number): Test => ({ check, verdict: "holds" });

const gapAtFirst = (relation: "<=" | ">=", bound: Bound): Test => (
  { metric: "logp_gap", statistic: "first", relation, bound }
);

/** In the first step the ratio is 1 in the first minibatch and has moved a little in the second. */
const ratioAtFirst = (relation: "<=" | ">="): Test => ({
  metric: "ratio_max",
  statistic: "first",
  relation,
  bound: ofHealthy("half above the largest", { healthy: "high", times: 1.5 }),
});

const rewardRises: Test = {
  metric: "reward",
  statistic: "trend",
  relation: ">=",
  bound: { value: 0.3, from: "five standard errors of four steps of 64 episodes" },
};

/** The rules, in the order of the procedure. */
export const RULES: readonly Rule[] = [
  {
    tier: "invariant",
    symptom: "the mask strays onto tokens that nobody sampled",
    tests: [violated(1), violated(2)],
    causes: { mask_shift: NAMED, mask_end_call: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the mask leaves out tokens of the policy",
    tests: [violated(1), holds(2)],
    causes: { mask_end_call: NAMED, mask_shift: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the sampler's log-probs are not the trainer's, and they serve as the old ones",
    tests: [holds(1), violated(2), violated(3)],
    causes: { sampler_temp: NAMED, sampler_logp_temp: POSSIBLE, stale_sampler: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the sampler's record is not the trainer's log-prob, and the ratio is right",
    tests: [holds(1), violated(2), holds(3)],
    causes: { sampler_logp_temp: NAMED, sampler_temp: POSSIBLE, stale_sampler: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the gradient depends on how the batch is cut, and the loss on padding",
    tests: [holds(1), violated(5), violated(6)],
    causes: { denominator: NAMED, accum_local: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the gradient depends on how the batch is cut",
    tests: [holds(5), violated(6)],
    causes: { accum_local: NAMED, denominator: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the ratio stays 1 within an update",
    tests: [violated(7)],
    causes: { stale_old_logp: NAMED },
  },
  {
    tier: "invariant",
    symptom: "an update makes good episodes less likely",
    tests: [violated(8)],
    causes: { sign_flip: NAMED, group_shuffle: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the reference follows the policy",
    tests: [violated(9)],
    causes: { ref_is_policy: NAMED },
  },
  {
    tier: "invariant",
    symptom: "without a signal, an update still moves the weights",
    tests: [violated(10)],
    causes: { entropy_sign: NAMED },
  },
  {
    tier: "invariant",
    symptom: "episodes are compared with those of other problems",
    tests: [violated(11)],
    causes: { group_shuffle: NAMED },
  },
  {
    tier: "consistency",
    symptom: "the loss trains on tokens that nobody sampled",
    tests: [gapAtFirst(">=", SURPRISE)],
    causes: { mask_shift: DECISIVE },
  },
  {
    tier: "consistency",
    symptom: "the loss trains on fewer tokens than the policy wrote",
    tests: [{
      metric: "loss_tokens",
      per: "length",
      statistic: "first",
      relation: "<=",
      bound: { value: 0.9, from: "1 in a correct trainer; a shift loses one token of an episode" },
    }],
    causes: { mask_end_call: DECISIVE, mask_shift: POSSIBLE },
  },
  {
    tier: "consistency",
    symptom: "sampler and trainer disagree from the first step, and the ratio is off with them",
    tests: [
      gapAtFirst(">=", GAP_NOISE),
      gapAtFirst("<=", SURPRISE),
      ratioAtFirst(">="),
    ],
    causes: { sampler_temp: DECISIVE, sampler_logp_temp: POSSIBLE, stale_sampler: POSSIBLE },
  },
  {
    tier: "consistency",
    symptom: "sampler and trainer disagree from the first step, and the ratio is right",
    tests: [
      gapAtFirst(">=", GAP_NOISE),
      gapAtFirst("<=", SURPRISE),
      ratioAtFirst("<="),
    ],
    causes: { sampler_logp_temp: DECISIVE, sampler_temp: POSSIBLE, stale_sampler: POSSIBLE },
  },
  {
    tier: "consistency",
    symptom: "sampler and trainer agree in the first step and then drift apart",
    tests: [
      gapAtFirst("<=", GAP_NOISE),
      { metric: "logp_gap", statistic: "laterLargest", relation: ">=", bound: GAP_NOISE },
    ],
    causes: { stale_sampler: NAMED },
  },
  {
    tier: "consistency",
    symptom: "nothing is ever clipped and the ratio is exactly 1 all run",
    tests: [
      { metric: "clip_frac", statistic: "largest", relation: "<=", bound: EXACT },
      { metric: "ratio_max", statistic: "distanceFromOne", relation: "<=", bound: EXACT },
      { metric: "approx_kl", statistic: "laterLargest", relation: "<=", bound: EXACT },
    ],
    asks: 7,
    unless: NOTHING_MOVED,
    causes: { stale_old_logp: DECISIVE },
  },
  {
    tier: "consistency",
    symptom: "the KL to the reference is exactly 0 all run",
    tests: [
      // In the first step it may be 0: nothing has moved before its first minibatch.
      { metric: "kl_ref", statistic: "laterLargest", relation: "<=", bound: EXACT },
    ],
    asks: 9,
    unless: NOTHING_MOVED,
    causes: { ref_is_policy: DECISIVE },
  },
  {
    tier: "reference",
    symptom: "the first update goes much too far",
    tests: [{
      metric: "approx_kl",
      statistic: "first",
      relation: ">=",
      bound: ofHealthy("20 times the largest", { healthy: "high", times: 20 }),
    }],
    causes: { lr_high: LIKELY },
  },
  {
    tier: "reference",
    symptom: "the policy forgets how to write a call",
    tests: [{ metric: "malformed", statistic: "lastFour", relation: ">=", bound: FIVE_TIMES }],
    causes: { lr_high: LIKELY },
  },
  {
    tier: "reference",
    symptom: "gradients are too large from the start",
    tests: [{ metric: "grad_norm", statistic: "firstFour", relation: ">=", bound: TWICE }],
    causes: { mask_shift: POSSIBLE, lr_high: 0.1 },
  },
  {
    tier: "reference",
    symptom: "gradients are too small all run",
    tests: [{
      metric: "grad_norm",
      statistic: "largest",
      relation: "<=",
      bound: ofHealthy("half the smallest peak", { healthy: "low", times: 0.5 }),
    }],
    causes: { denominator: POSSIBLE },
  },
  {
    tier: "reference",
    symptom: "entropy falls ahead of the reward, and exploration ends",
    tests: [
      { metric: "entropy", statistic: "lastFour", relation: "<=", bound: HALF },
      {
        metric: "reads",
        statistic: "lastFour",
        relation: "<=",
        bound: { value: 0.1, from: "one episode in ten still reads" },
      },
      { metric: "malformed", statistic: "lastFour", relation: "<=", bound: FIVE_TIMES },
      { metric: "reward", statistic: "lastFour", relation: "<=", bound: HALF },
    ],
    causes: { entropy_sign: LIKELY, sampler_temp: POSSIBLE },
  },
  {
    tier: "reference",
    symptom: "failing episodes grow longer while the reward does not fall",
    tests: [
      {
        metric: "length_fail",
        statistic: "growth",
        relation: ">=",
        bound: { value: 1.5, from: "failures of ten healthy runs end at most 1.3 times as long" },
      },
      {
        metric: "reward",
        statistic: "growth",
        relation: ">=",
        bound: { value: 0.5, from: "a reward that falls to half has another cause" },
      },
    ],
    causes: { length_bias: LIKELY, accum_local: POSSIBLE },
  },
  {
    tier: "outcome",
    symptom: "the reward falls while the updates are of the usual size",
    tests: [
      {
        metric: "reward",
        statistic: "growth",
        relation: "<=",
        bound: { value: 0.7, from: "a fall by a third, several standard errors of four steps" },
      },
      {
        metric: "reward",
        statistic: "lastFour",
        relation: "<=",
        bound: ofHealthy("a third of the smallest", { healthy: "low", times: 0.3 }),
      },
      { metric: "approx_kl", statistic: "first", relation: "<=", bound: THREE_TIMES },
      { metric: "entropy", statistic: "lastFour", relation: ">=", bound: HALF },
    ],
    causes: { sign_flip: LIKELY },
  },
  {
    tier: "outcome",
    symptom: "the reward rises and the held-out pass rate does not",
    tests: [
      rewardRises,
      {
        metric: "eval_pass",
        statistic: "change",
        relation: "<=",
        bound: { value: 0, from: "an independent verifier sees no progress" },
      },
    ],
    causes: { public_reward: DECISIVE },
  },
  {
    tier: "outcome",
    symptom: "the reward rises with the share of a known exploit",
    tests: [
      rewardRises,
      {
        metric: "hardcode",
        statistic: "lastFour",
        relation: ">=",
        bound: { value: 0.5, from: "every second episode; healthy runs unlearn it" },
      },
    ],
    causes: { public_reward: DECISIVE },
  },
];

/** What speaks for bad luck once nothing fired: reading has not been discovered, so there is nothing to reward. */
export const UNLUCKY: readonly Test[] = [
  { metric: "reads", statistic: "lastFour", relation: "<=", bound: HALF },
  {
    metric: "reward",
    statistic: "lastFour",
    relation: "<=",
    bound: { healthy: "low", times: 0.75, from: "three quarters of the smallest healthy seed" },
  },
  { metric: "grad_norm", statistic: "largest", relation: "<=", bound: TWICE },
  { metric: "approx_kl", statistic: "first", relation: "<=", bound: THREE_TIMES },
];

/** Every metric that a rule reads. */
export const TRIAGE_METRICS: readonly MetricName[] = [
  ...new Set(
    [...RULES.flatMap(({ tests }) => tests), ...UNLUCKY].flatMap((test) =>
      "check" in test ? [] : test.per ? [test.metric, test.per] : [test.metric]
    ),
  ),
];
