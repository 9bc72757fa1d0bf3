/** A run in a few numbers: its first steps, its last ones, and the last evaluation. */
import { firstSteps, lastSteps } from "../core/run_ends.ts";
import { mean } from "../core/statistics.ts";
import type { MetricName, MetricsRow } from "./metrics.ts";

/** Means of metrics over some steps, as far as they were measured there. */
export type MetricMeans = Readonly<Partial<Record<MetricName, number>>>;

/** How a run went. */
export interface RunSummary {
  /** Means over the first four steps. */
  readonly first4: MetricMeans;
  /** Means over the last four. */
  readonly last4: MetricMeans;
  /** The last held-out pass rate; null where the run was never evaluated. */
  readonly evalPass: number | null;
}

function meansOf(rows: readonly MetricsRow[]): MetricMeans {
  const names = new Set(rows.flatMap((row) => Object.keys(row) as (keyof MetricsRow)[]));
  names.delete("step");
  return Object.fromEntries(Array.from(names, (name) => {
    const values = rows.map((row) => row[name]).filter((value) => value !== undefined);
    return [name, mean(values)];
  }));
}

/**
 * Sums a run up.
 *
 * @param rows Its metrics, a row per step.
 * @returns The summary.
 */
export function summarizeRun(rows: readonly MetricsRow[]): RunSummary {
  const evaluated = rows.findLast(({ eval_pass }) => eval_pass !== undefined);
  return {
    first4: meansOf(firstSteps(rows)),
    last4: meansOf(lastSteps(rows)),
    evalPass: evaluated?.eval_pass ?? null,
  };
}
