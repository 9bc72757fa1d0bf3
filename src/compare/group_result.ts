/** What one method reaches over its seeds. */
import { mean } from "../core/statistics.ts";
import type { NamedGroup } from "./group_names.ts";
import { interquartileMean, interquartileMeanInterval } from "./interquartile_mean.ts";
import { meanInterval } from "./mean_interval.ts";
import { performanceProfile, type ProfilePoint } from "./performance_profile.ts";
import type { RunRecord, ScoreRule, Settings } from "./run_record.ts";
import { type SampleEfficiency, sampleEfficiency } from "./sample_efficiency.ts";
import { type Interval, LEAST_SEEDS, leastSeeds, type Resamples, type Strata } from "./strata.ts";

/** What a score is made of. */
export interface Measure {
  readonly metric: string;
  readonly rule: ScoreRule;
}

/** A run with its score. */
export interface Measured {
  readonly run: RunRecord;
  readonly stratum: string;
  readonly score: number;
}

/** A seed's result. */
export interface SeedResult {
  readonly path: string;
  readonly seed: number | null;
  readonly score: number;
}

/** Seeds of one setting of the environment. */
export interface StratumResult {
  /** The setting; empty where none is known. */
  readonly name: string;
  readonly seeds: readonly SeedResult[];
}

/** A metric over the seeds of a method, by step. */
export interface CurveBand {
  readonly step: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Why no interval is given. */
export type NoInterval = "few-seeds" | "equal-scores";

/** What a method reaches. */
export interface GroupResult {
  readonly name: string;
  readonly settings: Settings;
  /** Runs that have a score. */
  readonly runs: number;
  readonly strata: readonly StratumResult[];
  /** Mean over seeds, strata alike; null where no run has a score. */
  readonly mean: number | null;
  /** The interquartile mean; null where no run has a score. */
  readonly middle: number | null;
  /** 95 % intervals; null where none is given, which `noInterval` explains. */
  readonly meanInterval: Interval | null;
  readonly middleInterval: Interval | null;
  readonly noInterval?: NoInterval;
  readonly best: SeedResult | null;
  readonly worst: SeedResult | null;
  /** Steps to the threshold; null where no run has a score. */
  readonly efficiency: SampleEfficiency | null;
  /** Episodes in a step where all runs have as many; null otherwise. */
  readonly episodesPerStep: number | null;
  readonly profile: readonly ProfilePoint[];
  /** By metric. `isInterval`: the band is a 95 % interval of the mean; otherwise it goes from the lowest to the highest seed. */
  readonly curves: readonly {
    readonly metric: string;
    readonly isInterval: boolean;
    readonly points: readonly CurveBand[];
  }[];
}

/** Steps of a curve that are kept: more than a chart shows. */
const MAX_STEPS = 400;

/** Runs by their setting of the environment, in the order of its name. */
function byStratum(measured: readonly Measured[]): (readonly [string, readonly Measured[]])[] {
  return [...Map.groupBy(measured, ({ stratum }) => stratum)].sort(([a], [b]) => a < b ? -1 : 1);
}

/** Scores by stratum. */
export function strataOf(measured: readonly Measured[]): Strata {
  return byStratum(measured).map(([, runs]) => runs.map(({ score }) => score));
}

/** Steps at which every run has a value, thinned out evenly. */
function sharedSteps(curves: readonly ReadonlyMap<number, number>[]): number[] {
  const [first, ...others] = curves;
  const shared = [...first?.keys() ?? []].filter((step) => others.every((one) => one.has(step)));
  if (shared.length <= MAX_STEPS) return shared;
  return Array.from(
    { length: MAX_STEPS },
    (_, i) => shared[Math.round(i * (shared.length - 1) / (MAX_STEPS - 1))],
  );
}

function bandOf(measured: readonly Measured[], metric: string) {
  const byRun = measured.map(({ run }) => {
    const { steps = [], values = [] } = run.curves.get(metric) ?? {};
    return new Map(
      Array.from(steps, (step, i) => [step, values[i]] as const)
        .filter(([, value]) => Number.isFinite(value)),
    );
  });
  if (byRun.length === 0 || byRun.some(({ size }) => size === 0)) return [];
  const groups = byStratum(measured).map(([, runs]) => runs.map((one) => measured.indexOf(one)));
  const isInterval = groups.every(({ length }) => length >= LEAST_SEEDS);
  const points = sharedSteps(byRun).map((step): CurveBand => {
    const strata = groups.map((indices) => indices.map((i) => byRun[i].get(step) ?? NaN));
    const center = mean(strata.map(mean));
    const values = strata.flat();
    if (!isInterval) {
      return { step, mean: center, low: Math.min(...values), high: Math.max(...values) };
    }
    const { low = center, high = center } = within(meanInterval(strata), measured, metric) ?? {};
    return { step, mean: center, low, high };
  });
  return points.length === 0 ? [] : [{ metric, isInterval, points }];
}

/** An interval without what a metric cannot be. */
function within(
  interval: Interval | undefined,
  measured: readonly Measured[],
  metric: string,
): Interval | undefined {
  if (!interval) return undefined;
  const ranges = measured.map(({ run }) => run.ranges?.get(metric) ?? [-Infinity, Infinity]);
  const { estimate, low, high } = interval;
  return {
    estimate,
    low: Math.max(low, Math.min(...ranges.map(([least]) => least))),
    high: Math.min(high, Math.max(...ranges.map(([, most]) => most))),
  };
}

function sameOrNull(values: readonly (number | undefined)[]): number | null {
  const [first] = values;
  return first !== undefined && values.every((value) => value === first) ? first : null;
}

/**
 * The result of a group.
 *
 * @param group Its name and settings.
 * @param measured Its runs that have a score.
 */
export function resultOf(
  { name, settings }: NamedGroup,
  measured: readonly Measured[],
  options: {
    readonly metric: string;
    readonly resamples: Resamples;
    readonly thresholds: readonly number[];
    readonly threshold: number | undefined;
    readonly lowerIsBetter: boolean;
  },
): GroupResult {
  const { metric, resamples, thresholds, threshold, lowerIsBetter } = options;
  const strata = strataOf(measured);
  const isEnough = strata.length > 0 && leastSeeds(strata) >= LEAST_SEEDS;
  const ofMean = isEnough ? within(meanInterval(strata), measured, metric) : undefined;
  const ofMiddle = isEnough ? interquartileMeanInterval(strata, { resamples }) : undefined;
  const seedOf = ({ run, score }: Measured): SeedResult => ({
    path: run.path,
    seed: run.seed ?? null,
    score,
  });
  const better = lowerIsBetter ? 1 : -1;
  const ranked = measured.toSorted((a, b) => better * (a.score - b.score)).map(seedOf);
  const curves = measured.flatMap(({ run }) => [...run.curves.keys()]);
  return {
    name,
    settings,
    runs: measured.length,
    strata: byStratum(measured).map(([stratum, runs]) => ({
      name: stratum,
      seeds: runs.map(seedOf),
    })),
    mean: strata.length === 0 ? null : mean(strata.map(mean)),
    middle: strata.length === 0 ? null : interquartileMean(strata),
    meanInterval: ofMean ?? null,
    middleInterval: ofMiddle ?? null,
    ...(ofMean === undefined && { noInterval: isEnough ? "equal-scores" : "few-seeds" }),
    best: ranked.at(0) ?? null,
    worst: ranked.at(-1) ?? null,
    efficiency: threshold === undefined || measured.length === 0 ? null : sampleEfficiency(
      measured.map(({ run }) => run.curves.get(metric) ?? { steps: [], values: [] }),
      { threshold, lowerIsBetter },
    ),
    episodesPerStep: sameOrNull(measured.map(({ run }) => run.episodesPerStep)),
    profile: performanceProfile(strata, thresholds),
    curves: [...new Set(curves)].flatMap((one) => bandOf(measured, one)),
  };
}
