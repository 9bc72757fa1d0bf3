/** Several runs in one set of charts: a curve a run, wherever they measure the same by the same definition. */
import { seriesOf } from "../logs/run_log.ts";
import { CANONICAL, type CanonicalMetric } from "../producers/definition.ts";
import { idOf } from "./html.ts";
import type { ShownSeries } from "./log_data.ts";
import {
  definitionOf,
  LOG_GROUPS,
  type LogChart,
  type LogGroup,
  MAX_UNKNOWN,
  pointsOf,
  TONES,
} from "./log_charts.ts";
import type { WatchedRun } from "./watch_data.ts";

/** A curve of one of the runs. */
interface RunSeries {
  readonly name: string;
  /** The run's place among the runs, which is its colour in every chart. */
  readonly index: number;
  readonly axis: string;
  readonly series: ShownSeries;
}

/** What curves must share to stand in one chart: what is measured, how, of which part, over which axis. */
function kindOf({ series: { definition, key, ...rest }, axis }: RunSeries): string {
  if (!definition) return JSON.stringify([axis, key]);
  const { metric, quantity, unit } = definition;
  const part = "part" in rest ? rest.part : "";
  return JSON.stringify([axis, metric, quantity, unit, part]);
}

function chartOf(
  curves: readonly RunSeries[],
  { id, title }: { readonly id: string; readonly title: string },
): LogChart {
  const [{ axis, series: { definition, key: firstKey } }] = curves;
  const isOneKey = curves.every(({ series: { key } }) => key === firstKey);
  // Two keys of one run that measure the same are told apart, too.
  const isOneEach = new Set(curves.map(({ name }) => name)).size === curves.length;
  const definitions = new Map(curves.map(({ series }) => [series.key, definitionOf(series)]));
  return {
    chart: {
      id,
      // A single curve has no legend.
      title: curves.length === 1 ? `${firstKey} (${curves[0].name})` : isOneKey ? firstKey : title,
      xLabel: axis,
      yLabel: definition && definition.unit !== "1" ? definition.unit : "",
      series: curves.map(({ name, index, series }) => ({
        name: isOneKey && isOneEach ? name : `${name}: ${series.key}`,
        style: series.steps.length === 1 ? "points" : "line",
        tone: TONES[index % TONES.length],
        points: pointsOf(series),
      })),
    },
    definitions: [...definitions].filter(([, text]) => text !== ""),
  };
}

/**
 * The charts of several runs.
 *
 * @param runs In the order of their colours, which are five.
 * @returns The groups that have a chart, in the order in which a run is read.
 */
export function overlayGroups(runs: readonly WatchedRun[]): LogGroup[] {
  let count = 0;
  const charts = (curves: readonly RunSeries[], metric?: CanonicalMetric) =>
    Array.from(
      Map.groupBy(curves, kindOf).values(),
      (same) =>
        chartOf(same, {
          id: idOf("all", "chart", count++),
          title: metric === undefined ? same[0].series.key : CANONICAL[metric],
        }),
    );
  const curvesOf = (pick: (run: WatchedRun) => readonly ShownSeries[]) =>
    runs.flatMap((run, index) =>
      pick(run).map((series): RunSeries => ({
        name: run.name,
        index,
        axis: run.view?.log.axes[series.axis] ?? "step",
        series,
      }))
    );
  const known = LOG_GROUPS.map(([id, title, metrics]): LogGroup => ({
    id: idOf("all", id),
    title,
    charts: metrics.flatMap((metric) =>
      charts(curvesOf(({ view }) => view?.all(metric) ?? []), metric)
    ),
  }));
  const others = charts(
    curvesOf(({ view }) =>
      view ? view.unknown.flatMap((key) => seriesOf(view.log, key) ?? []) : []
    ),
  );
  const rest: LogGroup = {
    id: idOf("all", "other"),
    title: "Other keys",
    charts: others.slice(0, MAX_UNKNOWN),
  };
  return [...known, rest].filter((group) => group.charts.length > 0);
}
