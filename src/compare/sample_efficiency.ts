/** Sample efficiency: how many steps runs need until a metric first reaches a threshold. */
import { median } from "../core/statistics.ts";

/** A metric by step. */
export interface Curve {
  /** Ascending. */
  readonly steps: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** When runs of a method reached a threshold. */
export interface SampleEfficiency {
  readonly threshold: number;
  /** How many of the runs reached it. */
  readonly reached: number;
  readonly runs: number;
  /** Median over all runs, those that never reached it above all others: null where that is more than half of them. */
  readonly medianSteps: number | null;
  /** Of the first run that reached it; null where none did. */
  readonly leastSteps: number | null;
}

/**
 * The first step at which a curve reaches a threshold.
 *
 * @param options.lowerIsBetter True where a run reaches it from above.
 * @returns Infinity where it never does. Between two measurements it is not known: the later one counts.
 */
export function stepsToThreshold(
  { steps, values }: Curve,
  { threshold, lowerIsBetter }: { readonly threshold: number; readonly lowerIsBetter: boolean },
): number {
  for (let i = 0; i < steps.length; i++) {
    const value = values[i] ?? NaN;
    if (lowerIsBetter ? value <= threshold : value >= threshold) return steps[i] ?? NaN;
  }
  return Infinity;
}

/** Steps to a threshold over the runs of a method; at least one run. */
export function sampleEfficiency(
  curves: readonly Curve[],
  options: { readonly threshold: number; readonly lowerIsBetter: boolean },
): SampleEfficiency {
  const steps = curves.map((curve) => stepsToThreshold(curve, options));
  const reached = steps.filter(Number.isFinite);
  const middle = median(steps);
  return {
    threshold: options.threshold,
    reached: reached.length,
    runs: curves.length,
    medianSteps: Number.isFinite(middle) ? middle : null,
    leastSteps: reached.length === 0 ? null : Math.min(...reached),
  };
}
