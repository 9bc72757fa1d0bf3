/** What rules read off a series: levels at both ends, noise, trends, shifts and spikes, all of them robust to single rows. */
import { withDigits } from "../../core/digits.ts";
import { median, quantile } from "../../core/statistics.ts";
import type { MeasuredSeries } from "../../producers/run_view.ts";

/** The finite values of a series, by step. */
export interface Curve {
  readonly series: MeasuredSeries;
  readonly key: string;
  readonly steps: Float64Array;
  readonly values: Float64Array;
}

/** Fewest values from which a trend is read: two windows of five. */
export const LEAST_FOR_TREND = 10;

/** Takes what is not a number out of a series. A long series that has only numbers is not copied. */
export function curveOf(series: MeasuredSeries): Curve {
  const { key, steps, values } = series;
  if (values.every(Number.isFinite)) return { series, key, steps, values };
  return {
    series,
    key,
    steps: steps.filter((_, i) => Number.isFinite(values[i])),
    values: values.filter(Number.isFinite),
  };
}

/** Steps from a value to the next, the median; 1 where there is none. */
export function intervalOf(steps: Float64Array): number {
  if (steps.length < 2) return 1;
  return median(steps.slice(1).map((step, i) => step - steps[i]));
}

/**
 * A curve's values at the steps of another.
 *
 * @returns One value for each step of `like`; NaN where the curve has none. Steps of two axes count different things: then all are NaN.
 */
export function valuesAt(curve: Curve, like: Curve): Float64Array {
  const values = new Float64Array(like.steps.length).fill(NaN);
  if (curve.series.axis !== like.series.axis) return values;
  let place = 0; // Both ascend.
  for (let i = 0; i < values.length; i++) {
    while (curve.steps[place] < like.steps[i]) place++;
    if (curve.steps[place] === like.steps[i]) values[i] = curve.values[place];
  }
  return values;
}

/** Median; NaN of nothing. */
export function middle(values: ArrayLike<number>): number {
  return values.length === 0 ? NaN : median(values);
}

/** Standard deviation of a normal distribution over the median of |x|. */
const SIGMA_PER_MAD = 1.4826;

/**
 * Noise of single values: what successive values differ by, over √2. A trend hardly enters, and a few spikes do not.
 * Half of the values equal to their neighbours would make it 0, so that then the mean difference stands in.
 */
export function noiseOf(values: ArrayLike<number>): number {
  if (values.length < 3) return 0;
  const jumps = Array.from(
    { length: values.length - 1 },
    (_, i) => Math.abs(values[i + 1] - values[i]),
  );
  const typical = median(jumps) * SIGMA_PER_MAD;
  const average = jumps.reduce((sum, jump) => sum + jump, 0) / jumps.length;
  return (typical > 0 ? typical : average) / Math.SQRT2;
}

/** What is left of the values after a running median over a fifth of them; the ends, where it lags, are left out. */
function residuals(values: Float64Array): number[] {
  const half = Math.max(2, Math.floor(values.length / 10));
  return Array.from(
    values.subarray(half, values.length - half),
    (value, i) => value - median(values.subarray(i, i + 2 * half + 1)),
  );
}

/** Spread of values around the line through the medians of their two halves. */
function spreadAroundLine(values: Float64Array): number {
  const count = values.length, cut = count >> 1;
  const [low, high] = [median(values.subarray(0, count - cut)), median(values.subarray(cut))];
  const slope = cut === 0 ? 0 : (high - low) / cut;
  const middleIndex = (count - 1) / 2;
  const left = values.map((value, i) => value - slope * (i - middleIndex));
  const center = median(left);
  return SIGMA_PER_MAD * median(left.map((value) => Math.abs(value - center)));
}

/** Factor by which values that resemble their neighbours widen the error of a mean: √((1 + ρ) / (1 − ρ)). */
export function inflation(values: Float64Array): number {
  const left = residuals(thinned(values, 256));
  let product = 0, square = 0;
  for (let i = 0; i < left.length; i++) {
    square += left[i] ** 2;
    if (i > 0) product += left[i] * left[i - 1];
  }
  // Neighbours that alternate make a mean surer; this is not counted on.
  const correlation = square === 0 ? 0 : Math.min(0.9, Math.max(0, product / square));
  return Math.sqrt((1 + correlation) / (1 - correlation));
}

/** Means of blocks, at most so many; the values themselves where there are no more. */
export function thinned(values: Float64Array, most: number): Float64Array {
  const size = Math.ceil(values.length / most);
  if (size <= 1) return values;
  return Float64Array.from({ length: Math.ceil(values.length / size) }, (_, block) => {
    const part = values.subarray(block * size, (block + 1) * size);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

/** A curve of the means of blocks where it has more values than so many; each block stands at its first step. */
export function thinnedCurve(curve: Curve, most: number): Curve {
  const size = Math.ceil(curve.values.length / most);
  if (size <= 1) return curve;
  return {
    ...curve,
    steps: curve.steps.filter((_, i) => i % size === 0),
    values: thinned(curve.values, most),
  };
}

/** How a curve's end differs from its beginning. */
export interface Change {
  /** Median of the first fifth. */
  readonly head: number;
  /** Median of the last fifth. */
  readonly tail: number;
  /** Step at which the last fifth begins. */
  readonly tailStep: number;
  readonly lastStep: number;
  /** Standard error of their difference. */
  readonly error: number;
  /** Their difference over its standard error. */
  readonly z: number;
  /** From the tenth to the ninetieth hundredth of all values. */
  readonly range: number;
  /** True where nine in ten values of one end lie beyond nine in ten of the other: steep curves have no common noise. */
  readonly isApart: boolean;
}

/** Efficiency of a median: its standard error is this times that of a mean (normal noise). */
const MEDIAN_ERROR = 1.2533;

/** A curve's first fifth against its last; undefined where it is too short for a trend. */
export function changeOf(curve: Curve): Change | undefined {
  const { steps, values } = thinnedCurve(curve, 5000);
  const count = values.length;
  if (count < LEAST_FOR_TREND) return undefined;
  const width = Math.max(5, Math.floor(count / 5));
  const [first, last] = [values.subarray(0, width), values.subarray(count - width)];
  const [head, tail] = [median(first), median(last)];
  // The larger of two measures of noise: successive differences, and the spread within the windows.
  const noise = Math.max(noiseOf(values), spreadAroundLine(first), spreadAroundLine(last));
  const error = MEDIAN_ERROR * noise * Math.sqrt(2 / width) * inflation(values);
  const difference = tail - head;
  const z = difference === 0
    ? 0
    : error === 0
    ? Math.sign(difference) * Infinity
    : difference / error;
  const isApart = difference > 0
    ? quantile(last, 0.1) > quantile(first, 0.9)
    : quantile(last, 0.9) < quantile(first, 0.1);
  const range = quantile(values, 0.9) - quantile(values, 0.1);
  const [tailStep, lastStep] = [steps[count - width], steps[count - 1]];
  return { head, tail, tailStep, lastStep, error, z, range, isApart };
}

/** From which share of its values a part of a curve begins, and where it ends. */
export function partOf({ steps, values }: Curve, from: number, to: number) {
  const [start, end] = [from, to].map((share) => Math.round(share * values.length));
  return { values: values.subarray(start, end), step: steps[Math.min(start, steps.length - 1)] };
}

/** The last quarter of a curve, at least three values where it has them. */
export function lastQuarter({ steps, values }: Curve) {
  const start = Math.max(0, Math.min(values.length - 3, Math.floor(values.length * 0.75)));
  return { values: values.subarray(start), step: steps[start], lastStep: steps[steps.length - 1] };
}

/** The step from which on the values fulfil a condition to the end (one in ten may break it); undefined where they do not. */
export function holdsFrom(curve: Curve, condition: (value: number) => boolean) {
  const { steps, values } = curve;
  let breaks = 0;
  let start: number | undefined;
  for (let i = values.length - 1; i >= 0; i--) {
    if (!condition(values[i])) breaks++;
    else if (breaks <= (values.length - i) / 10) start = i;
    if (breaks > Math.max(1, values.length / 10)) break;
  }
  return start === undefined ? undefined : { step: steps[start], count: values.length - start };
}

/** A lasting change of level. */
export interface Shift {
  /** The first step at the new level. */
  readonly step: number;
  readonly before: number;
  readonly after: number;
}

/** Fewest values on each side of a shift. */
const LEAST_SIDE = 5;

/**
 * The place at which the level changes most, by the medians of the ten values before and after it; undefined where the
 * curve is too short. `isSharp`: within five values it goes most of the way, as a trend does not.
 */
export function shiftOf(curve: Curve): (Shift & { readonly isSharp: boolean }) | undefined {
  const { steps, values } = thinnedCurve(curve, 2000);
  const count = values.length;
  if (count < 2 * LEAST_SIDE) return undefined;
  let best = -1, size = 0;
  for (let i = LEAST_SIDE; i <= count - LEAST_SIDE; i++) {
    const difference = Math.abs(
      median(values.subarray(i, i + 10)) - median(values.subarray(Math.max(0, i - 10), i)),
    );
    if (difference > size) [best, size] = [i, difference];
  }
  if (best < 0) return undefined;
  const split = crossing(values, best);
  const [left, right] = [values.subarray(0, split), values.subarray(split)];
  const [before, after] = [median(left), median(right)];
  const near = median(values.subarray(split, split + 5)) -
    median(values.subarray(Math.max(0, split - 5), split));
  const isSharp = Math.abs(near) >= 0.6 * Math.abs(after - before) &&
    (after > before
      ? quantile(left, 0.9) < quantile(right, 0.1)
      : quantile(left, 0.1) > quantile(right, 0.9));
  return { step: steps[split], before, after, isSharp };
}

/** Near a place, the first value that lies beyond the middle between the levels on both sides, as the two after it do. */
function crossing(values: Float64Array, place: number): number {
  const before = median(values.subarray(Math.max(0, place - 10), place));
  const after = median(values.subarray(place, place + 10));
  const isBeyond = (value: number) => (value - (before + after) / 2) * (after - before) > 0;
  for (let i = Math.max(1, place - 5); i <= Math.min(values.length - 3, place + 5); i++) {
    if (values.subarray(i, i + 3).every(isBeyond)) return i;
  }
  return place;
}

/** A value far above its neighbours. */
export interface Spike {
  readonly index: number;
  readonly step: number;
  readonly value: number;
  /** Median of the values around it. */
  readonly around: number;
}

/** Values on each side that a spike is compared with. */
const NEIGHBOURS = 10;

/** Whether at least half of a value's neighbours lie `times` below it: cheap, for the many values that are not spikes. */
function isFarAbove(
  values: Float64Array,
  { index, start, end, times }: {
    readonly index: number;
    readonly start: number;
    readonly end: number;
    readonly times: number;
  },
): boolean {
  const limit = values[index] / times;
  let below = 0;
  for (let j = start; j < end; j++) if (values[j] < limit) below++;
  return 2 * below >= end - start - 1;
}

/**
 * Values that exceed the median around them `times` over, and twelve times the noise there. Both: where the values hardly vary a small
 * bump is many noises, and where they are near 0 it is many times the median.
 */
export function spikesOf({ steps, values }: Curve, times: number): Spike[] {
  const spikes: Spike[] = [];
  for (let i = 0; i < values.length; i++) {
    const start = Math.max(0, i - NEIGHBOURS), end = Math.min(values.length, i + NEIGHBOURS + 1);
    if (!isFarAbove(values, { index: i, start, end, times })) continue;
    const near = values.subarray(start, i + NEIGHBOURS + 1).filter((_, j) => start + j !== i);
    if (near.length < 5) continue;
    const around = median(near);
    if (!(values[i] > times * around) || around <= 0) continue;
    const spread = SIGMA_PER_MAD * median(near.map((value) => Math.abs(value - around)));
    if (values[i] - around > 12 * spread) {
      spikes.push({ index: i, step: steps[i], value: values[i], around });
    }
  }
  return spikes;
}

/** Decimals with which a number is written; 0 of whole numbers. */
function decimalsOf(value: number): number {
  const [digits, exponent = "0"] = Math.abs(value).toString().split("e");
  return Math.max(0, (digits.split(".")[1]?.length ?? 0) - Number(exponent));
}

/** The most decimals that any number of some columns has; undefined where too few have any to tell, or one has more than six. */
export function decimalsSeen(columns: Iterable<ArrayLike<number>>): number | undefined {
  let most = 0, fractions = 0;
  for (const values of columns) {
    const stride = Math.max(1, Math.floor(values.length / 50));
    for (let i = 0; i < values.length; i += stride) {
      if (!Number.isFinite(values[i]) || Number.isInteger(values[i])) continue;
      fractions++;
      most = Math.max(most, decimalsOf(values[i]));
      if (most > 6) return undefined;
    }
  }
  return fractions < 5 ? undefined : most;
}

/** A number for a sentence: three significant digits, whole numbers up to a million as they are. */
export function say(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "infinity" : "-infinity";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) {
    return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
  }
  return withDigits(value, 3);
}
