/** Charts as data: what is drawn, on which scale, and the table that says the same without a picture. */
import { downsample, type Point } from "./downsample.ts";
import { formatNumber, roundForData } from "./format.ts";
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
  readonly name: string;
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
  readonly band?: ChartBand | undefined;
  readonly events?: readonly ChartEvent[];
  /** True where points are not a course over x: the nearest one is shown, whatever its x. */
  readonly isScatter?: true;
  /** Ends of the x axis, where several charts share them. */
  readonly xRange?: readonly [number, number] | undefined;
}

/** Rows of the table beside a chart: enough to read its course. */
const TABLE_ROWS = 16;

/** A ratio of largest to smallest value from which on a logarithmic scale shows more than a linear one. */
const DECADES = 100;

function yValues({ series, band }: Chart): number[] {
  return [
    ...series.flatMap(({ points }) => points.map(([, y]) => y)),
    ...(band?.points.flatMap(([, low, high]) => [low, high]) ?? []),
  ].filter(Number.isFinite);
}

/**
 * The scale of y.
 *
 * @returns Logarithmic where values span two decades and none is negative. Exact zeros, which are what a reader must
 *   see, stand one decade below the smallest value: `zeroAt` is that power of ten, null where there are none.
 */
export function yScale(chart: Chart): { readonly log: boolean; readonly zeroAt: number | null } {
  const values = yValues(chart);
  const positive = values.filter((value) => value > 0);
  const smallest = positive.reduce((least, value) => Math.min(least, value), Infinity);
  const largest = positive.reduce((most, value) => Math.max(most, value), 0);
  const log = positive.length > 1 && largest / smallest >= DECADES &&
    values.every((value) => value >= 0);
  const hasZero = values.some((value) => value === 0);
  return { log, zeroAt: log && hasZero ? Math.floor(Math.log10(smallest)) - 1 : null };
}

/** A curve as columns of rounded numbers; null stands for what is not finite. */
export interface ChartDataSeries extends Omit<ChartSeries, "points"> {
  readonly x: readonly (number | null)[];
  readonly y: readonly (number | null)[];
}

/** A chart as the page's script reads it. */
export interface ChartData extends Omit<Chart, "series" | "band" | "events"> {
  readonly log: boolean;
  readonly zeroAt: number | null;
  readonly series: readonly ChartDataSeries[];
  readonly band?: {
    readonly name: string;
    readonly lowX: readonly (number | null)[];
    readonly low: readonly (number | null)[];
    readonly highX: readonly (number | null)[];
    readonly high: readonly (number | null)[];
  };
  readonly events: readonly ChartEvent[];
}

/**
 * The chart as the page's script reads it: columns of rounded numbers.
 *
 * @param maxPoints Points a curve may keep.
 */
export function chartData(chart: Chart, maxPoints: number): ChartData {
  const { id, title, xLabel, yLabel, series, band, events = [], xRange, isScatter } = chart;
  const columns = (points: readonly (readonly number[])[], column: number) =>
    points.map((point) => roundForData(point[column]));
  const lows = band && downsample(band.points.map(([x, low]) => [x, low]), maxPoints);
  const highs = band && downsample(band.points.map(([x, , high]) => [x, high]), maxPoints);
  return {
    id,
    title,
    xLabel,
    yLabel,
    ...yScale(chart),
    ...(xRange && { xRange }),
    ...(isScatter && { isScatter }),
    series: series.map(({ name, style, tone, points }) => {
      const kept = downsample(points, maxPoints);
      return { name, style, tone, x: columns(kept, 0), y: columns(kept, 1) };
    }),
    ...(band && lows && highs && {
      band: {
        name: band.name,
        lowX: columns(lows, 0),
        low: columns(lows, 1),
        highX: columns(highs, 0),
        high: columns(highs, 1),
      },
    }),
    events,
  };
}

/** A chart as the attachment of the markup that holds its canvas. */
interface ChartAttachment extends Attachment {
  readonly kind: "chart";
  readonly chart: Chart;
}

/** The charts whose canvases stand in some markup, in their order. */
export function chartsOf({ attachments }: Html): Chart[] {
  return attachments.filter(({ kind }) => kind === "chart")
    .map((attachment) => (attachment as ChartAttachment).chart);
}

/** The same numbers as a table: the ends and extremes of the curves, at most 16 rows. */
function chartTable({ xLabel, series, band, title }: Chart): Html {
  const kept = series.map(({ points }) => downsample(points, TABLE_ROWS));
  const xs = [...new Set((kept[0] ?? []).concat(...kept.slice(1)).map(([x]) => x))]
    .sort((a, b) => a - b);
  const chosen = downsample(xs.map((x) => [x, 0]), TABLE_ROWS).map(([x]) => x);
  const firsts = new Set([...(kept[0] ?? []).map(([x]) => x), ...chosen]);
  const columns = [
    ...series.map(({ name, points }) => ({ name, values: new Map(points) })),
    ...(band
      ? [
        { name: `${band.name}, low`, values: new Map(band.points.map(([x, low]) => [x, low])) },
        {
          name: `${band.name}, high`,
          values: new Map(band.points.map(([x, , high]) => [x, high])),
        },
      ]
      : []),
  ];
  const table = dataTable({
    title: `${title}, as a table`,
    hasCaption: false,
    columns: columnsOf("number", xLabel, ...columns.map(({ name }) => name)),
    rows: [...firsts].sort((a, b) => a - b).map((x) => [
      formatNumber(x),
      ...columns.map(({ values }) => formatNumber(values.get(x))),
    ]),
  });
  return html`<details class="data" open><summary>Table: ${title}</summary>${table}</details>`;
}

/** In words, for who cannot see the canvas. */
function describe({ title, series }: Chart): string {
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
    describe(chart)
  }"></canvas></div>
${chartTable(chart)}</figure>`;
  const attachment: ChartAttachment = { kind: "chart", id: chart.id, chart };
  return { ...figure, attachments: [...figure.attachments, attachment] };
}
