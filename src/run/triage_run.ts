/** Triage of a run of ours by its files: metrics and the verdicts of its invariants. Its configuration, which names faults, is not read. */
import type { Finding } from "../diagnose/finding.ts";
import { triageFindings } from "../diagnose/findings/triage_findings.ts";
import type { RunMetrics } from "../diagnose/metric_series.ts";
import { triage, type TriageReport } from "../diagnose/triage/triage.ts";
import { triageMetrics } from "../faults/run_metrics.ts";
import { tinyAgentKnowledge } from "../faults/tiny_agent_knowledge.ts";
import { rowsOf } from "../files/journal.ts";
import { exists, isFolder } from "../files/paths.ts";
import { readChecks } from "./checks_file.ts";
import { runPaths } from "./run_directory.ts";

/** What is said of a run. */
export interface RunTriage {
  readonly metrics: RunMetrics;
  readonly report: TriageReport;
  /** The same as findings, with the verdicts of the invariants; next steps are data. */
  readonly findings: readonly Finding[];
}

/** The files of a run: a folder's metrics and verdicts, or one file of metrics. Nothing else is read. */
function runFiles(run: string): { readonly metrics: string; readonly checks: string | undefined } {
  if (!isFolder(run)) return { metrics: run, checks: undefined };
  const { metrics, checks } = runPaths(run);
  return { metrics, checks: exists(checks) ? checks : undefined };
}

/**
 * Triages a run against the pinned healthy ones.
 *
 * @param run Its folder, or its metrics.jsonl.
 * @throws {UserError} When a file cannot be read, or holds no metrics that a rule reads.
 */
export function triageRun(run: string): RunTriage {
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
  return { metrics, report, findings: triageFindings(report, { checks, notFinite }) };
}
