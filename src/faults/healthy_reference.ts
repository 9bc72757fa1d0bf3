/** The pinned healthy runs: the metrics of three training seeds of the default GRPO run, against which other runs are held. */
import { largest, smallest } from "../core/statistics.ts";
import data from "./healthy_reference.json" with { type: "json" };
import {
  metricSeries,
  type RunMetrics,
  seriesUntil,
  type StatisticName,
  STATISTICS,
} from "../diagnose/metric_series.ts";
import type { MetricName, MetricsRow } from "../rl/metrics.ts";

/** Healthy runs of different seeds. */
export type HealthyReference = readonly RunMetrics[];

/** The content of healthy_reference.json, which `cli/agentrl triage --measure` writes. */
export interface HealthyReferenceFile {
  /** The rows of each seed; numbers are rounded. */
  readonly seeds: readonly {
    readonly seed: number;
    readonly rows: readonly Readonly<Record<string, number>>[];
  }[];
}

/** Which runs they are, for people. */
export const HEALTHY_RUNS = "GRPO with its defaults from the rl base agent, 24 steps, seeds 0 to 2";

/** Digits that are kept: enough for every bound, which is a multiple. */
const DIGITS = 5;

/** The pinned runs as rows. */
export const HEALTHY_REFERENCE_FILE: HealthyReferenceFile = data;

/**
 * Rows of healthy runs as they are pinned.
 *
 * @param seeds The rows by seed.
 * @returns The content of the file.
 */
export function healthyReferenceFile(
  seeds: readonly { readonly seed: number; readonly rows: readonly MetricsRow[] }[],
): HealthyReferenceFile {
  const round = (value: number) => Number(value.toPrecision(DIGITS));
  return {
    seeds: seeds.map(({ seed, rows }) => ({
      seed,
      rows: rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, round(value)]))
      ),
    })),
  };
}

/**
 * The pinned runs as series.
 *
 * @param file Where they stand (default: those that ship).
 * @returns One entry a seed.
 */
export function healthyReference(file = HEALTHY_REFERENCE_FILE): HealthyReference {
  return file.seeds.map(({ seed, rows }) => {
    const names = Object.keys(rows[0] ?? {}).filter((name) => name !== "step") as MetricName[];
    return metricSeries(rows, { names, source: `healthy reference, seed ${seed}` });
  });
}

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
