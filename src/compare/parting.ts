/** Where two series part: from which step on they differ by more than their noise explains. */
import { median } from "../core/statistics.ts";
import { type LogSeries, roundingErrorOf } from "../logs/run_log.ts";

/** Steps that must agree about a parting: one spike is none. */
export const PARTING_STEPS = 5;

/** Median difference over those steps, in noise, from which on series have parted. */
export const PARTING_NOISE = 4;

/** Standard deviation of a normal sample whose median absolute value is 1. */
const PER_MEDIAN = 1.4826;

/** Two series at the steps that both have, finite in both. */
export interface CommonSteps {
  readonly steps: readonly number[];
  readonly first: readonly number[];
  readonly second: readonly number[];
}

/** A parting. */
export interface Parting {
  /** The first step of those that agree. */
  readonly step: number;
  /** Medians over {@linkcode PARTING_STEPS} steps from there on. */
  readonly first: number;
  readonly second: number;
  /** |median difference| / noise; null where the noise is 0: the series have none. */
  readonly inNoise: number | null;
}

/** Steps of both series with a finite value in both. */
export function commonSteps(a: LogSeries, b: LogSeries): CommonSteps {
  const steps: number[] = [];
  const first: number[] = [];
  const second: number[] = [];
  for (let i = 0, j = 0; i < a.steps.length && j < b.steps.length;) {
    if (a.steps[i] < b.steps[j]) i++;
    else if (a.steps[i] > b.steps[j]) j++;
    else {
      if (Number.isFinite(a.values[i]) && Number.isFinite(b.values[j])) {
        steps.push(a.steps[i]);
        first.push(a.values[i]);
        second.push(b.values[j]);
      }
      i++;
      j++;
    }
  }
  return { steps, first, second };
}

/**
 * Noise of the difference d of two series from one step to the next: 1.4826 · median |d[i+1] − d[i]| / √2. It is the standard
 * deviation of independent normal noise, and neither a trend nor a few jumps move it.
 *
 * @param differences At least two.
 */
export function noiseOf(differences: readonly number[]): number {
  const changes = differences.slice(1).map((value, i) => Math.abs(value - differences[i]));
  return PER_MEDIAN * median(changes) / Math.SQRT2;
}

/**
 * The first step from which on {@linkcode PARTING_STEPS} common steps in a row differ in one direction, beyond what rounding
 * explains, by a median of at least {@linkcode PARTING_NOISE} times the noise. Independent normal noise does so once in 10¹³
 * windows; a metric whose noise lasts for many steps does so sooner, as any two seeds do.
 *
 * @param common The two series.
 * @param rounding How far a value of each may be off because its writer rounded it.
 * @returns Undefined where they do not part, or have fewer than {@linkcode PARTING_STEPS} + 1 common steps.
 */
export function partingOf(
  { steps, first, second }: CommonSteps,
  [roundingA, roundingB]: readonly [LogSeries["rounding"], LogSeries["rounding"]] = [
    undefined,
    undefined,
  ],
): Parting | undefined {
  if (steps.length <= PARTING_STEPS) return undefined;
  const differences = steps.map((_, i) => first[i] - second[i]);
  const beyondRounding = differences.map((difference, i) =>
    Math.abs(difference) >
      roundingErrorOf(roundingA, first[i]) + roundingErrorOf(roundingB, second[i])
  );
  const noise = noiseOf(differences);
  for (let begin = 0; begin + PARTING_STEPS <= steps.length; begin++) {
    const end = begin + PARTING_STEPS;
    const window = differences.slice(begin, end);
    if (!beyondRounding.slice(begin, end).every(Boolean)) continue;
    if (!window.every((difference) => Math.sign(difference) === Math.sign(window[0]))) continue;
    const size = Math.abs(median(window));
    if (size < PARTING_NOISE * noise) continue;
    return {
      step: steps[begin],
      first: median(first.slice(begin, end)),
      second: median(second.slice(begin, end)),
      inNoise: noise > 0 ? size / noise : null,
    };
  }
  return undefined;
}
