/** Charts in the page: drawn when they come into view, again when the theme changes, and all of them for paper. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { Chart as ChartClass, ChartConfiguration, ChartDataset } from "chart.js";
import type { ChartData, ChartDataSeries } from "../chart.ts";
import { logTicks, show, toAxis } from "./numbers.ts";

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
  readonly isLowEdge?: boolean;
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

/** A colour of the theme that holds now. */
function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Few points are marked, so that single evaluations can be seen; many make a line. */
function radiusOf({ style, tone, x }: ChartDataSeries): number {
  if (style === "points") return x.length > 60 ? 2 : 5;
  return tone === "level" || x.length > 30 || x.length === 2 ? 0 : 2.5;
}

/** Later curves lie on top, dashed, so that two equal ones both show. */
function lineDataset(chart: ChartData, index: number): Dataset {
  const series = chart.series[index];
  const { name, style, tone, x, y } = series;
  return {
    label: name,
    data: x.map((value, i) => ({ x: value ?? NaN, y: toAxis(chart, y[i]), shown: y[i] })),
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
}

function bandDatasets(chart: ChartData): Dataset[] {
  const { band } = chart;
  if (!band) return [];
  const edge = (
    xs: readonly (number | null)[],
    ys: readonly (number | null)[],
    fill: false | "-1",
  ): Dataset => ({
    label: band.name,
    data: xs.map((x, i) => ({ x: x ?? NaN, y: toAxis(chart, ys[i]), shown: ys[i] })),
    borderWidth: 0,
    pointRadius: 0,
    pointHoverRadius: 0,
    pointStyle: "rect",
    backgroundColor: colour("band"),
    borderColor: colour("band"),
    fill,
    order: 1,
    isBand: true,
    isLowEdge: fill === false,
  });
  return [edge(band.lowX, band.low, false), edge(band.highX, band.high, "-1")];
}

/** Marks of what happened at a step: triangles on the x axis, and lines where a finding or a restart is. */
function eventMarks({ events }: ChartData): NonNullable<Configuration["plugins"]>[number] {
  return {
    id: "eventMarks",
    afterDatasetsDraw({ ctx, chartArea, scales }) {
      ctx.save();
      for (const { x, kind } of events) {
        const [left, bottom] = [scales.x.getPixelForValue(x), chartArea.bottom];
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

/** Whole powers of ten; from 0 up where nothing is negative; a curve of exact zeros lies on the axis. */
function yLimits(chart: ChartData) {
  const { log, zeroAt, series, band } = chart;
  const values = [...series.flatMap(({ y }) => y), ...(band ? [...band.low, ...band.high] : [])]
    .filter((y) => y !== null);
  if (log) {
    const powers = values.map((y) => toAxis(chart, y));
    return {
      min: zeroAt ?? Math.floor(powers.reduce((a, b) => Math.min(a, b), Infinity)),
      max: Math.ceil(powers.reduce((a, b) => Math.max(a, b), -Infinity)),
    };
  }
  if (values.some((y) => y < 0)) return { grace: "5%" };
  return values.some((y) => y > 0) ? { beginAtZero: true } : { min: 0, max: 1 };
}

function axes(chart: ChartData): NonNullable<NonNullable<Configuration["options"]>["scales"]> {
  const grid = { color: colour("grid"), drawTicks: false };
  const ticks = { color: colour("text-quiet"), maxRotation: 0, padding: 6, font: { size: 12 } };
  const title = (text: string) => ({
    display: text !== "",
    text,
    color: colour("text-quiet"),
    font: { size: 12 },
  });
  const [min, max] = chart.xRange ?? [];
  return {
    x: {
      type: "linear",
      ...(min !== undefined && max !== undefined && { min, max }),
      grid: { ...grid, display: false },
      border: { color: colour("text-quiet") },
      ticks: {
        ...ticks,
        maxTicksLimit: 7,
        callback: (value) => show(Number(value)),
        includeBounds: false,
      },
      title: title(chart.xLabel),
    },
    y: {
      type: "linear",
      ...yLimits(chart),
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

function legendOf(chart: ChartData) {
  const isBand = (dataset: unknown) => (dataset as Dataset).isBand === true;
  return {
    display: chart.series.length > 1 || Boolean(chart.band),
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
      filter: (item: { datasetIndex?: number }, { datasets }: { datasets: unknown[] }) =>
        (datasets[item.datasetIndex ?? 0] as Dataset).isLowEdge !== true,
    },
    onClick: () => {},
  };
}

function configurationOf(chart: ChartData): Configuration {
  return {
    type: "line",
    data: {
      datasets: [
        ...bandDatasets(chart),
        ...chart.series.map((_, i) => lineDataset(chart, i)),
      ],
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      interaction: { mode: "nearest", axis: chart.isScatter ? "xy" : "x", intersect: false },
      scales: axes(chart),
      plugins: {
        legend: legendOf(chart),
        tooltip: {
          callbacks: {
            title: ([item]) => item ? `${chart.xLabel} ${show((item.raw as ShownPoint).x)}` : "",
            label: ({ dataset, raw }) => {
              const { isBand, isLowEdge, label } = dataset as Dataset;
              const edge = isBand ? (isLowEdge ? ", low" : ", high") : "";
              return `${label}${edge}: ${show((raw as ShownPoint).shown)}`;
            },
          },
        },
      },
    },
    plugins: [eventMarks(chart)],
  };
}

/** Draws the charts of the document whose canvases are in it. */
export function showCharts(charts: readonly ChartData[]): void {
  const drawn = new Map<Element, ChartClass<"line", ShownPoint[]>>();
  const specs = new Map(charts.map((chart) => [chart.id, chart]));
  const draw = (canvas: Element) => {
    const spec = specs.get(canvas.id);
    if (!spec || !(canvas instanceof HTMLCanvasElement)) return;
    drawn.get(canvas)?.destroy();
    drawn.set(canvas, new Chart(canvas, configurationOf(spec)));
  };
  const inView = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting && !drawn.has(target)) draw(target);
    }
  }, { rootMargin: "300px" });
  const canvases = [...document.querySelectorAll(".plot canvas")].filter(({ id }) => specs.has(id));
  for (const canvas of canvases) inView.observe(canvas);
  const redraw = () => {
    for (const canvas of [...drawn.keys()]) draw(canvas);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is white, and every chart is on it.
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    for (const canvas of canvases) draw(canvas);
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    redraw();
  });
}
