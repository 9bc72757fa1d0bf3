/** The healthy range of each metric of a step, derived from the pinned healthy runs. */
import { largest, smallest } from "../core/statistics.ts";
import { METRICS } from "../rl/metric_dictionary.ts";
import type { MetricName } from "../rl/metrics.ts";
import klReference from "./healthy_kl_reference.json" with { type: "json" };
import { HEALTHY_REFERENCE_FILE, type HealthyReferenceFile } from "./healthy_reference.ts";

/** The smallest and the largest value of a step. */
export type HealthyRange = readonly [low: number, high: number];

/** Where the healthy ranges were measured. */
export const HEALTHY_RANGES_FROM =
  "three healthy runs: GRPO's defaults, 24 steps, training seeds 0 to 2, " +
  "base agent rl:2, llvmpipe; kl_ref from their runs with klCoef 0.1";

/**
 * The pinned runs with a KL term, without which there is no kl_ref: that metric alone, of the catalogue's `kl_0.1`, which
 * has 8 steps (`cli/agentrl faults kl_0.1 --seed 0`, and of seeds 1 and 2).
 */
export const HEALTHY_KL_FILE: HealthyReferenceFile = klReference;

/** Digits of a range: seeds and adapters move the third. */
const DIGITS = 2;

/** Rounds a number; what lies exactly in the middle goes to the even digit, as printf's `%.2g` does it. */
function roundToEven(value: number): number {
  const [mantissa, exponent] = value.toExponential(99).split("e"); // All digits of a double.
  const kept = mantissa.slice(0, mantissa.indexOf(".") + DIGITS);
  const isTie = /^50*$/.test(mantissa.slice(kept.length));
  const isEven = Number(kept.at(-1)) % 2 === 0;
  return isTie && isEven ? Number(`${kept}e${exponent}`) : Number(value.toPrecision(DIGITS));
}

/**
 * The extremes of a metric over every step of some runs.
 *
 * @param file The runs.
 * @param name The metric.
 * @returns To two digits; undefined where no step has it.
 */
export function healthyStepRange(
  { seeds }: HealthyReferenceFile,
  name: string,
): HealthyRange | undefined {
  const values = seeds.flatMap(({ rows }) =>
    rows.flatMap((row) => Object.hasOwn(row, name) ? [row[name]] : [])
  );
  if (values.length === 0) return undefined;
  return [roundToEven(smallest(values)), roundToEven(largest(values))];
}

/**
 * The extremes of a metric at each step of the pinned healthy runs.
 *
 * @param name The metric.
 * @returns (step, low, high) in the order of the steps; empty where they do not have it.
 */
export function healthyRangeByStep(
  name: string,
): readonly (readonly [step: number, low: number, high: number])[] {
  const rows = [HEALTHY_REFERENCE_FILE, HEALTHY_KL_FILE]
    .map(({ seeds }) => seeds.flatMap(({ rows }) => rows).filter((row) => Object.hasOwn(row, name)))
    .find((having) => having.length > 0) ?? [];
  const valuesAt = Map.groupBy(rows, ({ step }) => step);
  return [...valuesAt].sort(([a], [b]) => a - b).map(([step, at]) => {
    const values = at.map((row) => row[name]);
    return [step, smallest(values), largest(values)];
  });
}

/** The healthy range of the metrics of the dictionary; one that the pinned runs do not have has none yet. */
export const HEALTHY_RANGES: Readonly<Partial<Record<MetricName, HealthyRange>>> = Object
  .fromEntries(
    Object.keys(METRICS).flatMap((name) => {
      const range = healthyStepRange(HEALTHY_REFERENCE_FILE, name) ??
        healthyStepRange(HEALTHY_KL_FILE, name);
      return range ? [[name, range]] : [];
    }),
  );
