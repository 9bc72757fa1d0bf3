/** What a reader has chosen of a chart: its scale, how much it is smoothed, which part of the x axis it shows. */
import type { ChartData, ChartDataSeries } from "../chart.ts";

/** A reader's choice. */
export interface ChartView {
  readonly log: boolean;
  /** Weight of the past in the moving average, from 0 (none) to below 1. */
  readonly smoothing: number;
  /** First and last x that are shown; undefined: all. */
  readonly range: readonly [number, number] | undefined;
  /** Names of the curves and ranges that are not drawn. */
  readonly hidden: ReadonlySet<string>;
}

/** A chart as it is drawn at first. */
export function firstView({ log }: ChartData): ChartView {
  return { log, smoothing: 0, range: undefined, hidden: new Set() };
}

/**
 * An exponential moving average without the pull towards 0 of its first values; where there is no value it has none.
 *
 * @param ys null stands for what was not finite.
 * @param weight Weight of the past, from 0 to below 1.
 */
export function smooth(ys: readonly (number | null)[], weight: number): (number | null)[] {
  let sum = 0;
  let weights = 0;
  return ys.map((y) => {
    if (y === null) return null;
    sum = weight * sum + (1 - weight) * y;
    weights = weight * weights + (1 - weight);
    return sum / weights;
  });
}

/** Names of what a chart draws and a legend lists, each once. */
export function curveNames({ series, bands }: ChartData): string[] {
  const listed = bands.filter(({ of }) => of === undefined);
  return [...new Set([...series, ...listed].map(({ name }) => name))];
}

/**
 * How a chart is drawn whose run has grown: as the reader has chosen, and where nobody chose a scale, on that of the new data.
 */
export function viewAfter(
  view: ChartView,
  { from, to }: { readonly from: ChartData; readonly to: ChartData },
): ChartView {
  const isChosen = view.log !== from.log;
  return { ...view, log: to.canBeLog && (isChosen ? view.log : to.log) };
}

/** All x of a chart's curves: the smallest and the largest. */
export function xEnds({ series }: ChartData): [number, number] {
  const xs = series.flatMap(({ x }) => x).filter((x) => x !== null);
  return [
    xs.reduce((least, x) => Math.min(least, x), Infinity),
    xs.reduce((most, x) => Math.max(most, x), -Infinity),
  ];
}

/** A cell of a CSV file: quoted where a comma, a quote or a line's end is in it. */
function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvRows({ xLabel, yLabel, series, isScatter }: ChartData): (string | number | null)[][] {
  if (isScatter) {
    const rows = series.flatMap(({ name, x, y }) => x.map((value, i) => [name, value, y[i]]));
    return [["series", xLabel, yLabel], ...rows];
  }
  const valuesOf = ({ x, y }: ChartDataSeries) => new Map(x.map((value, i) => [value, y[i]]));
  const columns = series.map(valuesOf);
  const xs = [...new Set(series.flatMap(({ x }) => x))].filter((x) => x !== null)
    .sort((a, b) => a - b);
  return [
    [xLabel, ...series.map(({ name }) => name)],
    ...xs.map((x) => [x, ...columns.map((values) => values.get(x) ?? null)]),
  ];
}

/**
 * What a chart draws as CSV: a row for each x and a column for each curve; of a scatter a row for each point. What was not
 * finite is left empty.
 */
export function chartCsv(chart: ChartData): string {
  const line = (row: readonly (string | number | null)[]) =>
    `${row.map((cell) => csvCell(String(cell ?? ""))).join(",")}\n`;
  return csvRows(chart).map(line).join("");
}
