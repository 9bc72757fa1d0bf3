/** Triage of our own runs: by their metrics and the verdicts of their invariants, against the pinned healthy runs. */
import type { Finding } from "../src/diagnose/finding.ts";
import { invariantFindings } from "../src/diagnose/findings/invariant_findings.ts";
import type { Evidence, Unchecked } from "../src/diagnose/triage/evaluate.ts";
import {
  type Cause,
  type NotFinite,
  triage,
  type TriageReport,
} from "../src/diagnose/triage/triage.ts";
import { HEALTHY_RUNS } from "../src/faults/healthy_reference.ts";
import { triageMetrics } from "../src/faults/run_metrics.ts";
import { tinyAgentKnowledge } from "../src/faults/tiny_agent_knowledge.ts";
import { rowsOf } from "../src/files/journal.ts";
import { exists, isFolder } from "../src/files/paths.ts";
import { readChecks } from "../src/run/checks_file.ts";
import { runPaths } from "../src/run/run_directory.ts";
import type { Outcome } from "./command.ts";
import { formatTable } from "./flags.ts";
import { nextCommand } from "./next_command.ts";

/** The files of a run: a folder's metrics and verdicts, or one file of metrics. Nothing else is read. */
function runFiles(run: string): { readonly metrics: string; readonly checks: string | undefined } {
  if (!isFolder(run)) return { metrics: run, checks: undefined };
  const { metrics, checks } = runPaths(run);
  return { metrics, checks: exists(checks) ? checks : undefined };
}

function describeEvidence(evidence: Evidence): string[] {
  const { metric, statistic, step, value, relation, bound, boundFrom } = evidence;
  const number = (n: number | null) => n === null ? "no number" : String(Number(n.toPrecision(4)));
  return [
    bound === null
      ? `       ${metric} is ${statistic} in step ${step}`
      : `       ${metric} (${statistic}, step ${step}) is ${number(value)}; ` +
        `bound ${relation} ${number(bound)}`,
    ...(boundFrom === "" ? [] : [`         (${boundFrom})`]),
  ];
}

/** Evidence under its symptom. */
function describeSymptoms(evidence: readonly Evidence[]): string[] {
  return evidence.flatMap((item, index) => [
    ...(item.symptom === evidence[index - 1]?.symptom ? [] : [`     ${item.symptom}:`]),
    ...describeEvidence(item),
  ]);
}

function describeCause({ fault, score, evidence, next }: Cause, index: number): string[] {
  return [
    `  ${index + 1}. ${fault}, score ${score.toFixed(2)}`,
    ...describeSymptoms(evidence),
    `     next: ${nextCommand(next)}`,
  ];
}

const UNCHECKED = {
  "not-checkable": "Not checkable, since the record lacks what it needs",
  "not-applicable": "Not applicable, since the setting has none of it",
} as const satisfies Record<Unchecked, string>;

function describeReport(report: TriageReport, run: string): string {
  const { causes, note, evidence } = report;
  const shown = [...describeSymptoms(evidence), ...causes.flatMap(describeCause)];
  return [
    ...formatTable([["run", run], ["answer", note], ["compared", HEALTHY_RUNS]]),
    ...(shown.length > 0 ? ["", ...shown] : []),
    ...Object.entries(UNCHECKED).flatMap(([verdict, title]) => {
      const symptoms = report.unchecked.filter((one) => one.verdict === verdict);
      return symptoms.length === 0 ? [] : [
        "",
        `${title}:`,
        ...symptoms.map(({ symptom, needs }) => `  ${symptom} (needs ${needs.join(", ")})`),
      ];
    }),
  ].join("\n");
}

/** A suspected failure as a finding: its first evidence speaks for it. */
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
    next: nextCommand(next),
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

/**
 * Triages a run of ours.
 *
 * @param run Its folder, or its metrics.jsonl.
 * @param options.strict Whether suspects, too, make the exit code 3.
 * @returns Conclusion and causes, and both with the verdicts of the invariants as findings.
 */
export function triageOwnRun(run: string, { strict }: { readonly strict: boolean }): Outcome {
  const { metrics: file, checks: checksFile } = runFiles(run);
  const { metrics, notFinite } = triageMetrics(rowsOf(file), { source: file });
  const checks = checksFile === undefined ? undefined : readChecks(checksFile);
  const report = triage({
    metrics,
    checks,
    notFinite,
    producer: "agentrl",
    runFolder: file === run ? undefined : run,
  }, tinyAgentKnowledge());
  const verdicts = invariantFindings(checks ?? []);
  const findings = [
    ...notFiniteFinding(notFinite),
    ...verdicts.filter((finding) => finding.class === "violated"),
    ...report.causes.map(causeFinding),
    ...verdicts.filter((finding) => finding.class !== "violated"),
  ];
  const { rowCount, series } = metrics;
  const isBad = findings.some((finding) =>
    finding.class === "violated" || (strict && finding.class === "suspect")
  );
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
      comparedWith: HEALTHY_RUNS,
      findings,
    },
    text: describeReport(report, run),
    ...(isBad ? { exitCode: 3 } : {}),
  };
}
