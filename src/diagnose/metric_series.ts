/** The metrics of a run as columns, whoever wrote them, and the statistics that rules about them read. */
import { END_STEPS, firstSteps, lastSteps } from "../core/run_ends.ts";
import { at } from "../core/element.ts";
import { UserError } from "../core/errors.ts";
import { type Column, ColumnCollector } from "../core/columns.ts";
import { mean, median } from "../core/statistics.ts";

/** The values of one metric, in the order of their steps, which ascend; steps that lack it are left out. */
export type Series = Column;

/** The metrics of a run. */
export interface RunMetrics {
  /** Rows read. */
  readonly rowCount: number;
  /** The step of the last one. */
  readonly lastStep: number;
  /** Metrics that no row has are not here. */
  readonly series: ReadonlyMap<string, Series>;
}

/** A number made of a series, and the step that it speaks of. */
export interface Statistic {
  readonly value: number;
  readonly step: number;
}

/** Index of the largest value; NaN cannot be in a series. */
function indexOfLargest(values: readonly number[]): number {
  return values.reduce((best, value, i) => value > at(values, best) ? i : best, 0);
}

function entry({ steps, values }: Series, index: number): Statistic {
  return { value: at(values, index), step: at(steps, index) };
}

/** Undefined where the two windows of a trend would overlap. */
function windows({ steps, values }: Series) {
  if (values.length < 2 * END_STEPS) return undefined;
  return {
    first: { value: mean(firstSteps(values)), step: at(steps, END_STEPS - 1) },
    last: { value: mean(lastSteps(values)), step: at(steps, steps.length - 1) },
  };
}

function largest(series: Series): Statistic {
  return entry(series, indexOfLargest(series.values));
}

/** Name of a statistic. */
export type StatisticName =
  | "first"
  | "last"
  | "firstFour"
  | "lastFour"
  | "smallest"
  | "median"
  | "largest"
  | "laterLargest"
  | "distanceFromOne"
  | "change"
  | "trend"
  | "growth";

/** Statistics in words, where the name is not one. */
const STATISTIC_WORDS: Partial<Record<StatisticName, string>> = {
  firstFour: "mean of the first four steps",
  lastFour: "mean of the last four steps",
  laterLargest: "largest after step 0",
  distanceFromOne: "largest distance from 1",
  trend: "last four steps minus first four",
  growth: "last four steps over first four",
};

/** A statistic in words; what is not the name of one, such as a verdict, as it is. */
export function statisticWords(name: string): string {
  return Object.hasOwn(STATISTIC_WORDS, name)
    ? STATISTIC_WORDS[name as StatisticName] ?? name
    : name;
}

/** Each statistic of a series with at least one value; undefined where the series is too short for it. */
export const STATISTICS: Readonly<
  Record<StatisticName, (series: Series) => Statistic | undefined>
> = {
  /** The first value. */
  first: (series) => entry(series, 0),
  /** The last value. */
  last: (series) => entry(series, series.values.length - 1),
  /** Mean of the first four steps. */
  firstFour: (series) => windows(series)?.first,
  /** Mean of the last four steps. */
  lastFour: (series) => windows(series)?.last,
  smallest: (series) => entry(series, indexOfLargest(series.values.map((value) => -value))),
  median: ({ steps, values }) => ({ value: median(values), step: at(steps, steps.length - 1) }),
  largest,
  /** The largest value after the first step. */
  laterLargest: ({ steps, values }) =>
    values.length < 2 ? undefined : largest({ steps: steps.slice(1), values: values.slice(1) }),
  /** The largest distance from 1: 0 where the metric is exactly 1 all the time. */
  distanceFromOne: ({ steps, values }) =>
    largest({ steps, values: values.map((value) => Math.abs(value - 1)) }),
  /** Last value minus first value. */
  change: ({ steps, values }) =>
    values.length < 2
      ? undefined
      : { value: at(values, values.length - 1) - at(values, 0), step: at(steps, steps.length - 1) },
  /** Last four steps minus first four. */
  trend: (series) => {
    const ends = windows(series);
    return ends && { value: ends.last.value - ends.first.value, step: ends.last.step };
  },
  /** Last four steps over first four; too short where those are 0. */
  growth: (series) => {
    const ends = windows(series);
    if (!ends || ends.first.value === 0) return undefined;
    return { value: ends.last.value / ends.first.value, step: ends.last.step };
  },
};

function metricValue(value: unknown, name: string, place: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (value === null) {
    throw new UserError(
      `Cannot use ${place}: ${name} is null, which stands for NaN or infinity; the run's numbers overflowed there, ` +
        "so look at that step itself, or hand over the rows before it",
    );
  }
  throw new UserError(
    `Cannot use ${place}: ${name} is ${
      JSON.stringify(value)
    }, but a metric must be a finite number`,
  );
}

function stepOf(row: Readonly<Record<string, unknown>>, index: number, place: string): number {
  const { step = index } = row;
  if (typeof step === "number" && Number.isInteger(step) && step >= 0) return step;
  throw new UserError(
    `Cannot use ${place}: step is ${
      JSON.stringify(step)
    }, but must be a whole number of at least 0`,
  );
}

/**
 * Takes the metrics out of rows, such as those of a metrics.jsonl.
 *
 * @param rows One a step, in order. Keys that are not a metric of `names` are skipped; a missing `step` is the row's index.
 * @param options.names The metrics that are looked for.
 * @param options.source What error sentences call the place that the rows come from.
 * @returns The series.
 * @throws {UserError} When there is no row or no metric of those names, a step is not a whole number or does not rise, or a
 *   metric is not a finite number.
 */
export function metricSeries(
  rows: Iterable<Readonly<Record<string, unknown>>>,
  options: { readonly names: readonly string[]; readonly source: string },
): RunMetrics {
  const { names, source } = options;
  const collector = new ColumnCollector();
  for (const row of rows) {
    const place = `${source}, row ${collector.rowCount + 1}`;
    const step = stepOf(row, collector.rowCount, place);
    const { lastStep = -1 } = collector;
    if (step <= lastStep) {
      throw new UserError(
        `Cannot use ${place}: step ${step} follows step ${lastStep}, but steps must rise`,
      );
    }
    collector.beginRow(step);
    for (const name of names) {
      if (Object.hasOwn(row, name)) collector.add(name, metricValue(row[name], name, place));
    }
  }
  const { rowCount, lastStep } = collector;
  if (lastStep === undefined) throw new UserError(`Cannot use ${source}: it holds no row`);
  const columns = collector.columns();
  if (columns.size === 0) {
    throw new UserError(
      `Cannot use ${source}: it holds none of the metrics ${names.join(", ")}`,
    );
  }
  const series = new Map(names.flatMap((name) => {
    const column = columns.get(name);
    return column ? [[name, column] as const] : [];
  }));
  return { rowCount, lastStep, series };
}

/** A series up to a step, to compare a run with a longer one; undefined where nothing is left. */
export function seriesUntil({ steps, values }: Series, lastStep: number): Series | undefined {
  const count = steps.filter((step) => step <= lastStep).length;
  return count === 0 ? undefined : { steps: steps.slice(0, count), values: values.slice(0, count) };
}
