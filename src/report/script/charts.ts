/** Charts in the page: drawn when they come into view, again when the theme changes, and all of them for paper. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { Chart as ChartClass, ChartConfiguration, ChartDataset } from "chart.js";
import type { ChartData, ChartDataBand, ChartDataSeries } from "../chart.ts";
import { axes, colour } from "./chart_axes.ts";
import { addChartTools, zoomByDragging } from "./chart_tools.ts";
import { type ChartView, curveNames, firstView, smooth, viewAfter } from "./chart_view.ts";
import { hasEpisodes, showEpisodes } from "./episodes.ts";
import { fromXAxis, show, toAxis, toXAxis } from "./numbers.ts";

/** The published build stands before this script and defines it. */
declare const Chart: typeof ChartClass;

/** A point with the value that a tooltip shows. */
interface ShownPoint {
  readonly x: number;
  readonly y: number;
  readonly shown: number | null;
}

type Dataset = ChartDataset<"line", ShownPoint[]> & {
  readonly isBand?: boolean;
  /** Of two that belong together the one that the legend leaves out: a range's low edge, a curve behind its average. */
  readonly isBehind?: boolean;
  readonly isSmoothed?: boolean;
  /** A range of a curve, which the legend has already. */
  readonly isUnlisted?: boolean;
};

type Configuration = ChartConfiguration<"line", ShownPoint[]>;

const DASHES = {
  first: [],
  second: [7, 3],
  third: [2, 3],
  fourth: [9, 3, 2, 3],
  fifth: [12, 3],
  level: [4, 4],
};

const MARKS = {
  first: "circle",
  second: "triangle",
  third: "rect",
  fourth: "rectRot",
  fifth: "crossRot",
  level: "star",
} as const;

/** Few points are marked, so that single evaluations can be seen; many make a line. */
function radiusOf({ style, tone, x }: ChartDataSeries): number {
  if (style === "points") return x.length > 60 ? 2 : 5;
  return tone === "level" || x.length > 30 || x.length === 2 ? 0 : 2.5;
}

/** Points on their axes. */
function pointsOf(
  chart: ChartData,
  xs: readonly (number | null)[],
  ys: readonly (number | null)[],
): ShownPoint[] {
  return xs.map((x, i) => ({
    x: toXAxis(chart, x ?? NaN),
    y: toAxis(chart, ys[i]),
    shown: ys[i],
  }));
}

/** A curve without its marks, pale, behind its moving average. */
const RAW = { borderDash: [], borderWidth: 1, pointRadius: 0, pointHoverRadius: 3 };

function pale(tone: string): string {
  return `color-mix(in srgb, ${colour(tone)} 35%, transparent)`;
}

/** Later curves lie on top, dashed, so that two equal ones both show. */
function lineDatasets(chart: ChartData, index: number, view: ChartView): Dataset[] {
  const series = chart.series[index];
  const { name, style, tone, x, y } = series;
  const points = (ys: readonly (number | null)[]) => pointsOf(chart, x, ys);
  const hidden = view.hidden.has(name);
  const line: Dataset = {
    label: name,
    hidden,
    data: points(y),
    showLine: style === "line",
    borderColor: colour(tone),
    backgroundColor: colour(tone),
    borderDash: style === "line" ? DASHES[tone] : [],
    borderWidth: 1.8,
    pointStyle: MARKS[tone],
    pointRadius: radiusOf(series),
    pointHoverRadius: 5,
    order: -index,
    clip: 8, // Marks at the ends stay whole.
  };
  if (view.smoothing === 0 || style !== "line") return [line];
  return [
    { ...line, ...RAW, borderColor: pale(tone), isBehind: true },
    { ...line, data: points(smooth(y, view.smoothing)), pointRadius: 0, isSmoothed: true },
  ];
}

function bandDatasets(chart: ChartData, band: ChartDataBand, view: ChartView): Dataset[] {
  const fill = band.tone === undefined
    ? colour("band")
    : `color-mix(in srgb, ${colour(band.tone)} 18%, transparent)`;
  const edge = (
    xs: readonly (number | null)[],
    ys: readonly (number | null)[],
    target: false | "-1",
  ): Dataset => ({
    label: band.name,
    hidden: view.hidden.has(band.of ?? band.name),
    data: pointsOf(chart, xs, ys),
    borderWidth: 0,
    pointRadius: 0,
    pointHoverRadius: 0,
    pointStyle: "rect",
    backgroundColor: fill,
    borderColor: fill,
    fill: target,
    order: 1,
    isBand: true,
    isBehind: target === false,
    isUnlisted: band.of !== undefined,
  });
  return [edge(band.lowX, band.low, false), edge(band.highX, band.high, "-1")];
}

/** Marks of what happened at a step: triangles on the x axis, and lines where a finding or a restart is. */
function eventMarks(chart: ChartData): NonNullable<Configuration["plugins"]>[number] {
  return {
    id: "eventMarks",
    afterDatasetsDraw({ ctx, chartArea, scales }) {
      ctx.save();
      for (const { x, kind } of chart.events) {
        const [left, bottom] = [scales.x.getPixelForValue(toXAxis(chart, x)), chartArea.bottom];
        ctx.strokeStyle = ctx.fillStyle = colour(kind === "finding" ? "violated" : "text-quiet");
        ctx.beginPath();
        if (kind === "finding" || kind === "seam") {
          ctx.setLineDash(kind === "seam" ? [3, 3] : []);
          ctx.moveTo(left, chartArea.top);
          ctx.lineTo(left, bottom);
          ctx.stroke();
          ctx.setLineDash([]);
          continue;
        }
        ctx.moveTo(left - 4, bottom);
        ctx.lineTo(left + 4, bottom);
        ctx.lineTo(left, bottom - 7);
        ctx.closePath();
        if (kind === "recorded") ctx.fill();
        else ctx.stroke();
      }
      ctx.restore();
    },
  };
}

function legendOf(chart: ChartData, onToggle: (name: string) => void) {
  const isBand = (dataset: unknown) => (dataset as Dataset).isBand === true;
  return {
    display: chart.series.length > 1 || chart.bands.some(({ of }) => of === undefined),
    position: "bottom" as const,
    align: "start" as const,
    labels: {
      color: colour("text"),
      usePointStyle: true,
      boxWidth: 22,
      boxHeight: 7,
      padding: 8,
      font: { size: 12 },
      generateLabels: (drawing: ChartClass) =>
        Chart.defaults.plugins.legend.labels.generateLabels(drawing).map((item) => ({
          ...item,
          ...(isBand(drawing.data.datasets[item.datasetIndex ?? 0]) &&
            { strokeStyle: colour("text-quiet"), lineWidth: 1 }),
        })),
      sort: (a: { datasetIndex?: number }, b: { datasetIndex?: number }) =>
        (a.datasetIndex ?? 0) - (b.datasetIndex ?? 0),
      filter: (item: { datasetIndex?: number }, { datasets }: { datasets: unknown[] }) => {
        const { isBehind, isUnlisted } = datasets[item.datasetIndex ?? 0] as Dataset;
        return isBehind !== true && isUnlisted !== true;
      },
    },
    onClick: (_event: unknown, { text }: { readonly text: string }) => onToggle(text),
  };
}

/** What a tooltip calls a point's curve. */
function labelOf({ isBand, isBehind, isSmoothed, label }: Dataset): string {
  if (isBand) return `${label}, ${isBehind ? "low" : "high"}`;
  return `${label}${isSmoothed ? ", smoothed" : ""}`;
}

function configurationOf(
  data: ChartData,
  { view, canvas, onToggle }: {
    readonly view: ChartView;
    readonly canvas: HTMLCanvasElement;
    readonly onToggle: (name: string) => void;
  },
): Configuration {
  const chart = { ...data, log: view.log };
  const datasets = [
    ...chart.bands.flatMap((band) => bandDatasets(chart, band, view)),
    ...chart.series.flatMap((_, i) => lineDatasets(chart, i, view)),
  ];
  return {
    type: "line",
    data: { datasets },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      interaction: { mode: "nearest", axis: chart.isScatter ? "xy" : "x", intersect: false },
      scales: axes(chart, view),
      onClick: (_event, [item]) => {
        if (item) showEpisodes(canvas, datasets[item.datasetIndex].data[item.index].x);
      },
      plugins: {
        legend: legendOf(chart, onToggle),
        tooltip: {
          callbacks: {
            title: ([item]) =>
              item ? `${chart.xLabel} ${show(fromXAxis(chart, (item.raw as ShownPoint).x))}` : "",
            label: ({ dataset, raw }) =>
              `${labelOf(dataset as Dataset)}: ${show((raw as ShownPoint).shown)}`,
            footer: ([item]) =>
              item && hasEpisodes(canvas, (item.raw as ShownPoint).x)
                ? "A click shows the episodes of this step."
                : "",
          },
        },
      },
    },
    plugins: [eventMarks(chart)],
  };
}

/** A chart of the document: what is drawn of it, and how. */
class ShownChart {
  readonly #canvas: HTMLCanvasElement;
  #data: ChartData;
  #drawing: ChartClass<"line", ShownPoint[]> | undefined;
  #view: ChartView;
  /** False while it is out of sight, or under a pointer that reads it: then new data waits. */
  #isFree = true;
  #isStale = false;

  constructor(canvas: HTMLCanvasElement, data: ChartData) {
    this.#canvas = canvas;
    this.#data = data;
    this.#view = firstView(data);
    this.#addTools();
    zoomByDragging(canvas, {
      xOf: (offset) => {
        const place = this.#drawing?.scales.x.getValueForPixel(offset);
        return place === undefined ? undefined : fromXAxis(this.#data, place);
      },
      onChange: (change) => this.#change(change),
    });
    canvas.addEventListener("pointerleave", () => this.#setFree(true));
    canvas.addEventListener("pointerenter", () => this.#setFree(false));
  }

  get isDrawn(): boolean {
    return this.#drawing !== undefined;
  }

  draw(): void {
    this.#isStale = false;
    this.#drawing?.destroy();
    const onToggle = (name: string) => {
      const hidden = new Set(this.#view.hidden);
      if (!hidden.delete(name)) hidden.add(name);
      this.#change({ hidden });
    };
    this.#drawing = new Chart(
      this.#canvas,
      configurationOf(this.#data, {
        view: this.#view,
        canvas: this.#canvas,
        onToggle,
      }),
    );
  }

  /** Comes into view, or leaves it. */
  setInView(isInView: boolean): void {
    if (isInView && !this.isDrawn) this.draw();
    this.#setFree(isInView);
  }

  /** The chart of a run that has grown. */
  update(data: ChartData): void {
    const [before, after] = [this.#data, data].map((one) => curveNames(one).join("\n"));
    this.#view = viewAfter(this.#view, { from: this.#data, to: data });
    this.#data = data;
    if (before !== after) this.#addTools();
    this.#isStale = true;
    if (this.#isFree && this.isDrawn) this.draw();
    this.#canvas.dispatchEvent(new Event("viewchange"));
  }

  /** Lets go of the drawing of a chart that has left the document. */
  remove(): void {
    this.#drawing?.destroy();
    this.#drawing = undefined;
  }

  #setFree(isFree: boolean): void {
    this.#isFree = isFree;
    if (isFree && this.#isStale && this.isDrawn) this.draw();
  }

  #addTools(): void {
    addChartTools(this.#canvas, {
      dataOf: () => this.#data,
      viewOf: () => this.#view,
      onChange: (change) => this.#change(change),
    });
  }

  #change(change: Partial<ChartView>): void {
    this.#view = { ...this.#view, ...change };
    this.draw();
    this.#canvas.dispatchEvent(new Event("viewchange"));
  }
}

/** The charts of the document, by their canvases. */
export interface ShownCharts {
  /** Draws charts that are new in the document, again those whose data has changed, and forgets those that have left it. */
  update(charts: readonly ChartData[]): void;
}

/** Draws the charts of the document whose canvases are in it. */
export function showCharts(charts: readonly ChartData[]): ShownCharts {
  const shown = new Map<Element, ShownChart>();
  const inView = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) shown.get(target)?.setInView(isIntersecting);
  }, { rootMargin: "300px" });
  const update = (changed: readonly ChartData[]) => {
    for (const [canvas, chart] of shown) {
      if (canvas.isConnected) continue;
      inView.unobserve(canvas);
      chart.remove();
      shown.delete(canvas);
    }
    const specs = new Map(changed.map((chart) => [chart.id, chart]));
    for (const canvas of document.querySelectorAll<HTMLCanvasElement>(".plot canvas")) {
      const data = specs.get(canvas.id);
      if (!data) continue;
      const known = shown.get(canvas);
      if (known) known.update(data);
      else {
        shown.set(canvas, new ShownChart(canvas, data));
        inView.observe(canvas);
      }
    }
  };
  update(charts);
  const redraw = () => {
    for (const chart of shown.values()) if (chart.isDrawn) chart.draw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is white, and every chart is on it.
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    for (const chart of shown.values()) chart.draw();
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    redraw();
  });
  return { update };
}
