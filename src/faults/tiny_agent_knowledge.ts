/** What triage knows of runs of this project: its faults, the rules about them, the pinned healthy runs. */
import type { HealthyReference } from "../diagnose/reference_runs.ts";
import { CHECK_AREAS } from "../diagnose/triage/areas.ts";
import type { TriageKnowledge } from "../diagnose/triage/knowledge.ts";
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
