/** What triage says of a run of ours, for a terminal and as a document. */
import { withDigits } from "../src/core/digits.ts";
import { wrapText } from "../src/core/wrap_text.ts";
import { type SaidFinding, sayFinding, speakAgainst } from "../src/diagnose/finding.ts";
import { say } from "../src/diagnose/findings/curve.ts";
import { statisticWords } from "../src/diagnose/metric_series.ts";
import type { Evidence, Unchecked } from "../src/diagnose/triage/evaluate.ts";
import type { Cause, TriageReport } from "../src/diagnose/triage/triage.ts";
import { infoOf, isFolder } from "../src/files/paths.ts";
import { MAX_JUDGED_BYTES } from "../src/files/own_run.ts";
import { formatBytes } from "../src/files/read_file.ts";
import { terminalColumns } from "../src/files/terminal.ts";
import { HEALTHY_RUNS } from "../src/faults/healthy_reference.ts";
import { runPaths } from "../src/run/run_directory.ts";
import { triageRun } from "../src/run/triage_run.ts";
import type { Outcome } from "./command.ts";
import { formatTable } from "./flags.ts";
import { findingsText } from "./findings_text.ts";
import { COMMAND_WORDS, nextCommand, path } from "./next_command.ts";
import {
  type DumpFlags,
  dumpSourceDocument,
  dumpSubject,
  type JudgedDump,
  judgeDump,
} from "./read_dump.ts";
import { agentrlCommand } from "./words.ts";

function isGrave({ class: kind }: SaidFinding): boolean {
  return kind === "violated" || kind === "suspect";
}

/** A text in the terminal's columns, after blanks. */
function wrapped(text: string, indent: number): string[] {
  return wrapText(text, { columns: terminalColumns(), indent, hanging: indent + 2 });
}

function describeEvidence(evidence: Evidence): string[] {
  const { metric, statistic, step, value, relation, bound, boundFrom } = evidence;
  const number = (n: number | null) => n === null ? "not a number" : withDigits(n, 4);
  return [
    ...wrapped(
      bound === null
        ? `${metric} is ${statistic} in step ${step}`
        : `${metric} (${statisticWords(statistic)}, step ${step}) is ${number(value)}; ` +
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

function describeReport(
  report: TriageReport,
  { run, tokens, found }: {
    readonly run: string;
    /** What is known of the tokens, in a line. */
    readonly tokens: string;
    /** What is said against them. */
    readonly found: readonly string[];
  },
): string {
  const { causes, note, evidence } = report;
  const shown = [
    ...describeSymptoms(evidence),
    ...causes.flatMap(describeCause),
    ...describeUnknown(report),
  ];
  return [
    ...formatTable([
      ["run", run],
      ["answer", note],
      ["compared", comparison(report)],
      ["tokens", tokens],
    ]),
    ...(shown.length > 0 ? ["", ...shown] : []),
    ...found,
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

/** The tokens of a run's episodes, judged; or why they are not. */
async function judgeEpisodes(
  run: string,
  flags: DumpFlags,
): Promise<JudgedDump | { readonly reason: string }> {
  const sizeBytes = isFolder(run) ? infoOf(runPaths(run).episodes)?.size ?? 0 : 0;
  if (sizeBytes === 0) return { reason: "no episodes recorded" };
  if (sizeBytes > MAX_JUDGED_BYTES) {
    return {
      reason: `${formatBytes(sizeBytes)} of episodes are too many to judge here; run ` +
        agentrlCommand("check", ["--tokens", path(run)]),
    };
  }
  return await judgeDump(run, flags);
}

/** What is said against the tokens, as triage says it of a token dump. */
function describeTokens(dump: JudgedDump): string[] {
  const grave = dump.findings.filter(isGrave);
  if (grave.length === 0) return [];
  const layout = { columns: terminalColumns(), hasColours: false, all: false };
  return ["", findingsText({ ...dumpSubject(dump, layout), source: [] }, grave, layout)];
}

function tokensRow(tokens: JudgedDump | { readonly reason: string }): string {
  if ("reason" in tokens) return tokens.reason;
  const { counts, findings } = tokens;
  const count = findings.filter(isGrave).length;
  const said = count === 0 ? "nothing found" : count === 1 ? "1 finding" : `${count} findings`;
  return `${say(counts.tokens)} in ${say(counts.sequences)} recorded episodes: ${said}`;
}

/**
 * Triages a run of ours: its metrics, its checks, and the tokens of its recorded episodes.
 *
 * @param run Its folder, or its metrics.jsonl.
 * @param flags.strict Whether suspects also make the exit code 3.
 * @returns Conclusion and causes, and both with the verdicts of the invariants as findings.
 */
export async function triageOwnRun(
  run: string,
  flags: DumpFlags & { readonly strict: boolean },
): Promise<Outcome> {
  const { metrics: { rowCount, series }, report, findings: found } = triageRun(run);
  const tokens = await judgeEpisodes(run, flags);
  const dump = "reason" in tokens ? undefined : tokens;
  const findings = [
    ...found.map((finding) => sayFinding(finding, COMMAND_WORDS)),
    ...dump?.findings ?? [],
  ];
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
      ...(dump && { dump: dumpSourceDocument(dump) }),
      findings,
    },
    text: describeReport(report, {
      run,
      tokens: tokensRow(tokens),
      found: dump ? describeTokens(dump) : [],
    }),
    emphasis: [
      { pattern: /^ {2}\d+\. \w+|^Violated:.*/gm, style: "red" },
      { pattern: /^Suspect:.*/gm, style: "yellow" },
    ],
    ...(speakAgainst(findings, flags) ? { exitCode: 3 } : {}),
  };
}
