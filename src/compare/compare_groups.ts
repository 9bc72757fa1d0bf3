/** Compares methods over seeds: what each reaches, which differ, and what cannot be said (Agarwal et al. 2021). */
import { at } from "../core/element.ts";
import { median } from "../core/statistics.ts";
import { differingSettings, groupRuns, type NamedGroup } from "./group_names.ts";
import { type GroupResult, type Measure, type Measured, resultOf } from "./group_result.ts";
import { comparePairs, type PairResult } from "./group_pairs.ts";
import { profileThresholds } from "./performance_profile.ts";
import { isLowerBetter, type RunRecord, scoreOf, type ScoreRule, scoreRule } from "./run_record.ts";
import { Resamples } from "./strata.ts";

/** A run that has no score, and why. */
export interface LeftOutRun {
  readonly path: string;
  readonly group: string;
  readonly why: string;
}

/** A setting that differs, with its value in each group; null where it has none. */
export interface SettingDifference {
  readonly name: string;
  readonly values: readonly (string | number | boolean | null)[];
}

/** What triage says of how many runs. */
export interface FindingCount {
  readonly id: string;
  readonly class: "violated" | "suspect";
  /** Runs of each group of which it is said. */
  readonly counts: readonly number[];
}

/** A comparison of groups. */
export interface GroupComparison {
  /** The metric that scores are made of. */
  readonly metric: string;
  readonly scoreRule: ScoreRule;
  readonly lowerIsBetter: boolean;
  /** What sample efficiency is measured to; null where no run has a score. */
  readonly threshold: number | null;
  /** The best first, by the interquartile mean. */
  readonly groups: readonly GroupResult[];
  /** Pairs of groups by their indices, the better one first. */
  readonly pairs: readonly PairResult[];
  readonly leftOut: readonly LeftOutRun[];
  readonly differences: readonly SettingDifference[];
  /** Those of the differences that were varied on purpose, as far as that is known: the axes of a sweep. */
  readonly axes: readonly string[];
  /** Of the runs that were judged, the gravest and most frequent first; undefined where none was. */
  readonly findings: readonly FindingCount[] | undefined;
}

/** What a comparison is asked. */
export interface GroupQuestion {
  /** A canonical metric, or a key of the logs (default: `eval_score`, the held-out pass rate). */
  readonly metric?: string | undefined;
  /** Default: as the canonical metric is known to be; of other keys false. */
  readonly lowerIsBetter?: boolean | undefined;
  /** Default: the median score of all runs. */
  readonly threshold?: number | undefined;
  /** Of the resamples (default 0). */
  readonly seed?: number | undefined;
}

/** The score of a seed unless another is asked for. */
export const DEFAULT_METRIC = "eval_score";

/** Twice the same seed in one setting is one run that was repeated, and no second sample. */
function repeatedSeed(
  measured: readonly Measured[],
  { run, stratum }: Measured,
): string | undefined {
  if (run.seed === undefined) return undefined;
  const first = measured.find((one) => one.stratum === stratum && one.run.seed === run.seed);
  return first && first.run !== run
    ? `it repeats seed ${run.seed} of ${first.run.path}`
    : undefined;
}

function stratumOf({ environment }: RunRecord): string {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`).join(" ");
}

function measure(group: NamedGroup, { metric, rule }: Measure) {
  const leftOut: LeftOutRun[] = [];
  const measured: Measured[] = [];
  for (const run of group.runs) {
    const score = run.leftOut === undefined ? scoreOf(run.curves.get(metric), rule) : undefined;
    const one = { run, stratum: stratumOf(run), score: score ?? NaN };
    const why = run.leftOut ??
      (score === undefined ? missingScore(run, metric) : repeatedSeed(measured, one));
    if (why === undefined) measured.push(one);
    else leftOut.push({ path: run.path, group: group.name, why });
  }
  return { group, measured, leftOut };
}

function missingScore({ curves }: RunRecord, metric: string): string {
  const values = curves.get(metric)?.values;
  return values && values.length > 0 ? `its last ${metric} is not finite` : `it has no ${metric}`;
}

function countFindings(groups: readonly NamedGroup[]): FindingCount[] | undefined {
  if (groups.every(({ runs }) => runs.every(({ findings }) => findings === undefined))) return;
  const all = groups.flatMap(({ runs }) => runs.flatMap(({ findings = [] }) => findings));
  const kinds = new Map(all.map(({ id, class: kind }) => [`${kind} ${id}`, { id, class: kind }]));
  const counted = Array.from(kinds.values(), (kind) => ({
    ...kind,
    counts: groups.map(({ runs }) =>
      runs.filter(({ findings = [] }) =>
        findings.some((found) => found.id === kind.id && found.class === kind.class)
      ).length
    ),
  }));
  const sum = ({ counts }: FindingCount) => counts.reduce((total, count) => total + count, 0);
  return counted.sort((a, b) =>
    Number(a.class !== "violated") - Number(b.class !== "violated") || sum(b) - sum(a) ||
    (a.id < b.id ? -1 : 1)
  );
}

/** Groups with their results, the best first; those without a score last. */
function byResult<T extends { readonly result: GroupResult }>(
  groups: readonly T[],
  lowerIsBetter: boolean,
): T[] {
  const worst = lowerIsBetter ? Infinity : -Infinity;
  const sign = lowerIsBetter ? 1 : -1;
  const of = ({ result }: T) => result.middle ?? worst;
  return groups.toSorted((a, b) => of(a) === of(b) ? 0 : sign * (of(a) - of(b)));
}

/**
 * Compares groups of runs.
 *
 * @param runs All runs; those with equal settings apart from seed and environment are one group.
 * @param question What is asked.
 */
export function compareGroups(
  runs: readonly RunRecord[],
  { metric = DEFAULT_METRIC, lowerIsBetter = isLowerBetter(metric), threshold, seed = 0 }:
    GroupQuestion = {},
): GroupComparison {
  const rule = scoreRule(metric);
  const groups = groupRuns(runs).map((group) => measure(group, { metric, rule }));
  const scores = groups.flatMap(({ measured }) => measured.map(({ score }) => score));
  const reached = threshold ?? (scores.length > 0 ? median(scores) : undefined);
  const thresholds = profileThresholds([[scores]]);
  const resamples = new Resamples({ seed });
  const results = byResult(
    groups.map((one) => ({
      ...one,
      result: resultOf(one.group, one.measured, {
        metric,
        resamples,
        thresholds,
        lowerIsBetter,
        threshold: reached,
      }),
    })),
    lowerIsBetter,
  );
  const sorted = results.map(({ group }) => group);
  return {
    metric,
    scoreRule: rule,
    lowerIsBetter,
    threshold: reached ?? null,
    groups: results.map(({ result }) => result),
    pairs: comparePairs(results.map(({ measured }) => measured), { lowerIsBetter }),
    leftOut: results.flatMap(({ leftOut }) => leftOut),
    differences: differingSettings(sorted).map((name) => ({
      name,
      values: sorted.map((_, i) => at(sorted, i).settings[name] ?? null),
    })),
    axes: [...new Set(runs.flatMap(({ axes }) => axes))].filter((name) =>
      differingSettings(sorted).includes(name)
    ),
    findings: countFindings(sorted),
  };
}
