/** Healthy runs to hold another run against: what their statistics are over the steps that it has. */
import { largest, smallest } from "../core/statistics.ts";
import { type RunMetrics, seriesUntil, type StatisticName, STATISTICS } from "./metric_series.ts";

/** Healthy runs of different seeds. */
export type HealthyReference = readonly RunMetrics[];

/**
 * A statistic of the healthy runs over the steps that another run has.
 *
 * @param reference The healthy runs.
 * @param options.lastStep The other run's last step.
 * @returns Lowest and highest over the seeds; undefined where no seed has it.
 */
export function healthyRange(
  reference: HealthyReference,
  options: {
    readonly metric: string;
    readonly statistic: StatisticName;
    readonly lastStep: number;
  },
): { readonly low: number; readonly high: number } | undefined {
  const { metric, statistic, lastStep } = options;
  const values = reference.flatMap(({ series }) => {
    const whole = series.get(metric);
    const part = whole && seriesUntil(whole, lastStep);
    const found = part && STATISTICS[statistic](part);
    return found ? [found.value] : [];
  });
  if (values.length === 0) return undefined;
  return { low: smallest(values), high: largest(values) };
}

/** Lowest and highest value over the seeds of each statistic that describes a run. */
export type HealthySummary = Readonly<
  Record<
    "first" | "firstFour" | "lastFour" | "smallest" | "median" | "largest",
    { readonly low: number; readonly high: number }
  >
>;

/**
 * The healthy table: where each metric begins, ends and moves in healthy runs.
 *
 * @param reference The healthy runs.
 * @returns One entry a metric; metrics that too few steps have (evaluations) are left out.
 */
export function summarizeHealthy(
  reference: HealthyReference,
): ReadonlyMap<string, HealthySummary> {
  const names = ["first", "firstFour", "lastFour", "smallest", "median", "largest"] as const;
  const summaries = new Map<string, HealthySummary>();
  for (const metric of new Set(reference.flatMap(({ series }) => [...series.keys()]))) {
    const ranges = names.flatMap((statistic) => {
      const range = healthyRange(reference, { metric, statistic, lastStep: Infinity });
      return range ? [[statistic, range] as const] : [];
    });
    if (ranges.length < names.length) continue;
    summaries.set(metric, Object.fromEntries(ranges) as HealthySummary);
  }
  return summaries;
}
