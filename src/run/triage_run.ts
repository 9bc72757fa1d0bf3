/**
 * Triage of a run of ours by its files: metrics, the verdicts of its invariants, and what its configuration tells of its setting.
 * The fault that a configuration may name is not read.
 */
import type { Finding } from "../diagnose/finding.ts";
import { triageFindings } from "../diagnose/findings/triage_findings.ts";
import type { RunMetrics } from "../diagnose/metric_series.ts";
import type { TriageKnowledge } from "../diagnose/triage/knowledge.ts";
import { triage, type TriageInput, type TriageReport } from "../diagnose/triage/triage.ts";
import { triageMetrics } from "../faults/run_metrics.ts";
import { environmentKnowledge, tinyAgentKnowledge } from "../faults/tiny_agent_knowledge.ts";
import { rowsOf } from "../files/journal.ts";
import { exists, isFolder } from "../files/paths.ts";
import { readChecks } from "./checks_file.ts";
import { readLaterChecks } from "./later_checks_file.ts";
import { runPaths } from "./run_directory.ts";
import type { KnownBases } from "../faults/run_facts.ts";
import { readFacts } from "./triage_facts.ts";

/** What is said of a run. */
export interface RunTriage {
  readonly metrics: RunMetrics;
  readonly report: TriageReport;
  /** The same as findings, with the verdicts of the invariants; next steps are data. */
  readonly findings: readonly Finding[];
}

/** What its folder tells of a run beside its metrics; of a file of metrics nobody tells more. */
function besideMetrics(
  run: string,
  known: KnownBases,
): Pick<TriageInput, "checks" | "laterChecks" | "algorithm" | "settings" | "runFolder"> {
  const { checks, laterChecks, config } = runPaths(run);
  return {
    ...readFacts(config, { known }),
    checks: exists(checks) ? readChecks(checks) : undefined,
    laterChecks: exists(laterChecks) ? readLaterChecks(laterChecks) : undefined,
    runFolder: run,
  };
}

/**
 * What triage is told of a run.
 *
 * @param run Its folder, or its metrics.jsonl.
 * @param options.known Base agents by the SHA-256 of their weights, beside those of the debugging runs.
 * @throws {UserError} When a file cannot be read, or holds no metrics that a rule reads.
 */
export function triageInput(
  run: string,
  { known = new Map() }: { readonly known?: KnownBases } = {},
): TriageInput {
  const file = isFolder(run) ? runPaths(run).metrics : run;
  return {
    ...triageMetrics(rowsOf(file), { source: file }),
    ...(file === run ? {} : besideMetrics(run, known)),
    producer: "agentrl",
  };
}

/**
 * Triages a run.
 *
 * @param run Its folder, or its metrics.jsonl.
 * @param knowledge What is known (default: of the tiny agent, with the healthy runs that ship where it trains in the gym that ships).
 * @throws {UserError} When a file cannot be read, or holds no metrics that a rule reads.
 */
export function triageRun(
  run: string,
  knowledge?: TriageKnowledge,
): RunTriage {
  const input = triageInput(run);
  knowledge ??= input.settings?.environment === undefined
    ? tinyAgentKnowledge()
    : environmentKnowledge();
  const report = triage(input, knowledge);
  return { metrics: input.metrics, report, findings: triageFindings(report, input) };
}
