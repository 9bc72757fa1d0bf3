/** Which of several methods differ: every pair of them, at a level that holds for all pairs together. */
import type { Measured } from "./group_result.ts";
import { type PairedDifference, pairedDifference } from "./paired_difference.ts";
import { probabilityOfImprovement } from "./probability_of_improvement.ts";
import { type Interval, LEAST_SEEDS } from "./strata.ts";

/** Why a pair is not compared, or nothing is claimed about it. */
export type NoClaim =
  /** Fewer seeds than a claim needs. */
  | "few-seeds"
  /** They ran in no setting of the environment that both have. */
  | "no-shared-setting";

/** Two methods compared. */
export interface PairResult {
  /** Indices of the groups; of `first` the better result was seen. */
  readonly first: number;
  readonly second: number;
  /** P(a run of the first is better than one of the second), with its 95 % interval; null where nothing is claimed. */
  readonly improvement: Interval | null;
  /** True where the interval leaves out 0.5 also at the level that holds for all pairs together; null: no claim. */
  readonly differs: boolean | null;
  readonly noClaim?: NoClaim;
  /** Settings of the environment in which both ran. */
  readonly sharedStrata: readonly string[];
  /** Of seeds that both have, the first's less the second's; null where no seed is in both. */
  readonly paired: PairedDifference | null;
}

/** More groups than these are compared with the best one only; the level counts all pairs all the same. */
const MAX_FULL = 8;

/** Share of wrong claims over all pairs together. */
const FAMILY_ERROR = 0.05;

function scoresIn(measured: readonly Measured[], strata: readonly string[]): number[][] {
  return strata.map((name) =>
    measured.filter(({ stratum }) => stratum === name).map(({ score }) => score)
  );
}

function seedScores(measured: readonly Measured[]) {
  return measured.flatMap(({ run, stratum, score }) =>
    run.seed === undefined ? [] : [{ stratum, seed: run.seed, score }]
  );
}

function comparePair(
  [first, second]: readonly [number, number],
  groups: readonly (readonly Measured[])[],
  { level, lowerIsBetter }: { readonly level: number; readonly lowerIsBetter: boolean },
): PairResult {
  const [ours, theirs] = [groups[first], groups[second]];
  const theirStrata = new Set(theirs.map(({ stratum }) => stratum));
  const sharedStrata = [...new Set(ours.map(({ stratum }) => stratum))]
    .filter((name) => theirStrata.has(name)).sort();
  const [a, b] = [scoresIn(ours, sharedStrata), scoresIn(theirs, sharedStrata)];
  const [better, worse] = lowerIsBetter ? [b, a] : [a, b];
  const shared = (all: readonly Measured[]) =>
    all.filter(({ stratum }) => sharedStrata.includes(stratum));
  const noClaim: NoClaim | undefined =
    sharedStrata.length === 0 && ours.length > 0 && theirs.length > 0
      ? "no-shared-setting"
      : [...a, ...b].some(({ length }) => length < LEAST_SEEDS) || a.length === 0
      ? "few-seeds"
      : undefined;
  const improvement = noClaim ? undefined : probabilityOfImprovement(better, worse);
  const together = noClaim ? undefined : probabilityOfImprovement(better, worse, level);
  return {
    first,
    second,
    improvement: improvement ?? null,
    differs: together ? together.low > 0.5 || together.high < 0.5 : null,
    ...(noClaim && { noClaim }),
    sharedStrata,
    paired: pairedDifference(seedScores(shared(ours)), seedScores(shared(theirs))) ?? null,
  };
}

/**
 * Compares groups in pairs. With several pairs some interval of 95 % leaves out 0.5 by chance sooner than in one of twenty
 * comparisons: `differs` is decided at 1 − 0.05 / pairs (Bonferroni).
 *
 * @param groups Runs with their scores, the better group first.
 */
export function comparePairs(
  groups: readonly (readonly Measured[])[],
  { lowerIsBetter }: { readonly lowerIsBetter: boolean },
): PairResult[] {
  const pairs = groups.length * (groups.length - 1) / 2;
  const level = 1 - FAMILY_ERROR / Math.max(1, pairs);
  const rows = groups.length <= MAX_FULL ? groups.length : 1;
  return Array.from({ length: rows }, (_, first) =>
    Array.from(
      { length: groups.length - first - 1 },
      (_, i) => comparePair([first, first + 1 + i], groups, { level, lowerIsBetter }),
    )).flat();
}
