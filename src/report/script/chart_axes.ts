/** The axes of a chart in the page's colours: their ends, ticks and titles. */
/// <reference lib="dom" />
import type { ChartConfiguration } from "chart.js";
import type { ChartData } from "../chart.ts";
import type { ChartView } from "./chart_view.ts";
import { fromXAxis, logTicks, show, toAxis, toXAxis } from "./numbers.ts";

type Scales = NonNullable<NonNullable<ChartConfiguration<"line">["options"]>["scales"]>;

/** A colour of the theme that holds now. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The values of what is drawn, within the part that is shown. */
function shownValues({ series, bands }: ChartData, { range, hidden }: ChartView): number[] {
  const [from, to] = range ?? [-Infinity, Infinity];
  const within = (xs: readonly (number | null)[], ys: readonly (number | null)[]) =>
    ys.filter((y, i): y is number => {
      const x = xs[i];
      return y !== null && x !== null && x >= from && x <= to;
    });
  return [
    ...series.filter(({ name }) => !hidden.has(name)).flatMap(({ x, y }) => within(x, y)),
    ...bands.filter(({ name, of = name }) => !hidden.has(of))
      .flatMap(({ lowX, low, highX, high }) => [...within(lowX, low), ...within(highX, high)]),
  ];
}

/** Whole powers of ten; from 0 up where nothing is negative; a curve of exact zeros lies on the axis. */
function yLimits(chart: ChartData, view: ChartView) {
  const values = shownValues(chart, view);
  if (chart.log) {
    const powers = values.map((y) => toAxis(chart, y)).filter(Number.isFinite);
    const least = powers.reduce((a, b) => Math.min(a, b), Infinity);
    const most = powers.reduce((a, b) => Math.max(a, b), -Infinity);
    if (powers.length === 0) return { min: 0, max: 1 };
    return {
      min: chart.zeroAt ?? Math.floor(least),
      max: Math.max(Math.ceil(most), Math.floor(least) + 1),
    };
  }
  if (values.some((y) => y < 0)) return { grace: "5%" };
  return values.some((y) => y > 0) ? { beginAtZero: true } : { min: 0, max: 1 };
}

/** Both axes of what a reader has chosen to see. */
export function axes(
  chart: ChartData,
  view: ChartView,
): Scales {
  const grid = { color: colour("grid"), drawTicks: false };
  const ticks = { color: colour("text-quiet"), maxRotation: 0, padding: 6, font: { size: 12 } };
  const title = (text: string) => ({
    display: text !== "",
    text,
    color: colour("text-quiet"),
    font: { size: 12 },
  });
  const [min, max] = (view.range ?? chart.xRange ?? []).map((x) => toXAxis(chart, x));
  return {
    x: {
      type: "linear",
      ...(min !== undefined && max !== undefined && { min, max }),
      grid: { ...grid, display: false },
      border: { color: colour("text-quiet") },
      ticks: {
        ...ticks,
        maxTicksLimit: 7,
        callback: (value) => show(fromXAxis(chart, Number(value))),
        includeBounds: false,
      },
      title: title(chart.xLabel),
    },
    y: {
      type: "linear",
      ...yLimits(chart, view),
      grid,
      border: { display: false },
      ticks: {
        ...ticks,
        maxTicksLimit: 6,
        callback: (value, i, all) => {
          const { label } = all[i];
          return typeof label === "string" ? label : show(Number(value));
        },
      },
      title: title(chart.yLabel),
      // Charts above one another have their axes in one line.
      afterFit(axis) {
        axis.width = Math.max(axis.width, 64);
      },
      afterBuildTicks(axis) {
        if (chart.log) axis.ticks = logTicks(chart, axis);
      },
    },
  };
}
