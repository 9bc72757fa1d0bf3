/** The verdicts of invariants as findings. */
import type { CheckResult } from "../invariant.ts";
import type { Finding, FindingClass } from "../finding.ts";
import { invariantKey } from "../invariant_list.ts";
import type { RecordedCheck } from "../triage/evaluate.ts";
import { say } from "./curve.ts";

const CLASSES = {
  violated: "violated",
  holds: "holds",
  "not-applicable": "not-checkable",
  "not-checkable": "not-checkable",
} as const satisfies Record<CheckResult["verdict"], FindingClass>;

/**
 * Verdicts as findings; the id of each is its invariant's key.
 *
 * @param checks The verdicts, taken before the first step.
 * @returns One finding a verdict.
 */
export function invariantFindings(checks: readonly RecordedCheck[]): Finding[] {
  return checks.map(({ id, name, value, bound, verdict, relation = "", boundReason, reason }) => {
    const found = value === null ? "no number" : say(value);
    const numbers = verdict === "not-applicable"
      ? reason ?? "it does not apply"
      : `${reason ?? "measured"}: ${found}, bound ${relation} ${say(bound)}`;
    return {
      id: invariantKey(id),
      class: CLASSES[verdict],
      ...(verdict === "not-applicable" ? {} : {
        step: 0,
        value,
        bound,
        ...(boundReason ? { boundFrom: boundReason } : {}),
      }),
      sentence: verdict === "violated"
        ? `The invariant "${name}" is violated (${numbers}).`
        : verdict === "holds"
        ? `The invariant "${name}" holds (${numbers}).`
        : `The invariant "${name}" could not be checked: ${numbers}.`,
    };
  });
}
