/** What triage says of a run as findings: numbers that are not finite, violated invariants, causes, the other verdicts. */
import type { Finding } from "../finding.ts";
import type { RecordedCheck } from "../triage/evaluate.ts";
import type { Cause, NotFinite, TriageReport } from "../triage/triage.ts";
import { invariantFindings } from "./invariant_findings.ts";

/** A cause as a finding: its first evidence speaks for it. */
function causeFinding({ fault, score, evidence, next }: Cause): Finding {
  const [first] = evidence;
  return {
    id: fault,
    class: "suspect",
    ...(first
      ? {
        metric: first.metric,
        key: first.metric,
        step: first.step,
        value: first.value,
        ...(first.bound === null ? {} : { bound: first.bound, boundFrom: first.boundFrom }),
      }
      : {}),
    sentence: `${[...new Set(evidence.map(({ symptom }) => symptom))].join("; ")} (belief ${
      score.toFixed(2)
    }).`,
    act: next,
  };
}

/** The first number of a run that was not finite; later ones follow from it. */
function notFiniteFinding(notFinite: readonly NotFinite[]): Finding[] {
  const [first] = notFinite;
  if (!first) return [];
  const others = new Set(notFinite.map(({ metric }) => metric)).size - 1;
  return [{
    id: "non_finite",
    class: "violated",
    metric: first.metric,
    key: first.metric,
    step: first.step,
    value: null,
    boundFrom: "finite weights on finite inputs give finite numbers",
    sentence: `${first.metric} is NaN or infinite at step ${first.step}, the first to be so${
      others === 0 ? "" : `; ${others} more metrics follow`
    }.`,
  }];
}

/** What no cause explains, and a run that earns too little: the conclusion itself is the finding. */
function conclusionFinding(report: TriageReport): Finding[] {
  const { conclusion, note, evidence } = report;
  if (conclusion !== "unknown-cause" && conclusion !== "falls-short") return [];
  const [first] = evidence;
  return [{
    id: conclusion.replace("-", "_"),
    class: conclusion === "unknown-cause" ? "suspect" : "note",
    ...(first && { metric: first.metric, step: first.step, value: first.value }),
    sentence: `${[...new Set(evidence.map(({ symptom }) => symptom))].join("; ")}.`,
    next: note,
  }];
}

/**
 * The findings about a run of whose trainer the invariants may be known.
 *
 * @param report What triage says of it.
 * @param run The verdicts of its invariants and its numbers that were not finite.
 * @returns The gravest first.
 */
export function triageFindings(
  report: TriageReport,
  { checks = [], notFinite = [] }: {
    readonly checks?: readonly RecordedCheck[] | undefined;
    readonly notFinite?: readonly NotFinite[];
  },
): Finding[] {
  const verdicts = invariantFindings(checks);
  return [
    ...notFiniteFinding(notFinite),
    ...verdicts.filter((finding) => finding.class === "violated"),
    ...conclusionFinding(report),
    ...report.causes.map(causeFinding),
    ...verdicts.filter((finding) => finding.class !== "violated"),
  ];
}
