/** The rules about the tiny agent's runs: symptom → tests → candidate causes, in order of cost: invariants, consistency, reference, outcome. */
import type { Bound, Luck, Needs, RuleTest, TriageRule } from "../diagnose/triage/knowledge.ts";
import type { FaultName } from "./faults.ts";
import type { MetricName } from "../rl/metrics.ts";

/** A test of ours. */
type Test = RuleTest<MetricName>;

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

const violated = (check: string): Test => ({ check, verdict: "violated" });
const holds = (check: string): Test => ({ check, verdict: "holds" });

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

/** Ranges of healthy runs say something of runs like them alone. */
const LIKE_THE_REFERENCE: Needs = { producers: ["agentrl"], algorithms: ["grpo"] };

/** The rules, in the order of the procedure. */
export const RULES: readonly TriageRule<FaultName, MetricName>[] = [
  {
    tier: "invariant",
    symptom: "the mask strays onto tokens that nobody sampled",
    tests: [violated("policy_mask"), violated("sampler_is_trainer")],
    causes: { mask_shift: NAMED, mask_end_call: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the mask leaves out tokens of the policy",
    tests: [violated("policy_mask"), holds("sampler_is_trainer")],
    causes: { mask_end_call: NAMED, mask_shift: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the sampler's log-probs are not the trainer's, and they serve as the old ones",
    tests: [
      holds("policy_mask"),
      violated("sampler_is_trainer"),
      violated("ratio_one_before_step"),
    ],
    causes: { sampler_temp: NAMED, sampler_logp_temp: POSSIBLE, stale_sampler: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the sampler's record is not the trainer's log-prob, and the ratio is right",
    tests: [holds("policy_mask"), violated("sampler_is_trainer"), holds("ratio_one_before_step")],
    causes: { sampler_logp_temp: NAMED, sampler_temp: POSSIBLE, stale_sampler: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the gradient depends on how the batch is cut, and the loss on padding",
    tests: [
      holds("policy_mask"),
      violated("padding_invariant"),
      violated("accumulated_is_one_pass"),
    ],
    causes: { denominator: NAMED, accum_local: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the gradient depends on how the batch is cut",
    tests: [holds("padding_invariant"), violated("accumulated_is_one_pass")],
    causes: { accum_local: NAMED, denominator: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the ratio stays 1 within an update",
    tests: [violated("old_logp_frozen")],
    causes: { stale_old_logp: NAMED },
  },
  {
    tier: "invariant",
    symptom: "an update makes good episodes less likely",
    tests: [violated("update_follows_advantage")],
    causes: { sign_flip: NAMED, group_shuffle: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the reference follows the policy",
    tests: [violated("reference_stays_behind")],
    causes: { ref_is_policy: NAMED },
  },
  {
    tier: "invariant",
    symptom: "without a signal, an update still moves the weights",
    tests: [violated("no_signal_no_change")],
    causes: { entropy_sign: NAMED },
  },
  {
    tier: "invariant",
    symptom: "episodes are compared with those of other problems",
    tests: [violated("own_group_advantages")],
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
    // In one step the ratio is 1 anyway, and nothing is clipped.
    needs: {
      settings: [{
        setting: "stepsPerUpdate",
        above: 1,
        words: "more than one optimizer step a batch",
      }],
    },
    asks: "old_logp_frozen",
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
    needs: { settings: [{ setting: "klCoef", above: 0, words: "a KL term in the loss" }] },
    asks: "reference_stays_behind",
    unless: NOTHING_MOVED,
    causes: { ref_is_policy: DECISIVE },
  },
  {
    tier: "reference",
    symptom: "the first update goes much too far",
    needs: LIKE_THE_REFERENCE,
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
    needs: LIKE_THE_REFERENCE,
    tests: [{ metric: "malformed", statistic: "lastFour", relation: ">=", bound: FIVE_TIMES }],
    causes: { lr_high: LIKELY },
  },
  {
    tier: "reference",
    symptom: "gradients are too large from the start",
    needs: LIKE_THE_REFERENCE,
    tests: [{ metric: "grad_norm", statistic: "firstFour", relation: ">=", bound: TWICE }],
    causes: { mask_shift: POSSIBLE, lr_high: 0.1 },
  },
  {
    tier: "reference",
    symptom: "gradients are too small all run",
    needs: LIKE_THE_REFERENCE,
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
    needs: LIKE_THE_REFERENCE,
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
    needs: LIKE_THE_REFERENCE,
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
export const UNLUCKY: Luck<MetricName> = {
  symptom: "exploration has not paid",
  needs: LIKE_THE_REFERENCE,
  note:
    "No fault was found: the policy has not discovered reading within these steps, so there was little to " +
    "reward. Run more steps or another seed before suspecting the code.",
  tests: [
    { metric: "reads", statistic: "lastFour", relation: "<=", bound: HALF },
    {
      metric: "reward",
      statistic: "lastFour",
      relation: "<=",
      bound: { healthy: "low", times: 0.75, from: "three quarters of the smallest healthy seed" },
    },
    { metric: "grad_norm", statistic: "largest", relation: "<=", bound: TWICE },
    { metric: "approx_kl", statistic: "first", relation: "<=", bound: THREE_TIMES },
  ],
};

/** Every metric that a rule reads. */
export const TRIAGE_METRICS: readonly MetricName[] = [
  ...new Set(
    [...RULES.flatMap(({ tests }) => tests), ...UNLUCKY.tests].flatMap((test) =>
      "check" in test ? [] : test.per ? [test.metric, test.per] : [test.metric]
    ),
  ),
];
