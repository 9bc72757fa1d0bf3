/** Triage by the metrics that have a fixed value in a correct trainer: two computations of one thing, or a definition. */
import type { TriageRule } from "../diagnose/triage/knowledge.ts";
import type { MetricName } from "../rl/metrics.ts";
import type { FaultName } from "./faults.ts";
import { counted, POSSIBLE, SETTING, UNCOUNTED } from "./triage_beliefs.ts";
import {
  EXACT,
  GAP_NOISE,
  gapAtFirst,
  KL_EXACT,
  needsAbove,
  NOTHING_MOVED,
  ratioAtFirst,
  SURPRISE,
} from "./triage_vocabulary.ts";

/** Rules about consistency metrics. */
export const CONSISTENCY_RULES: readonly TriageRule<FaultName, MetricName>[] = [
  {
    tier: "consistency",
    symptom: "the loss trains on tokens that nobody sampled",
    tests: [gapAtFirst(">=", SURPRISE)],
    causes: { mask_shift: counted({ right: 1, wrong: 0 }) },
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
    causes: { mask_end_call: counted({ right: 4, wrong: 0 }), mask_shift: POSSIBLE },
  },
  {
    tier: "consistency",
    symptom: "the loss trains on more tokens than the policy wrote",
    tests: [{
      metric: "loss_tokens",
      per: "length",
      statistic: "largest",
      relation: ">=",
      bound: { value: 1.001, from: "1 in a correct trainer: both count the same tokens" },
    }],
    causes: {},
  },
  {
    tier: "consistency",
    symptom: "sampler and trainer disagree from the first step, and the ratio is off with them",
    tests: [
      gapAtFirst(">=", GAP_NOISE),
      gapAtFirst("<=", SURPRISE),
      ratioAtFirst(">="),
    ],
    causes: { sampler_temp: counted({ right: 0, wrong: 1 }), sampler_logp_temp: POSSIBLE },
  },
  {
    tier: "consistency",
    symptom: "sampler and trainer disagree from the first step, and the ratio is right",
    tests: [
      gapAtFirst(">=", GAP_NOISE),
      gapAtFirst("<=", SURPRISE),
      ratioAtFirst("<="),
    ],
    causes: { sampler_logp_temp: counted({ right: 4, wrong: 0 }), sampler_temp: POSSIBLE },
  },
  {
    tier: "consistency",
    symptom: "sampler and trainer disagree from the first step",
    tests: [gapAtFirst(">=", GAP_NOISE), gapAtFirst("<=", SURPRISE)],
    // Then the rule above knows more.
    unless: [ratioAtFirst("<=")],
    causes: { sampler_temp: counted({ right: 4, wrong: 1 }), sampler_logp_temp: POSSIBLE },
  },
  {
    tier: "consistency",
    symptom: "sampler and trainer agree in the first step and then drift apart",
    tests: [
      gapAtFirst("<=", GAP_NOISE),
      { metric: "logp_gap", statistic: "laterLargest", relation: ">=", bound: GAP_NOISE },
    ],
    causes: { stale_sampler: counted({ right: 3, wrong: 0 }) },
  },
  {
    tier: "consistency",
    symptom: "nothing is ever clipped and the ratio is exactly 1 throughout",
    tests: [
      { metric: "clip_frac", statistic: "largest", relation: "<=", bound: EXACT },
      { metric: "ratio_max", statistic: "distanceFromOne", relation: "<=", bound: EXACT },
      { metric: "approx_kl", statistic: "laterLargest", relation: "<=", bound: KL_EXACT },
    ],
    // In one step the ratio is 1 anyway, and nothing is clipped.
    needs: needsAbove("stepsPerUpdate", 1, "more than one optimizer step per batch"),
    asks: "old_logp_frozen",
    unless: NOTHING_MOVED,
    causes: { stale_old_logp: counted({ right: 0, wrong: 2 }) },
  },
  {
    tier: "consistency",
    symptom: "the KL to the reference is exactly 0 throughout",
    tests: [
      // In the first step it may be 0: nothing has moved before its first minibatch.
      { metric: "kl_ref", statistic: "laterLargest", relation: "<=", bound: KL_EXACT },
    ],
    needs: needsAbove("klCoef", 0, "a KL term in the loss"),
    asks: "reference_stays_behind",
    unless: NOTHING_MOVED,
    causes: { ref_is_policy: UNCOUNTED },
  },
  {
    tier: "consistency",
    symptom: "the policy is far from the reference before it has moved",
    tests: [
      {
        metric: "kl_ref",
        per: "approx_kl",
        statistic: "first",
        relation: ">=",
        bound: { value: 10, from: "about 1: the reference starts out equal to the policy" },
      },
      {
        metric: "approx_kl",
        statistic: "first",
        relation: ">=",
        bound: { value: 1e-6, from: "far above rounding, so the policy has moved" },
      },
      {
        metric: "approx_kl",
        statistic: "first",
        relation: "<=",
        bound: { value: 0.1, from: "small enough for both directions of the divergence to agree" },
      },
    ],
    needs: needsAbove("klCoef", 0, "a KL term in the loss"),
    causes: {},
  },
  {
    tier: "consistency",
    symptom: "what is rewarded is not what passes the hidden tests",
    tests: [{
      metric: "reward",
      per: "pass_rate",
      statistic: "distanceFromOne",
      relation: ">=",
      bound: { value: 1e-4, from: "an episode that passes earns 1, any other 0" },
    }],
    causes: { public_reward: SETTING },
  },
];
