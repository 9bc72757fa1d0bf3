/** What triage knows of runs of this project: its faults, the rules about them, the pinned healthy runs. */
import type { HealthyReference } from "../diagnose/reference_runs.ts";
import { CHECK_AREAS } from "../diagnose/triage/areas.ts";
import type { TriageKnowledge, TriageRule } from "../diagnose/triage/knowledge.ts";
import { BUGFIX_NAME } from "../gym/environment_definition.ts";
import { healthyReference, LIKE_THE_HEALTHY_RUNS } from "./healthy_reference.ts";
import { CAUSES } from "./triage_causes.ts";
import { RULES, SHORTFALL } from "./triage_rules.ts";

/**
 * The knowledge to triage a run of the tiny agent with.
 *
 * @param reference The healthy runs to compare with (default: those that ship).
 */
export function tinyAgentKnowledge(
  reference: HealthyReference = healthyReference(),
): TriageKnowledge {
  return {
    rules: RULES,
    causes: CAUSES,
    shortfall: SHORTFALL,
    areas: CHECK_AREAS,
    reference,
    referenceNeeds: LIKE_THE_HEALTHY_RUNS,
  };
}

/** Metrics that the gym that ships has, or that mean something else in an environment: a reward may be graded there. */
const GYM_METRICS: readonly string[] = [
  ...["reads", "tests", "edits", "hardcode", "submitted"],
  "pass_rate",
];

/** Settings that only the gym that ships has. */
const GYM_SETTINGS: readonly string[] = ["preset", "reward", "maxTurns"];

/** True of a rule that speaks of any environment: it needs nothing of the gym and compares with no run in it. */
function isOfAnyEnvironment({ tests, unless = [], needs }: TriageRule): boolean {
  if (needs?.settings?.some(({ setting }) => GYM_SETTINGS.includes(setting))) return false;
  return [...tests, ...unless].every((test) =>
    "check" in test ||
    !("healthy" in test.bound) && !GYM_METRICS.includes(test.metric) &&
      !(test.per !== undefined && GYM_METRICS.includes(test.per))
  );
}

/**
 * What triage knows of runs in an environment of a user's: the rules that speak of any environment. No healthy run of it
 * ships, so that nothing is compared.
 */
export function environmentKnowledge(): TriageKnowledge {
  const { shortfall: _, ...knowledge } = tinyAgentKnowledge();
  const setting = { setting: "environment", is: BUGFIX_NAME, words: "the gym that ships" };
  return {
    ...knowledge,
    rules: knowledge.rules.filter(isOfAnyEnvironment),
    reference: [],
    referenceNeeds: { settings: [setting] },
  };
}
