/** `agentrl triage`: what may be wrong with a run, by its metrics and the verdicts of its invariants. */
import { UserError } from "../../src/core/errors.ts";
import { HEALTHY_RUNS, healthyReference } from "../../src/faults/healthy_reference.ts";
import { triageMetrics } from "../../src/faults/run_metrics.ts";
import { type Cause, type Evidence, triage, type TriageReport } from "../../src/faults/triage.ts";
import { requireOutput } from "../../src/files/output.ts";
import { writeFileAtomic } from "../../src/files/atomic_file.ts";
import { readChecks } from "../../src/run/checks_file.ts";
import { rowsOf } from "../../src/files/journal.ts";
import { exists, isFolder, namesIn } from "../../src/files/paths.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { writeJson } from "../../src/files/json.ts";
import { measurementPage, measureTriage } from "../../src/run/triage_measure.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { nextCommand } from "../next_command.ts";

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

function describeReport(report: TriageReport, run: string): string {
  const { causes, note, notMeasured, evidence } = report;
  const shown = [...describeSymptoms(evidence), ...causes.flatMap(describeCause)];
  return [
    ...formatTable([["run", run], ["answer", note], ["compared", HEALTHY_RUNS]]),
    ...(shown.length > 0 ? ["", ...shown] : []),
    ...(notMeasured.length > 0
      ? ["", "Not measured:", ...notMeasured.map((symptom) => `  ${symptom}`)]
      : []),
  ].join("\n");
}

function triageRun(run: string): Outcome {
  const { metrics: file, checks } = runFiles(run);
  const { metrics, notFinite } = triageMetrics(rowsOf(file), { source: file });
  const report = triage({
    metrics,
    checks: checks === undefined ? undefined : readChecks(checks),
    notFinite,
    reference: healthyReference(),
    runFolder: file === run ? undefined : run,
  });
  const causes = report.causes.map((cause) => ({ ...cause, next: nextCommand(cause.next) }));
  return {
    document: { run, ...report, causes, comparedWith: HEALTHY_RUNS },
    text: describeReport(report, run),
  };
}

function measure(folder: string): Outcome {
  const outputs = [`${folder}/healthy_reference.json`, `${folder}/triage_confusion.md`];
  const inputs = namesIn(folder).filter((name) => /^faults-seed\d+$/.test(name));
  for (const output of outputs) {
    requireOutput(output, { inputs: inputs.map((name) => `${folder}/${name}`) });
  }
  const measurement = measureTriage(folder);
  const page = measurementPage(measurement);
  writeJson(outputs[0], measurement.reference);
  writeFileAtomic(outputs[1], page);
  const { withChecks, metricsOnly } = measurement;
  return { document: { withChecks, metricsOnly }, text: page };
}

/** The command `triage`. */
export const command = defineCommand({
  positionals: ["[RUN]"],
  flags: {
    measure: {
      kind: "string",
      help:
        "instead of a run: a folder with faults-seedS of `agentrl faults`; writes the confusion " +
        "matrix and the healthy reference of these runs into it",
    },
  },
  // deno-lint-ignore require-await -- Every command is asynchronous.
  async run({ measure: folder }, [run]) {
    if (folder !== undefined && run !== undefined) {
      throw new UserError("--measure looks at many runs: leave RUN out");
    }
    if (folder !== undefined) return measure(folder);
    if (run === undefined) {
      throw new UserError(
        "RUN is missing: a run's folder, or a JSONL file with a row of metrics a step",
      );
    }
    return triageRun(run);
  },
});
