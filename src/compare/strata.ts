/** Scores of seeds by the setting of the environment that they ran in, and the draws with which they are resampled. */
import { randomSequence } from "../core/rng.ts";

/**
 * Scores of one method: a list for each setting of the environment (stratum), in it one score a seed. Each stratum counts
 * the same, however many seeds it has.
 */
export type Strata = readonly (readonly number[])[];

/** An estimate with the ends of its interval. */
export interface Interval {
  /** The estimate itself; it need not stand in the middle. */
  readonly estimate: number;
  /** The low end. */
  readonly low: number;
  /** The high end. */
  readonly high: number;
}

/** Seeds below which nothing is claimed: an interval of four says little, and says it unreliably. */
export const LEAST_SEEDS = 5;

/** Resamples of an interval: its ends move by a fiftieth of its width between two seeds of the draws. */
const RESAMPLES = 2000;

/** A stream of its own, apart from all that a run draws. */
const RESAMPLE_STREAM = 64;

/** The number of seeds in the smallest stratum. */
export function leastSeeds(strata: Strata): number {
  return strata.reduce((least, { length }) => Math.min(least, length), Infinity);
}

/**
 * Draws with replacement as counts: how often each of n seeds is in each resample. They depend on nothing but the seed, the
 * stratum and n, so that all methods of a comparison share them, and the same comparison always says the same.
 */
export class Resamples {
  readonly #tables = new Map<string, Uint16Array>();
  readonly #seed: number;
  /** Number of resamples. */
  readonly count: number;

  /** Takes the seed of the draws (default 0) and the number of resamples (default 2,000). */
  constructor({ seed = 0, count = RESAMPLES }: {
    readonly seed?: number;
    readonly count?: number;
  } = {}) {
    this.#seed = seed;
    this.count = count;
  }

  /**
   * How often each seed is drawn.
   *
   * @param stratum Its number.
   * @param size n.
   * @returns count × n counts, a resample a row.
   */
  countsOf(stratum: number, size: number): Uint16Array {
    const name = `${stratum} ${size}`;
    const known = this.#tables.get(name);
    if (known) return known;
    const counts = new Uint16Array(this.count * size);
    const draws = randomSequence({ seed: this.#seed, stream: RESAMPLE_STREAM, step: stratum });
    for (let first = 0; first < counts.length; first += size) {
      for (let i = 0; i < size; i++) {
        const drawn = first + draws.integer(size);
        counts[drawn] = (counts[drawn] ?? 0) + 1;
      }
    }
    this.#tables.set(name, counts);
    return counts;
  }
}
