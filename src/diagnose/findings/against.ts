/** A run against a healthy one of the same user: the same keys, level by level at the same share of the run. */
import { CANONICAL, type CanonicalMetric } from "../../producers/definition.ts";
import type { Finding } from "../finding.ts";
import { type Curve, curveOf, middle, noiseOf, partOf, say } from "./curve.ts";
import type { Context } from "./rule.ts";

const METRICS = Object.keys(CANONICAL) as CanonicalMetric[];

/** Values that each curve must have. */
const LEAST_VALUES = 8;

/** A metric that counts up by itself, or depends on the machine, says nothing about health. */
const NOT_COMPARED: ReadonlySet<string> = new Set(["step_time", "throughput", "tokens", "epoch"]);

interface Deviation {
  readonly curve: Curve;
  readonly level: number;
  readonly low: number;
  readonly high: number;
  readonly step: number;
  /** Distance from the range in its widths. */
  readonly distance: number;
}

/** The range of a healthy curve: from its least to its largest value without the outermost twentieths, wider by noise. */
function rangeOf({ values }: Curve): { readonly low: number; readonly high: number } {
  const sorted = values.slice().sort();
  const cut = Math.floor(sorted.length / 20);
  const noise = noiseOf(values);
  return { low: sorted[cut] - noise, high: sorted[sorted.length - 1 - cut] + noise };
}

function deviationOf(curve: Curve, healthy: Curve): Deviation | undefined {
  if (curve.values.length < LEAST_VALUES || healthy.values.length < LEAST_VALUES) return undefined;
  const range = rangeOf(healthy);
  const width = range.high - range.low;
  const end = partOf(curve, 0.75, 1);
  const level = middle(end.values);
  // A whole width beside the range: another seed moves a level by less than the run itself moves.
  const [low, high] = [range.low - width, range.high + width];
  if (level >= low && level <= high) return undefined;
  const distance = width === 0 ? Infinity : Math.max(low - level, level - high) / width;
  return { curve, level, low, high, step: end.step, distance };
}

/** The largest deviations are named. */
const MOST = 5;

/** Metrics of which more is better: beyond the healthy run's range upwards there is nothing to worry about. */
const MORE_IS_BETTER: ReadonlySet<string> = new Set([
  "reward",
  "reward_component",
  "eval_score",
  "all_solved",
]);

/**
 * Compares a run with a healthy one.
 *
 * @param context The run.
 * @param healthy The healthy run.
 * @returns A finding for each metric whose end lies a whole width beside what the healthy run ever showed.
 */
export function compareWith({ view }: Context, healthy: Context): Finding[] {
  const theirs = new Map(
    healthy.view.understood.flatMap((key) => {
      const series = seriesByKey(healthy, key);
      return series ? [[key, series] as const] : [];
    }),
  );
  const deviations = view.understood.flatMap((key): Deviation[] => {
    const own = seriesByKey({ view }, key), other = theirs.get(key);
    if (!own || !other || NOT_COMPARED.has(own.series.definition.metric)) return [];
    const deviation = deviationOf(own, other);
    const isBetter = deviation && deviation.level > deviation.high &&
      MORE_IS_BETTER.has(own.series.definition.metric);
    return deviation && !isBetter ? [deviation] : [];
  });
  return deviations.toSorted((a, b) => b.distance - a.distance).slice(0, MOST).map(
    ({ curve, level, low, high, step }): Finding => ({
      id: "unlike_healthy",
      class: "suspect",
      metric: curve.series.definition.metric,
      key: curve.key,
      step,
      value: level,
      bound: level > high ? high : low,
      boundFrom:
        `the range of ${healthy.view.log.source.path}, widened by its own width on both sides`,
      sentence: `${curve.key} ends at ${say(level)}; the healthy run stays between ${
        say(low)
      } and ${say(high)}, margin included.`,
      alternatives: ["settings, data or a model other than the healthy run's"],
    }),
  );
}

function seriesByKey({ view }: Pick<Context, "view">, key: string): Curve | undefined {
  for (const metric of METRICS) {
    const found = view.all(metric).find((series) => series.key === key);
    if (found) return curveOf(found);
  }
  return undefined;
}
