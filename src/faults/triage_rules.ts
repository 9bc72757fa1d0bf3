/** The rules about the tiny agent's runs: symptom → tests → candidate causes, in order of cost: invariants, consistency, reference, outcome. */
import type { Shortfall, TriageRule } from "../diagnose/triage/knowledge.ts";
import type { MetricName } from "../rl/metrics.ts";
import type { FaultName } from "./faults.ts";
import { CHECK_RULES } from "./triage_check_rules.ts";
import { CONSISTENCY_RULES } from "./triage_consistency_rules.ts";
import { OUTCOME_RULES } from "./triage_outcome_rules.ts";
import { ofHealthy } from "./triage_vocabulary.ts";

/** The rules, in the order of the procedure. */
export const RULES: readonly TriageRule<FaultName, MetricName>[] = [
  ...CHECK_RULES,
  ...CONSISTENCY_RULES,
  ...OUTCOME_RULES,
];

/** What shows that a run has earned too little, where no rule says why. */
export const SHORTFALL: Shortfall<MetricName> = {
  symptom: "the run earns less than healthy runs of its setting",
  note:
    "No rule says what is wrong, yet the run earns less than every healthy run of its setting. A seed whose exploration has not paid off yet looks like this, and so does a fault that no check and no rule sees: train another seed, and suspect the " +
    "code where it falls short as well.",
  tests: [{
    metric: "reward",
    statistic: "lastFour",
    relation: "<=",
    bound: ofHealthy("three quarters of the smallest", { healthy: "low", times: 0.75 }),
  }],
};

/** Every metric that a rule reads. */
export const TRIAGE_METRICS: readonly MetricName[] = [
  ...new Set(
    [...RULES.flatMap(({ tests, unless = [] }) => [...tests, ...unless]), ...SHORTFALL.tests]
      .flatMap((test) => "check" in test ? [] : test.per ? [test.metric, test.per] : [test.metric]),
  ),
];
