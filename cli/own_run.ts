/** What triage says of a run of ours, for a terminal and as a document. */
import { withDigits } from "../src/core/digits.ts";
import { wrapText } from "../src/core/wrap_text.ts";
import { sayFinding, speakAgainst } from "../src/diagnose/finding.ts";
import type { Evidence, Unchecked } from "../src/diagnose/triage/evaluate.ts";
import type { Cause, TriageReport } from "../src/diagnose/triage/triage.ts";
import { terminalColumns } from "../src/files/terminal.ts";
import { HEALTHY_RUNS } from "../src/faults/healthy_reference.ts";
import { triageRun } from "../src/run/triage_run.ts";
import type { Outcome } from "./command.ts";
import { formatTable } from "./flags.ts";
import { COMMAND_WORDS, nextCommand } from "./next_command.ts";

/** A text in the terminal's columns, behind blanks. */
function wrapped(text: string, indent: number): string[] {
  return wrapText(text, { columns: terminalColumns(), indent, hanging: indent + 2 });
}

function describeEvidence(evidence: Evidence): string[] {
  const { metric, statistic, step, value, relation, bound, boundFrom } = evidence;
  const number = (n: number | null) => n === null ? "no number" : withDigits(n, 4);
  return [
    ...wrapped(
      bound === null
        ? `${metric} is ${statistic} in step ${step}`
        : `${metric} (${statistic}, step ${step}) is ${number(value)}; ` +
          `bound ${relation} ${number(bound)}`,
      7,
    ),
    ...(boundFrom === "" ? [] : wrapped(`(${boundFrom})`, 9)),
  ];
}

/** Evidence under its symptom. */
function describeSymptoms(evidence: readonly Evidence[]): string[] {
  return evidence.flatMap((item, index) => [
    ...(item.symptom === evidence[index - 1]?.symptom ? [] : wrapped(`${item.symptom}:`, 5)),
    ...describeEvidence(item),
  ]);
}

function describeCause({ fault, score, evidence, next }: Cause, index: number): string[] {
  return [
    `  ${index + 1}. ${fault}, score ${score.toFixed(2)}`,
    ...describeSymptoms(evidence),
    // A command stands on a line, however long, so that it can be copied.
    `     next: ${nextCommand(next)}`,
  ];
}

const UNCHECKED = {
  "not-checkable": "Not checkable, since the record lacks what it needs",
  "not-applicable": "Not applicable in this setting",
} as const satisfies Record<Unchecked, string>;

/** The belief that the cause is none of those that are named. */
function describeUnknown({ causes, unknown }: TriageReport): string[] {
  if (unknown === 0) return [];
  const words = causes.length === 0 ? "an unknown cause" : "none of these";
  return [`  ${words}, score ${unknown.toFixed(2)}`];
}

/** The healthy runs that a run is compared with, or why it is not. */
function comparison({ notCompared }: TriageReport): string {
  if (notCompared.length === 0) return HEALTHY_RUNS;
  return `with no healthy runs: the pinned ones need ${notCompared.join(", ")}`;
}

function describeReport(report: TriageReport, run: string): string {
  const { causes, note, evidence } = report;
  const shown = [
    ...describeSymptoms(evidence),
    ...causes.flatMap(describeCause),
    ...describeUnknown(report),
  ];
  return [
    ...formatTable([["run", run], ["answer", note], ["compared", comparison(report)]]),
    ...(shown.length > 0 ? ["", ...shown] : []),
    ...Object.entries(UNCHECKED).flatMap(([verdict, title]) => {
      const symptoms = report.unchecked.filter((one) => one.verdict === verdict);
      return symptoms.length === 0 ? [] : [
        "",
        ...wrapped(`${title}:`, 0),
        ...symptoms.flatMap(({ symptom, needs }) =>
          wrapped(`${symptom} (needs ${needs.join(", ")})`, 2)
        ),
      ];
    }),
  ].join("\n");
}

/**
 * Triages a run of ours.
 *
 * @param run Its folder, or its metrics.jsonl.
 * @param options.strict Whether suspects also make the exit code 3.
 * @returns Conclusion and causes, and both with the verdicts of the invariants as findings.
 */
export function triageOwnRun(run: string, { strict }: { readonly strict: boolean }): Outcome {
  const { metrics: { rowCount, series }, report, findings: found } = triageRun(run);
  const findings = found.map((finding) => sayFinding(finding, COMMAND_WORDS));
  return {
    document: {
      run,
      source: {
        path: run,
        form: "jsonl",
        producer: "agentrl",
        era: null,
        rows: rowCount,
        steps: rowCount,
        understood: [...series.keys()],
        ignored: [],
      },
      ...report,
      causes: report.causes.map((cause) => ({ ...cause, next: nextCommand(cause.next) })),
      comparedWith: report.notCompared.length === 0 ? HEALTHY_RUNS : null,
      findings,
    },
    text: describeReport(report, run),
    emphasis: [{ pattern: /^ {2}\d+\. \w+/gm, style: "red" }],
    ...(speakAgainst(findings, { strict }) ? { exitCode: 3 } : {}),
  };
}
