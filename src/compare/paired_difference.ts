/** Differences of runs that share seed and environment: what the seed decides alone cancels. */
import { meanInterval } from "./mean_interval.ts";
import type { Interval } from "./strata.ts";

/** A score with what it is paired by. */
export interface SeedScore {
  /** The setting of the environment. */
  readonly stratum: string;
  /** The seed of its run. */
  readonly seed: number;
  /** What it reached. */
  readonly score: number;
}

/** Ours less theirs, over pairs. */
export interface PairedDifference {
  /** Runs of equal seed and stratum. */
  readonly pairs: number;
  /** Pairs in which ours is higher. */
  readonly higher: number;
  /** Pairs in which ours is lower; the rest are equal. */
  readonly lower: number;
  /** Mean of the differences, strata alike. */
  readonly mean: number;
  /** 95 % interval of the mean; undefined of fewer than two pairs in a stratum, or where all differences are equal. */
  readonly interval: Interval | undefined;
}

/**
 * Pairs scores by seed and stratum.
 *
 * @param ours Each pair of seed and stratum at most once.
 * @param theirs Likewise.
 * @returns Undefined where no seed is in both.
 */
export function pairedDifference(
  ours: readonly SeedScore[],
  theirs: readonly SeedScore[],
): PairedDifference | undefined {
  const name = ({ stratum, seed }: SeedScore) => JSON.stringify([stratum, seed]);
  const other = new Map(theirs.map((one) => [name(one), one.score]));
  const pairs = ours.flatMap((one) => {
    const score = other.get(name(one));
    return score === undefined ? [] : [{ stratum: one.stratum, difference: one.score - score }];
  });
  if (pairs.length === 0) return undefined;
  const strata = Array.from(
    Map.groupBy(pairs, ({ stratum }) => stratum).values(),
    (group) => group.map(({ difference }) => difference),
  );
  const differences = strata.flat();
  const means = strata.map((part) => part.reduce((sum, value) => sum + value, 0) / part.length);
  return {
    pairs: pairs.length,
    higher: differences.filter((value) => value > 0).length,
    lower: differences.filter((value) => value < 0).length,
    mean: means.reduce((sum, value) => sum + value, 0) / means.length,
    interval: meanInterval(strata),
  };
}
