/** Triage by the verdicts of the invariants: the cheapest symptoms, and the ones that say most. */
import type { TriageRule } from "../diagnose/triage/knowledge.ts";
import type { MetricName } from "../rl/metrics.ts";
import type { FaultName } from "./faults.ts";
import { counted, countedChecks, POSSIBLE, UNCOUNTED_CHECKS } from "./triage_beliefs.ts";
import { HALF, holds, violated, violatedLater } from "./triage_vocabulary.ts";

/**
 * Rules about invariants. A violated one that no rule names is listed all the same, with what it tests; so a rule is worth its
 * place only where the verdicts point to one fault of the catalogue.
 */
export const CHECK_RULES: readonly TriageRule<FaultName, MetricName>[] = [
  {
    tier: "invariant",
    symptom: "the mask strays onto tokens that nobody sampled",
    tests: [violated("policy_mask"), violated("sampler_is_trainer")],
    causes: { mask_shift: countedChecks({ right: 2, wrong: 0 }) },
  },
  {
    tier: "invariant",
    symptom: "the mask leaves out tokens of the policy",
    tests: [violated("policy_mask"), holds("sampler_is_trainer")],
    causes: { mask_end_call: countedChecks({ right: 4, wrong: 0 }), mask_shift: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the sampler's log-probs are not the trainer's, and they serve as the old ones",
    tests: [
      holds("policy_mask"),
      violated("sampler_is_trainer"),
      violated("ratio_one_before_step"),
    ],
    causes: { sampler_temp: countedChecks({ right: 3, wrong: 0 }), sampler_logp_temp: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the sampler draws as the trainer would, and records and old log-probs are off",
    tests: [
      violated("sampler_is_trainer"),
      violated("ratio_one_before_step"),
      holds("sampled_as_said"),
    ],
    causes: { sampler_logp_temp: countedChecks({ right: 1, wrong: 0 }) },
  },
  {
    tier: "invariant",
    symptom: "the sampler's record is not the trainer's log-prob, and the ratio is right",
    tests: [holds("policy_mask"), violated("sampler_is_trainer"), holds("ratio_one_before_step")],
    causes: { sampler_logp_temp: UNCOUNTED_CHECKS, sampler_temp: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the gradient depends on how the batch is cut, and the loss on padding",
    tests: [
      holds("policy_mask"),
      violated("padding_invariant"),
      violated("accumulated_is_one_pass"),
    ],
    causes: { denominator: UNCOUNTED_CHECKS, accum_local: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the gradient depends on how the batch is cut",
    tests: [holds("padding_invariant"), violated("accumulated_is_one_pass")],
    causes: { accum_local: countedChecks({ right: 1, wrong: 0 }), denominator: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the ratio stays 1 within an update",
    tests: [violated("old_logp_frozen")],
    causes: { stale_old_logp: UNCOUNTED_CHECKS },
  },
  {
    tier: "invariant",
    symptom:
      "an update makes good episodes less likely, and advantages are off by twice their size",
    tests: [violated("update_follows_advantage"), violated("advantage_of_episode", 2)],
    causes: { sign_flip: UNCOUNTED_CHECKS },
  },
  {
    tier: "invariant",
    symptom: "an update makes good episodes less likely",
    tests: [violated("update_follows_advantage")],
    // Advantages of another sign are among those that are off in any way.
    unless: [violated("advantage_of_episode")],
    // Counted without the checks from 12 on, which tell most of these apart.
    causes: { sign_flip: counted({ right: 2, wrong: 3 }), group_shuffle: POSSIBLE },
  },
  {
    tier: "invariant",
    symptom: "the reference follows the policy",
    tests: [violated("reference_stays_behind")],
    causes: { ref_is_policy: countedChecks({ right: 1, wrong: 0 }) },
  },
  {
    tier: "invariant",
    symptom: "without a signal, an update still moves the weights, and entropy falls away",
    tests: [
      violated("no_signal_no_change"),
      { metric: "entropy", statistic: "lastFour", relation: "<=", bound: HALF },
    ],
    causes: { entropy_sign: UNCOUNTED_CHECKS },
  },
  {
    tier: "invariant",
    symptom: "without a signal, an update still moves the weights",
    tests: [violated("no_signal_no_change")],
    causes: { entropy_sign: countedChecks({ right: 1, wrong: 0 }) },
  },
  {
    tier: "invariant",
    symptom: "the entropy bonus pulls with its full size but the wrong sign",
    needs: {
      settings: [
        { setting: "entropyCoef", above: 0, words: "an entropy bonus in the loss" },
        { setting: "klCoef", is: 0, words: "no term besides the surrogate" },
      ],
    },
    // Of a term that is negated, the error is twice the term.
    tests: [violated("term_directions", 2), holds("no_signal_no_change")],
    causes: { entropy_sign: countedChecks({ right: 2, wrong: 0 }) },
  },
  {
    tier: "invariant",
    symptom: "episodes are compared with those of other problems",
    tests: [violated("own_group_advantages")],
    causes: { group_shuffle: UNCOUNTED_CHECKS },
  },
  {
    tier: "invariant",
    symptom: "sampler and trainer agree before the first step and disagree at a later one",
    tests: [holds("sampler_is_trainer"), violatedLater("sampler_is_trainer")],
    causes: { stale_sampler: countedChecks({ right: 3, wrong: 0 }) },
  },
];
