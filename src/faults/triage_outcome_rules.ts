/** Triage by what runs come to: against pinned healthy runs, and by an outcome that the trainer does not compute itself. */
import type { TriageRule } from "../diagnose/triage/knowledge.ts";
import type { MetricName } from "../rl/metrics.ts";
import type { FaultName } from "./faults.ts";
import { CONSEQUENCE, counted, POSSIBLE, SETTING } from "./triage_beliefs.ts";
import {
  FIVE_TIMES,
  HALF,
  needs,
  ofHealthy,
  REWARD_RISES,
  THREE_TIMES,
  TWICE,
} from "./triage_vocabulary.ts";

/** Rules about ranges and outcomes: whatever makes a policy worse ends here, so they say little about the cause. */
export const OUTCOME_RULES: readonly TriageRule<FaultName, MetricName>[] = [
  {
    tier: "reference",
    symptom: "the first update goes much too far",
    tests: [{
      metric: "approx_kl",
      statistic: "first",
      relation: ">=",
      bound: ofHealthy("20 times the largest", { healthy: "high", times: 20 }),
    }],
    causes: { lr_high: SETTING },
  },
  {
    tier: "reference",
    symptom: "the policy forgets how to write a call",
    tests: [{ metric: "malformed", statistic: "lastFour", relation: ">=", bound: FIVE_TIMES }],
    causes: { lr_high: CONSEQUENCE },
  },
  {
    tier: "reference",
    symptom: "gradients are too large from the start",
    tests: [{ metric: "grad_norm", statistic: "firstFour", relation: ">=", bound: TWICE }],
    causes: { mask_shift: POSSIBLE, lr_high: 0.1 },
  },
  {
    tier: "reference",
    symptom: "gradients are too small throughout",
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
    causes: { entropy_sign: CONSEQUENCE, sampler_temp: POSSIBLE },
  },
  {
    tier: "reference",
    symptom: "failing episodes grow longer while the reward does not fall",
    needs: needs(
      "aggregation",
      "seq_mean_token_mean",
      "a mean within each episode first (aggregation seq_mean_token_mean)",
    ),
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
    // Of three right runs with this aggregation and room for six turns, two show it as well.
    causes: { length_bias: counted({ right: 0, wrong: 2 }), accum_local: POSSIBLE },
  },
  {
    tier: "outcome",
    symptom: "the reward falls while the updates are of the usual size",
    tests: [
      {
        metric: "reward",
        statistic: "growth",
        relation: "<=",
        bound: { value: 0.7, from: "a fall of a third, several standard errors of four steps" },
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
    causes: { sign_flip: CONSEQUENCE },
  },
  {
    tier: "outcome",
    symptom: "the reward rises and the held-out pass rate does not",
    needs: needs("reward", "public", "a reward from the public tests"),
    tests: [
      REWARD_RISES,
      {
        metric: "eval_pass",
        statistic: "change",
        relation: "<=",
        bound: { value: 0, from: "an independent verifier sees no progress" },
      },
    ],
    causes: { public_reward: SETTING },
  },
  {
    tier: "outcome",
    symptom: "the reward rises with the share of a known exploit",
    tests: [
      REWARD_RISES,
      {
        metric: "hardcode",
        statistic: "lastFour",
        relation: ">=",
        bound: { value: 0.5, from: "every second episode; healthy runs unlearn it" },
      },
    ],
    causes: { public_reward: SETTING },
  },
];
