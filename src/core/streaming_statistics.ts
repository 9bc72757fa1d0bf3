/** Statistics of values that pass once and are not kept: means with errors, quantiles, lines, and how unlikely a count is. */

/** A mean with its standard error. */
export interface Estimate {
  readonly count: number;
  /** NaN of nothing. */
  readonly mean: number;
  /** Standard error of the mean; Infinity where there are too few values to tell. */
  readonly error: number;
}

/**
 * Mean of values that come in clusters, as tokens come in sequences: values of a cluster may resemble each other, so that the
 * error is the one of a ratio of sums over clusters (Cochran 1977, section 2.11), and no smaller than that of independent values.
 */
export class ClusteredMean {
  #clusters = 0;
  #count = 0;
  #sum = 0;
  #squares = 0;
  #sumSquares = 0;
  #countSquares = 0;
  #products = 0;
  #clusterCount = 0;
  #clusterSum = 0;

  /** Adds a value to the open cluster. */
  add(value: number): void {
    this.#clusterCount++;
    this.#clusterSum += value;
    this.#squares += value * value;
  }

  /** Closes the cluster: what follows belongs to the next. */
  close(): void {
    if (this.#clusterCount === 0) return;
    this.#clusters++;
    this.#count += this.#clusterCount;
    this.#sum += this.#clusterSum;
    this.#sumSquares += this.#clusterSum ** 2;
    this.#countSquares += this.#clusterCount ** 2;
    this.#products += this.#clusterSum * this.#clusterCount;
    this.#clusterCount = this.#clusterSum = 0;
  }

  /** Of all closed clusters. */
  get estimate(): Estimate {
    const [n, clusters] = [this.#count, this.#clusters];
    const mean = this.#sum / n;
    if (n < 2) return { count: n, mean, error: Infinity };
    const single = Math.sqrt(Math.max(0, this.#squares / n - mean * mean) / (n - 1));
    if (clusters < 2) return { count: n, mean, error: 1.5 * single }; // Room for tokens that resemble their neighbours.
    const spread = this.#sumSquares - 2 * mean * this.#products + mean * mean * this.#countSquares;
    const clustered = Math.sqrt(Math.max(0, spread) * clusters / (clusters - 1)) / n;
    return { count: n, mean, error: Math.max(single, clustered) };
  }
}

/** Bins of {@linkcode LogHistogram} for each factor of two: a quantile is off by at most 4.5 %. */
const BINS_PER_OCTAVE = 16;

/** Quantiles of values of 0 and above, from counts on a logarithmic scale: exact for 0, within 4.5 % otherwise. */
export class LogHistogram {
  readonly #bins = new Map<number, number>();
  #zeros = 0;
  #count = 0;
  #largest = -Infinity;

  /** @param value 0 or above. */
  add(value: number): void {
    this.#count++;
    this.#largest = Math.max(this.#largest, value);
    if (value === 0) {
      this.#zeros++;
      return;
    }
    const bin = Math.floor(Math.log2(value) * BINS_PER_OCTAVE);
    this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + 1);
  }

  get count(): number {
    return this.#count;
  }

  /** The largest value, exact. */
  get largest(): number {
    return this.#largest;
  }

  /** @param q Share of the values below the quantile, 0 to 1. @returns NaN of nothing. */
  quantile(q: number): number {
    if (this.#count === 0) return NaN;
    let left = Math.max(1, Math.ceil(q * this.#count)) - this.#zeros;
    if (left <= 0) return 0;
    for (const bin of [...this.#bins.keys()].sort((a, b) => a - b)) {
      left -= this.#bins.get(bin) ?? 0;
      if (left <= 0) return Math.min(this.#largest, 2 ** ((bin + 0.5) / BINS_PER_OCTAVE));
    }
    return this.#largest;
  }
}

/**
 * An upper bound of the chance that at least so many of n fair coins fall on one side: exp(−n KL(k/n ‖ 1/2)), Chernoff's.
 *
 * @param successes k, 0 to n.
 * @param trials n.
 * @returns 1 where k is not above n/2.
 */
export function chanceAtMost(successes: number, trials: number): number {
  if (trials === 0 || successes * 2 <= trials) return 1;
  const share = successes / trials;
  const term = (part: number) => part === 0 ? 0 : part * Math.log(2 * part);
  return Math.exp(-trials * (term(share) + term(1 - share)));
}
