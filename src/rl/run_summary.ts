/** A run in a few numbers: its first steps, its last ones, and the last evaluation. */
import { mean } from "../core/statistics.ts";
import type { MetricName, MetricsRow } from "./metrics.ts";

/** Steps at either end. */
const STEPS = 4;

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
 * @param rows Its metrics, a row a step.
 * @returns The summary.
 */
export function summarizeRun(rows: readonly MetricsRow[]): RunSummary {
  const evaluated = rows.findLast(({ eval_pass }) => eval_pass !== undefined);
  return {
    first4: meansOf(rows.slice(0, STEPS)),
    last4: meansOf(rows.slice(-STEPS)),
    evalPass: evaluated?.eval_pass ?? null,
  };
}
