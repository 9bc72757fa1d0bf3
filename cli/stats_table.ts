/** Statistics of episodes as rows of a table in 80 columns. */
import type { RateInterval } from "../src/core/statistics.ts";
import type { RolloutStats } from "../src/rollout/rollout_stats.ts";

/** The columns of {@linkcode statsRow}, as `formatColumns` takes them; `1st ok`: the first edit is the one that repairs. */
export const STATS_HEADER = [
  "episodes",
  " n",
  " pass",
  " 95 %",
  " valid",
  " submit",
  " turns",
  " reads",
  " edits",
  " 1st ok",
] as const;

/** A rate as `0.31`. */
export function formatRate(rate: number): string {
  return rate.toFixed(2);
}

/** The ends of an interval as `0.22-0.41`. */
export function formatInterval({ low, high }: Pick<RateInterval, "low" | "high">): string {
  return `${formatRate(low)}-${formatRate(high)}`;
}

/**
 * One row of statistics.
 *
 * @param name What the episodes have in common.
 * @param stats Their statistics.
 * @returns One text a column of {@linkcode STATS_HEADER}.
 */
export function statsRow(name: string, stats: RolloutStats): string[] {
  return [
    name,
    String(stats.episodes),
    formatRate(stats.passRate),
    formatInterval({ low: stats.passRateLow, high: stats.passRateHigh }),
    formatRate(stats.validCalls),
    formatRate(stats.submitRate),
    stats.turns.toFixed(1),
    formatRate(stats.reads),
    formatRate(stats.edits),
    formatRate(stats.firstEditRight),
  ];
}
