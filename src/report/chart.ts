/** Charts as data: what is drawn, on which scale, and the table that says the same without a picture. */
import { downsample, type Point } from "./downsample.ts";
import { formatCount, formatNumber, roundForData } from "./format.ts";
import { type Attachment, type Html, html, NOTHING } from "./html.ts";
import { columnsOf, dataTable } from "./tables.ts";

/** What a curve stands for; the style sheet has a colour for each, and each is dashed and marked differently. */
export type Tone = "first" | "second" | "third" | "fourth" | "fifth" | "level";

/** A curve or marks. */
export interface ChartSeries {
  readonly name: string;
  readonly style: "line" | "points";
  readonly tone: Tone;
  readonly points: readonly Point[];
}

/** A range around a curve: an interval, or what healthy runs did. */
export interface ChartBand {
  /** As the legend has it. */
  readonly name: string;
  /** The name of the curve that it goes with: it is hidden together with that one, and the legend does without it. */
  readonly of?: string | undefined;
  /** The tone of the curve that it belongs to, where a chart has several (default: none). */
  readonly tone?: Tone | undefined;
  /** (x, low, high) */
  readonly points: readonly (readonly [number, number, number])[];
}

/** Something that happened at an x, marked on the axis. */
export interface ChartEvent {
  readonly x: number;
  readonly kind: "checkpoint" | "recorded" | "finding" | "seam";
}

/** A chart. */
export interface Chart {
  /** Unique in the document. */
  readonly id: string;
  readonly title: string;
  /** What x is, with its unit. */
  readonly xLabel: string;
  /** What y is, with its unit; empty where the title says it. */
  readonly yLabel: string;
  readonly series: readonly ChartSeries[];
  readonly bands?: readonly ChartBand[];
  readonly events?: readonly ChartEvent[];
  /** True where points are not a course over x: the nearest one is shown, whatever its x. */
  readonly isScatter?: true;
  /** True where x grows by factors: both axes are logarithmic, so that a power law is a straight line. All x are above 0. */
  readonly isLogLog?: true;
  /** Ends of the x axis, where several charts share them. */
  readonly xRange?: readonly [number, number] | undefined;
}

/** Rows of the table beside a chart: enough to read its course. */
const TABLE_ROWS = 16;

/** A ratio of largest to smallest value from which on a logarithmic scale shows more than a linear one. */
const DECADES = 100;

function yValues({ series, bands = [] }: Chart): number[] {
  return [
    ...series.flatMap(({ points }) => points.map(([, y]) => y)),
    ...bands.flatMap(({ points }) => points.flatMap(([, low, high]) => [low, high])),
  ].filter(Number.isFinite);
}

/** The scale of y: which one is drawn at first, and what a logarithmic one needs. */
export interface YScale {
  /** True where values span two decades and none is negative. */
  readonly log: boolean;
  /** False where a logarithmic axis would leave out values below 0, or has none to show. */
  readonly canBeLog: boolean;
  /**
   * Exact zeros, which are what a reader must see, stand one decade below the smallest value of a logarithmic axis: that
   * power of ten, null where there are none.
   */
  readonly zeroAt: number | null;
}

/** The scale of a chart's y axis. */
export function yScale(chart: Chart): YScale {
  const values = yValues(chart);
  const positive = values.filter((value) => value > 0);
  const smallest = positive.reduce((least, value) => Math.min(least, value), Infinity);
  const largest = positive.reduce((most, value) => Math.max(most, value), 0);
  const canBeLog = positive.length > 0 && values.every((value) => value >= 0);
  const hasZero = values.some((value) => value === 0);
  return {
    log: canBeLog && positive.length > 1 &&
      (chart.isLogLog === true || largest / smallest >= DECADES),
    canBeLog,
    zeroAt: canBeLog && hasZero ? Math.floor(Math.log10(smallest)) - 1 : null,
  };
}

/** A curve as columns of rounded numbers; null stands for what is not finite. */
export interface ChartDataSeries extends Omit<ChartSeries, "points"> {
  readonly x: readonly (number | null)[];
  readonly y: readonly (number | null)[];
}

/** The edges of a range; each is thinned out by itself. */
export interface ChartDataBand extends Omit<ChartBand, "points"> {
  readonly lowX: readonly (number | null)[];
  readonly low: readonly (number | null)[];
  readonly highX: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

/** A chart as the page's script reads it. */
export interface ChartData extends Omit<Chart, "series" | "bands" | "events">, YScale {
  readonly series: readonly ChartDataSeries[];
  readonly bands: readonly ChartDataBand[];
  readonly events: readonly ChartEvent[];
}

/**
 * The chart as the page's script reads it: columns of rounded numbers.
 *
 * @param maxPoints Points a curve may keep.
 */
export function chartData(chart: Chart, maxPoints: number): ChartData {
  const {
    id,
    title,
    xLabel,
    yLabel,
    series,
    bands = [],
    events = [],
    xRange,
    isScatter,
    isLogLog,
  } = chart;
  const columns = (points: readonly (readonly number[])[], column: number) =>
    points.map((point) => roundForData(point[column]));
  return {
    id,
    title,
    xLabel,
    yLabel,
    ...yScale(chart),
    ...(xRange && { xRange }),
    ...(isScatter && { isScatter }),
    ...(isLogLog && { isLogLog }),
    series: series.map(({ name, style, tone, points }) => {
      const kept = downsample(points, maxPoints);
      return { name, style, tone, x: columns(kept, 0), y: columns(kept, 1) };
    }),
    bands: bands.map(({ name, of, tone, points }) => {
      const lows = downsample(points.map(([x, low]) => [x, low]), maxPoints);
      const highs = downsample(points.map(([x, , high]) => [x, high]), maxPoints);
      return {
        name,
        ...(of !== undefined && { of }),
        ...(tone !== undefined && { tone }),
        lowX: columns(lows, 0),
        low: columns(lows, 1),
        highX: columns(highs, 0),
        high: columns(highs, 1),
      };
    }),
    events,
  };
}

/** A chart as the attachment of the markup that holds its canvas. */
interface ChartAttachment extends Attachment {
  readonly kind: "chart";
  readonly chart: Chart;
}

/** The charts whose canvases are in some markup, in their order. */
export function chartsOf({ attachments }: Html): Chart[] {
  return attachments.filter(({ kind }) => kind === "chart")
    .map((attachment) => (attachment as ChartAttachment).chart);
}

/** The same numbers as a table: the ends and extremes of the curves, at most 16 rows. */
export function chartTable(
  { xLabel, series, bands = [], title }: Chart,
  { isOpen = true }: { readonly isOpen?: boolean } = {},
): Html {
  const kept = series.map(({ points }) => downsample(points, TABLE_ROWS));
  const xs = [...new Set((kept[0] ?? []).concat(...kept.slice(1)).map(([x]) => x))]
    .sort((a, b) => a - b);
  const chosen = downsample(xs.map((x) => [x, 0]), TABLE_ROWS).map(([x]) => x);
  const firsts = new Set([...(kept[0] ?? []).map(([x]) => x), ...chosen]);
  const columns = [
    ...series.map(({ name, points }) => ({ name, values: new Map(points) })),
    ...bands.flatMap(({ name, points }) => [
      { name: `${name}, low`, values: new Map(points.map(([x, low]) => [x, low])) },
      { name: `${name}, high`, values: new Map(points.map(([x, , high]) => [x, high])) },
    ]),
  ];
  const table = dataTable({
    title: `${title}, as a table`,
    hasCaption: false,
    columns: columnsOf("number", xLabel, ...columns.map(({ name }) => name)),
    rows: [...firsts].sort((a, b) => a - b).map((x) => [
      // Steps of long runs differ in their last digits.
      Number.isInteger(x) ? formatCount(x) : formatNumber(x),
      ...columns.map(({ values }) => formatNumber(values.get(x))),
    ]),
  });
  const content = html`<summary>Table: ${title}</summary>${table}`;
  // Where there is no script to draw the chart the table stands for it.
  return isOpen
    ? html`<details class="data" open>${content}</details>`
    : html`<details class="data">${content}</details>`;
}

/** In words, for who cannot see the canvas. */
export function describeChart({ title, series }: Chart): string {
  const parts = series.map(({ name, points }) => {
    const ys = points.map(([, y]) => y).filter(Number.isFinite);
    if (ys.length === 0) return `${name}: no value`;
    const low = ys.reduce((a, b) => Math.min(a, b));
    const high = ys.reduce((a, b) => Math.max(a, b));
    return `${name}: from ${formatNumber(ys[0])} to ${formatNumber(ys[ys.length - 1])}, ` +
      `lowest ${formatNumber(low)}, highest ${formatNumber(high)}`;
  });
  return `${title}. ${parts.join("; ")}.`;
}

/**
 * A chart in the document: a canvas for the page's script, a caption, and the table.
 *
 * @param chart The chart.
 * @param caption One or two sentences; empty: the title alone.
 */
export function chartFigure(chart: Chart, caption: Html = NOTHING): Html {
  const figure = html`<figure class="chart"><figcaption><b>${chart.title}</b>${
    caption.markup === "" ? NOTHING : html`
      ${caption}
    `
  }</figcaption>
<div class="plot"><canvas id="${chart.id}" role="img" aria-label="${
    describeChart(chart)
  }"></canvas></div>
${chartTable(chart)}</figure>`;
  const attachment: ChartAttachment = { kind: "chart", id: chart.id, chart };
  return { ...figure, attachments: [...figure.attachments, attachment] };
}
