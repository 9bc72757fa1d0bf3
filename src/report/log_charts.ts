/** The charts of another trainer's log: every metric under its own name, with its definition, and marks where something is said. */
import { seriesOf } from "../logs/run_log.ts";
import { CANONICAL, type CanonicalMetric } from "../producers/definition.ts";
import type { MeasuredSeries, RunView } from "../producers/run_view.ts";
import type { Chart, ChartBand, ChartEvent, ChartSeries, Tone } from "./chart.ts";
import { keptIndices, type Point } from "./downsample.ts";
import { idOf } from "./html.ts";
import type { LogData, ShownSeries } from "./log_data.ts";

/** A chart with what its metric is. */
export interface LogChart {
  readonly chart: Chart;
  /** One definition a curve, by its key; empty where nothing is known of it. */
  readonly definitions: readonly (readonly [string, string])[];
}

/** Charts under one heading. */
export interface LogGroup {
  readonly id: string;
  readonly title: string;
  readonly charts: readonly LogChart[];
}

/** The canonical metrics under their headings, in the order in which a run is read. */
export const LOG_GROUPS: readonly (readonly [string, string, readonly CanonicalMetric[]])[] = [
  ["outcome", "Outcome: what was reached", [
    "reward",
    "reward_max",
    "reward_min",
    "reward_component",
    "eval_score",
    "reward_std",
    "reward_component_std",
    "flat_groups",
    "all_solved",
    "none_solved",
    "advantage_mean",
  ]],
  ["answers", "Answers: how long, and how they end", [
    "length",
    "length_max",
    "length_terminated",
    "truncated",
    "turns",
    "errors",
  ]],
  ["policy", "Policy: where it stands and how far it moves", [
    "entropy",
    "kl_reference",
    "kl_teacher",
    "kl_old",
    "kl_update",
    "ratio",
    "ratio_max",
    "clip_fraction",
  ]],
  ["consistency", "Sampler against trainer", [
    "gap",
    "gap_max",
    "importance_weight",
    "masked_by_correction",
    "staleness",
  ]],
  ["optimizer", "Optimizer: what the updates did", [
    "loss",
    "grad_norm",
    "learning_rate",
    "value_explained",
    "value_loss",
  ]],
  ["time", "Time and amount", ["step_time", "throughput", "tokens", "epoch"]],
];

/** Metrics whose parts belong into one chart, so that they can be compared. */
const TOGETHER: ReadonlySet<CanonicalMetric> = new Set([
  "reward_component",
  "reward_component_std",
  "eval_score",
]);

/** What curves of one chart stand for, in turn. */
export const TONES: readonly Tone[] = ["first", "second", "third", "fourth", "fifth"];

/** Charts of keys that nothing is known of, as far as there is room. */
export const MAX_UNKNOWN = 80;

/** Seams and findings that are marked: more would run into each other. */
const MAX_EVENTS = 40;

/** Points of a curve of a log: a chart shows no more, and a log may have a million. */
const MAX_POINTS = 800;

/** (step, value) of a series, thinned out; what the file gives as not available is left out, what went wrong is NaN. */
export function pointsOf({ steps, values, isNull }: ShownSeries): Point[] {
  const present = isNull.includes(1)
    ? Uint32Array.from(steps.keys()).filter((i) => isNull[i] === 0)
    : undefined;
  const indexOf = (place: number) => present ? present[place] : place;
  const count = present?.length ?? steps.length;
  return keptIndices({ count, y: (place) => values[indexOf(place)] }, MAX_POINTS)
    .map((place): Point => [steps[indexOf(place)], values[indexOf(place)]]);
}

function eventsOf({ view, findings }: LogData, keys: ReadonlySet<string>): ChartEvent[] {
  const { seams } = view.log;
  const said = findings.filter(({ class: kind, key, step }) =>
    (kind === "violated" || kind === "suspect") && step !== undefined &&
    key !== undefined && keys.has(key)
  );
  return [
    ...seams.map(({ nextStep }): ChartEvent => ({ x: nextStep, kind: "seam" })),
    ...said.map(({ step }): ChartEvent => ({ x: step ?? 0, kind: "finding" })),
  ].slice(0, MAX_EVENTS);
}

/** What a healthy run of the user's did over the same steps, as a band of its extremes. */
function bandsOf(against: RunView | undefined, key: string): ChartBand[] {
  const series = against && seriesOf(against.log, key);
  if (!series) return [];
  const finite = series.values.filter(Number.isFinite);
  if (finite.length === 0) return [];
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  const ends = [series.steps[0], series.steps[series.steps.length - 1]];
  return [{ name: "the healthy run", points: ends.map((x) => [x, low, high]) }];
}

/** What a key measures, in words; empty where nothing is known of it. */
export function definitionOf({ definition }: ShownSeries): string {
  if (!definition) return "";
  const { says, zero, nan, unit } = definition;
  return [
    says,
    unit === "1" ? "" : `Unit: ${unit}.`,
    zero === undefined ? "" : `0 means: ${zero}`,
    nan === undefined ? "" : `NaN means: ${nan}`,
  ].filter((text) => text !== "").join(" ");
}

function chartOf(
  shown: readonly ShownSeries[],
  options: { readonly data: LogData; readonly id: string; readonly title: string },
): LogChart {
  const { data, id, title } = options;
  const { log } = data.view;
  const series = shown.map((one, i): ChartSeries => ({
    name: one.key,
    style: one.steps.length === 1 ? "points" : "line",
    tone: TONES[i % TONES.length],
    points: pointsOf(one),
  }));
  const [first] = shown;
  return {
    chart: {
      id,
      title,
      xLabel: log.axes[first.axis] ?? "step",
      yLabel: first.definition && first.definition.unit !== "1" ? first.definition.unit : "",
      series,
      bands: shown.length === 1 ? bandsOf(data.against, first.key) : [],
      events: eventsOf(data, new Set(shown.map(({ key }) => key))),
    },
    definitions: shown.map((one) => [one.key, definitionOf(one)] as const)
      .filter(([, text]) => text !== ""),
  };
}

/** The series of a metric as they share charts: parts together, everything else alone. */
function bundles(metric: CanonicalMetric, all: readonly MeasuredSeries[]): MeasuredSeries[][] {
  if (!TOGETHER.has(metric)) return all.map((one) => [one]);
  const perChart = TONES.length;
  return Array.from(
    { length: Math.ceil(all.length / perChart) },
    (_, i) => all.slice(i * perChart, (i + 1) * perChart),
  );
}

/**
 * The charts of a log.
 *
 * @param data The log.
 * @param prefix Begins the charts' ids.
 * @returns The groups that have a chart, and how many keys nothing is known of were left out.
 */
export function logCharts(
  data: LogData,
  prefix: string,
): { readonly groups: readonly LogGroup[]; readonly leftOut: number } {
  const { view } = data;
  let count = 0;
  const nextId = () => idOf(prefix, "chart", count++);
  const known = LOG_GROUPS.map(([id, title, metrics]): LogGroup => ({
    id: idOf(prefix, id),
    title,
    charts: metrics.flatMap((metric) =>
      bundles(metric, view.all(metric)).map((bundle) =>
        chartOf(bundle, {
          data,
          id: nextId(),
          title: bundle.length === 1 ? bundle[0].key : CANONICAL[metric],
        })
      )
    ),
  }));
  const unknown = view.unknown.flatMap((key) => seriesOf(view.log, key) ?? []);
  const others: LogGroup = {
    id: idOf(prefix, "other"),
    title: "Other keys",
    charts: unknown.slice(0, MAX_UNKNOWN).map((series) =>
      chartOf([series], { data, id: nextId(), title: series.key })
    ),
  };
  return {
    groups: [...known, others].filter(({ charts }) => charts.length > 0),
    leftOut: Math.max(0, unknown.length - MAX_UNKNOWN),
  };
}
