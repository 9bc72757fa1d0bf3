/** Summary statistics of a sample: mean, variance, quantiles, the Wilson interval of a rate, the exponent of a growth. */

import { at } from "./element.ts";
function requireNonEmpty(what: string, values: ArrayLike<number>): void {
  if (values.length === 0) {
    throw new RangeError(`Cannot take the ${what} of 0 values: at least 1 is needed`);
  }
}

/**
 * Arithmetic mean: sum(x) / n, summed in ascending order of the index.
 *
 * @param values_N The sample.
 * @returns The mean; NaN where a value is NaN.
 * @throws {RangeError} When the sample is empty.
 */
export function mean(values_N: ArrayLike<number>): number {
  requireNonEmpty("mean", values_N);
  let sum = 0;
  for (let n = 0; n < values_N.length; n++) sum += values_N[n] ?? NaN;
  return sum / values_N.length;
}

/**
 * Sample variance: sum((x − mean)²) / (n − 1), in two passes so that a large mean costs no digits.
 *
 * @param values_N The sample.
 * @returns The unbiased estimate of the variance.
 * @throws {RangeError} When the sample holds fewer than 2 values.
 */
export function sampleVariance(values_N: ArrayLike<number>): number {
  if (values_N.length < 2) {
    throw new RangeError(
      `Cannot take the sample variance of ${values_N.length} values: at least 2 are needed`,
    );
  }
  const center = mean(values_N);
  let sum = 0;
  for (let n = 0; n < values_N.length; n++) sum += ((values_N[n] ?? NaN) - center) ** 2;
  return sum / (values_N.length - 1);
}

/**
 * Quantile by linear interpolation between order statistics: with h = (n − 1) q and the sorted sample x,
 * x[⌊h⌋] + (h − ⌊h⌋) (x[⌊h⌋ + 1] − x[⌊h⌋]). This is definition 7 of Hyndman and Fan (1996), the default of NumPy and R.
 *
 * @param values_N The sample, in any order; it is not changed.
 * @param q The share of the sample below the quantile, 0 to 1.
 * @returns The quantile; NaN where a value is NaN.
 * @throws {RangeError} When the sample is empty or q is outside 0 to 1.
 */
export function quantile(values_N: ArrayLike<number>, q: number): number {
  requireNonEmpty("quantile", values_N);
  if (!(q >= 0 && q <= 1)) {
    throw new RangeError(`Cannot take the quantile at q=${q}: q must lie in 0 to 1`);
  }
  const sorted_N = Float64Array.from(values_N).sort(); // NaN sorts last.
  const last = sorted_N.at(-1) ?? NaN;
  if (Number.isNaN(last)) return NaN;
  const position = (sorted_N.length - 1) * q;
  const below = sorted_N[Math.floor(position)] ?? NaN;
  const above = sorted_N[Math.ceil(position)] ?? NaN;
  // Equal neighbours return at once, so that two infinities do not become Infinity − Infinity = NaN.
  return below === above ? below : below + (position - Math.floor(position)) * (above - below);
}

/**
 * Median: the quantile at 0.5, the middle value, or the mean of the two middle ones.
 *
 * @param values_N The sample, in any order; it is not changed.
 * @returns The median; NaN where a value is NaN.
 * @throws {RangeError} When the sample is empty.
 */
export function median(values_N: ArrayLike<number>): number {
  return quantile(values_N, 0.5);
}

/** The 0.975 quantile of the standard normal distribution to two decimals: a two-sided interval of 95 %. */
const Z_95 = 1.96;

/** A mean with its 95 % interval. */
export interface MeanInterval {
  /** sum(x) / n */
  readonly mean: number;
  /** Lower end of the interval; NaN of a single value. */
  readonly low: number;
  /** Upper end of the interval; NaN of a single value. */
  readonly high: number;
}

/**
 * The normal interval of a mean at 95 %: mean ± 1.96 √(variance / n), with the sample's variance. For rates of few trials
 * {@linkcode wilsonInterval} is the right one.
 *
 * @param values_N The sample.
 * @throws {RangeError} When the sample is empty.
 */
export function meanInterval(values_N: ArrayLike<number>): MeanInterval {
  const center = mean(values_N);
  const halfWidth = values_N.length < 2
    ? NaN
    : Z_95 * Math.sqrt(sampleVariance(values_N) / values_N.length);
  return { mean: center, low: center - halfWidth, high: center + halfWidth };
}

/** A rate with its 95 % interval, all in 0 to 1. */
export interface RateInterval {
  /** successes / trials */
  readonly rate: number;
  /** Lower end of the interval. */
  readonly low: number;
  /** Upper end of the interval. */
  readonly high: number;
}

/**
 * Wilson score interval of a rate at 95 %: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n) with z = 1.96.
 * Unlike p ± z·se it stays inside 0 to 1 and has a width at p = 0 and p = 1.
 * Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
 *
 * @param successes Number of successes, 0 to `trials`.
 * @param trials Number of trials, at least 1.
 * @returns The rate and its interval.
 * @throws {RangeError} When the counts are not such integers.
 * @example
 * ```ts
 * import { wilsonInterval } from "agentrl";
 * const { low, high } = wilsonInterval(5, 10);
 * console.log(low.toFixed(3), high.toFixed(3)); // 0.237 0.763
 * ```
 */
export function wilsonInterval(successes: number, trials: number): RateInterval {
  const valid = Number.isInteger(trials) && Number.isInteger(successes) && trials >= 1 &&
    successes >= 0 && successes <= trials;
  if (!valid) {
    throw new RangeError(
      `Cannot take an interval of ${successes} successes in ${trials} trials: both must be integers, ` +
        `with trials at least 1 and successes in 0 to trials`,
    );
  }
  const rate = successes / trials;
  const z2 = Z_95 * Z_95;
  const scale = 1 + z2 / trials;
  const center = (rate + z2 / (2 * trials)) / scale;
  const halfWidth = Z_95 * Math.sqrt(rate * (1 - rate) / trials + z2 / (4 * trials * trials)) /
    scale;
  // At p = 0 and p = 1 one end equals the rate in exact arithmetic; rounding must not push it past.
  const low = successes === 0 ? 0 : Math.max(0, center - halfWidth);
  const high = successes === trials ? 1 : Math.min(1, center + halfWidth);
  return { rate, low, high };
}

/**
 * Exponent p of a power law value ∝ size^p: the slope of the least-squares line through the points (ln size, ln value),
 * Σ (x − x̄)(y − ȳ) / Σ (x − x̄)².
 *
 * @param sizes_N What grows, above 0, at least two different ones.
 * @param values_N What grows with it, above 0; one for each size.
 * @returns The exponent: 1 where doubling the size doubles the value, 2 where it quadruples it.
 * @throws {RangeError} When there are fewer than two different sizes, not as many values, or one is not positive.
 */
export function growthExponent(sizes_N: readonly number[], values_N: readonly number[]): number {
  const different = new Set(sizes_N).size;
  if (different < 2 || sizes_N.length !== values_N.length) {
    throw new RangeError(
      `Cannot fit an exponent to ${different} different sizes and ${values_N.length} values: ` +
        "at least 2 different sizes with one value each are needed",
    );
  }
  const bad = [...sizes_N, ...values_N].find((value) => !(value > 0 && value < Infinity));
  if (bad !== undefined) {
    throw new RangeError(
      `Cannot fit an exponent through ${bad}: sizes and values must be positive and finite`,
    );
  }
  const [x_N, y_N] = [sizes_N.map(Math.log), values_N.map(Math.log)];
  const [centerX, centerY] = [mean(x_N), mean(y_N)];
  const spread = x_N.reduce((sum, x) => sum + (x - centerX) ** 2, 0);
  return x_N.reduce((sum, x, n) => sum + (x - centerX) * (at(y_N, n) - centerY), 0) / spread;
}

/**
 * The largest value. `Math.max(...values)` would overflow the stack at some 120,000 of them.
 *
 * @param values_N Any number of values.
 * @returns Their maximum; NaN where one is NaN, −∞ where there is none.
 */
export function largest(values_N: Iterable<number>): number {
  let found = -Infinity;
  for (const value of values_N) found = Math.max(found, value); // Math.max hands on NaN.
  return found;
}

/**
 * The smallest value, as {@linkcode largest}.
 *
 * @param values_N Any number of values.
 * @returns Their minimum; NaN where one is NaN, ∞ where there is none.
 */
export function smallest(values_N: Iterable<number>): number {
  let found = Infinity;
  for (const value of values_N) found = Math.min(found, value);
  return found;
}
