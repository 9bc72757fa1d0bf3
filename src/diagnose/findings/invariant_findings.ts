/** The verdicts of invariants as findings. */
import type { CheckResult } from "../invariant.ts";
import type { Finding, FindingClass } from "../finding.ts";
import { invariantKey } from "../invariant_list.ts";
import type { RecordedCheck } from "../triage/evaluate.ts";
import { say } from "./curve.ts";

const CLASSES = {
  violated: "violated",
  holds: "holds",
  "not-applicable": "not-applicable",
  "not-checkable": "not-checkable",
} as const satisfies Record<CheckResult["verdict"], FindingClass>;

const SAYS = {
  violated: "is violated",
  holds: "holds",
  "not-applicable": "does not apply",
  "not-checkable": "could not be checked",
} as const satisfies Record<CheckResult["verdict"], string>;

/** What is said where a file of an earlier version gives no reason. */
const WITHOUT_REASON = {
  "not-applicable": "the setting has nothing for it to compare",
  "not-checkable": "the record lacks what it needs",
} as const;

/**
 * Verdicts as findings; the id of each is its invariant's key.
 *
 * @param checks The verdicts, taken before the first step.
 * @returns One finding a verdict.
 */
export function invariantFindings(checks: readonly RecordedCheck[]): Finding[] {
  return checks.map(({ id, name, value, bound, verdict, relation = "", boundReason, reason }) => {
    const found = value === null ? "no number" : say(value);
    const isMeasured = verdict === "violated" || verdict === "holds";
    const numbers = isMeasured
      ? `${reason ?? "measured"}: ${found}, bound ${relation} ${say(bound)}`
      : reason ?? WITHOUT_REASON[verdict];
    return {
      id: invariantKey(id),
      class: CLASSES[verdict],
      ...(isMeasured
        ? { step: 0, value, bound, ...(boundReason ? { boundFrom: boundReason } : {}) }
        : {}),
      sentence: `The invariant "${name}" ${SAYS[verdict]} (${numbers}).`,
    };
  });
}
