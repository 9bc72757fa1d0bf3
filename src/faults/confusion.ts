/** How good triage is: the true causes of many runs against what it ranks first, as counts and as a table. */
import { markdownTable } from "../core/markdown_table.ts";
import { mean } from "../core/statistics.ts";
import type { FaultName } from "./faults.ts";
import type { TriageReport } from "../diagnose/triage/triage.ts";

/** A run whose cause is known, and what triage said about it. */
export interface TriagedRun {
  /** Name of the run in the catalogue. */
  readonly name: string;
  readonly seed: number;
  /** Undefined where nothing is wrong with it. */
  readonly fault: FaultName | undefined;
  readonly report: TriageReport;
}

/** Triage's answer in one word: the first cause, or why there is none that can be believed. */
export function answerOf({ conclusion, causes }: TriageReport): string {
  return conclusion === "unknown-cause" ? conclusion : causes[0]?.fault ?? conclusion;
}

const meanOrNaN = (values: readonly number[]) => values.length === 0 ? NaN : mean(values);

/** One row of the matrix: all seeds of a run. */
export interface ConfusionRow {
  readonly name: string;
  readonly runs: number;
  /** Answers by how often they came, the most frequent first. */
  readonly answers: readonly (readonly [answer: string, count: number])[];
  /** Runs whose first cause is the true one; where nothing is wrong, those without a cause. */
  readonly right: number;
  /** Mean belief in the first cause over the runs that have one; NaN where none has. */
  readonly belief: number;
  /** Runs with the true cause among the first three; where nothing is wrong, as `right`. */
  readonly inFirstThree: number;
}

function rankOf({ fault, report: { causes, conclusion } }: TriagedRun): number {
  if (fault === undefined) {
    return causes.length === 0 && conclusion !== "unknown-cause" ? 0 : Infinity;
  }
  if (conclusion === "unknown-cause") return Infinity;
  const rank = causes.findIndex((cause) => cause.fault === fault);
  return rank < 0 ? Infinity : rank;
}

/**
 * Counts.
 *
 * @param runs Runs in any order.
 * @returns One row a name, in the order of their first appearance.
 */
export function confusionRows(runs: readonly TriagedRun[]): ConfusionRow[] {
  const names = [...new Set(runs.map(({ name }) => name))];
  return names.map((name) => {
    const own = runs.filter((run) => run.name === name);
    const counts = new Map<string, number>();
    for (const { report } of own) {
      const answer = answerOf(report);
      counts.set(answer, (counts.get(answer) ?? 0) + 1);
    }
    return {
      name,
      runs: own.length,
      answers: [...counts].sort(([, a], [, b]) => b - a),
      belief: meanOrNaN(own.flatMap(({ report: { causes } }) => causes[0]?.score ?? [])),
      right: own.filter((run) => rankOf(run) === 0).length,
      inFirstThree: own.filter((run) => rankOf(run) < 3).length,
    };
  });
}

/**
 * The counts as a table in Markdown.
 *
 * @param rows The counts.
 * @returns Lines.
 */
export function confusionTable(rows: readonly ConfusionRow[]): string[] {
  const header = ["run", "runs", "first-ranked answer", "right", "in the first three", "belief"];
  const cells = rows.map(({ name, runs, answers, right, inFirstThree, belief }) => [
    name,
    String(runs),
    answers.map(([answer, count]) => `${answer} × ${count}`).join(", "),
    String(right),
    String(inFirstThree),
    Number.isNaN(belief) ? "–" : belief.toFixed(2),
  ]);
  return markdownTable(header, cells, {
    numbers: ["runs", "right", "in the first three", "belief"],
  });
}
