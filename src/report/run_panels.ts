/** The panels of a run: which metrics share a chart, in the four groups of the metrics dictionary. */
import { HEALTHY_RANGES_FROM, healthyRangeByStep } from "../faults/healthy_ranges.ts";
import { type MetricGroup, METRICS } from "../rl/metric_dictionary.ts";
import type { BehaviourMetric } from "../gym/environment_definition.ts";
import { ownMetricName } from "../rollout/episode_source.ts";
import type { Chart, ChartBand, ChartEvent, ChartSeries, Tone } from "./chart.ts";
import { idOf } from "./html.ts";
import type { RunData } from "./run_data.ts";

/** A chart of one or more metrics of one unit. */
interface Panel {
  readonly title: string;
  readonly group: MetricGroup;
  readonly metrics: readonly (keyof typeof METRICS)[];
}

/** Every panel, in the order of the groups. */
const PANELS: readonly Panel[] = [
  { title: "Reward and pass rate", group: "outcome", metrics: ["reward", "pass_rate"] },
  { title: "Reads", group: "behaviour", metrics: ["reads"] },
  { title: "Tests", group: "behaviour", metrics: ["tests"] },
  { title: "Edits", group: "behaviour", metrics: ["edits"] },
  { title: "Malformed calls", group: "behaviour", metrics: ["malformed"] },
  { title: "Exploit: hardcode_tests", group: "behaviour", metrics: ["hardcode"] },
  { title: "Submitted", group: "behaviour", metrics: ["submitted"] },
  { title: "Turns", group: "behaviour", metrics: ["turns"] },
  { title: "Length", group: "behaviour", metrics: ["length"] },
  { title: "Length by outcome", group: "behaviour", metrics: ["length_pass", "length_fail"] },
  { title: "Entropy", group: "optimizer", metrics: ["entropy"] },
  {
    title: "KL between old and new policy",
    group: "optimizer",
    metrics: ["approx_kl", "approx_kl_max"],
  },
  { title: "Clipped tokens", group: "optimizer", metrics: ["clip_frac"] },
  { title: "Ratios", group: "optimizer", metrics: ["ratio_max", "ratio_min"] },
  { title: "Gradient norm", group: "optimizer", metrics: ["grad_norm", "grad_norm_max"] },
  { title: "KL to the reference", group: "optimizer", metrics: ["kl_ref"] },
  {
    title: "Groups without a signal",
    group: "optimizer",
    metrics: ["zero_adv_frac", "all_pass", "all_fail"],
  },
  { title: "Loss", group: "optimizer", metrics: ["loss"] },
  {
    title: "Sampler against trainer",
    group: "consistency",
    metrics: ["logp_gap", "logp_gap_p99", "logp_gap_max"],
  },
  { title: "Trained tokens", group: "consistency", metrics: ["loss_tokens"] },
];

/** Metrics with a chart of their own kind. */
const EVALUATION = ["eval_pass", "eval_pass_low", "eval_pass_high"];

const TONES: readonly Tone[] = ["first", "second", "third", "fourth"];

/** Marks on an axis: more would run into each other. */
const MAX_EVENTS = 40;

/** Charts of metrics that the dictionary does not know: other programs' own. */
const MAX_OTHERS = 60;

/** The name of a unit on the axis; what is a share or a count without one needs none. */
function yLabel(name: keyof typeof METRICS): string {
  const { unit } = METRICS[name];
  return unit === "loss" || unit === "ratio" || unit === "norm" ? "" : unit;
}

/** The healthy ranges speak of GRPO's defaults in the shortcut-free gym; other setups have ranges of their own. */
function isLikeTheHealthyRuns({ settings }: RunData): boolean {
  return settings?.config.algorithm === "grpo" && settings.config.preset === "rl" &&
    settings.environment === undefined;
}

/** What the healthy runs did at the steps that the run has. */
function healthyBand(run: RunData, { name, tone }: ChartSeries): ChartBand[] {
  const lastStep = run.metrics.get(name)?.at(-1)?.[0] ?? -Infinity;
  if (!isLikeTheHealthyRuns(run)) return [];
  const points = healthyRangeByStep(name).filter(([step]) => step <= lastStep);
  return points.length < 2 ? [] : [{ name: `${name}, healthy runs`, tone, points }];
}

function eventsOf({ checkpoints, recorded }: RunData): ChartEvent[] {
  const thin = (steps: readonly number[]) => {
    const stride = Math.ceil(steps.length / MAX_EVENTS);
    return steps.filter((_, i) => i % stride === 0);
  };
  return [
    ...thin(checkpoints).map((x) => ({ x, kind: "checkpoint" as const })),
    ...thin(recorded.map(({ step }) => step)).map((x) => ({ x, kind: "recorded" as const })),
  ];
}

function evaluationChart(run: RunData, prefix: string): Chart[] {
  const points = run.metrics.get("eval_pass");
  if (!points) return [];
  const at = (name: string) => new Map(run.metrics.get(name));
  const [low, high] = [at("eval_pass_low"), at("eval_pass_high")];
  return [{
    id: idOf(prefix, "eval-pass"),
    title: "Held-out pass rate",
    xLabel: "step",
    xRange: stepRange(run),
    yLabel: "share",
    series: [{ name: "eval_pass", style: "points", tone: "first", points }],
    bands: [{
      name: "95 % Wilson interval",
      points: points.flatMap(([x]) => {
        const [from, to] = [low.get(x), high.get(x)];
        return from === undefined || to === undefined ? [] : [[x, from, to] as const];
      }),
    }],
  }];
}

function panelChart(run: RunData, panel: Panel, prefix: string): Chart[] {
  const { title, metrics: [first, ...others] } = panel;
  const series = [first, ...others].flatMap((name, i): ChartSeries[] => {
    const points = run.metrics.get(name);
    return points ? [{ name, style: "line", tone: TONES[i], points }] : [];
  });
  if (series.length === 0) return [];
  return [{
    id: idOf(prefix, first),
    title,
    xLabel: "step",
    xRange: stepRange(run),
    yLabel: yLabel(first),
    series,
    bands: series.flatMap((one) => healthyBand(run, one)),
    events: eventsOf(run),
  }];
}

/**
 * The charts of a group of metrics.
 *
 * @param run The run.
 * @param options.prefix Begins the charts' ids.
 * @returns One chart a panel whose metrics the run has.
 */
export function groupCharts(
  run: RunData,
  { group, prefix }: { readonly group: MetricGroup; readonly prefix: string },
): Chart[] {
  const panels = PANELS.filter((panel) => panel.group === group);
  const charts = panels.flatMap((panel) => panelChart(run, panel, prefix));
  if (group === "behaviour") return [...charts, ...ownCharts(run, prefix)];
  return group === "outcome" ? [...charts, ...evaluationChart(run, prefix)] : charts;
}

/** Which way a metric goes in a healthy run, as a title says it. */
const DIRECTIONS = {
  higher: "rises in a healthy run",
  lower: "falls in a healthy run",
  steady: "stays in a healthy run",
} as const satisfies Record<BehaviourMetric["healthy"], string>;

/** Charts of the metrics that the run's environment brings. */
function ownCharts(run: RunData, prefix: string): Chart[] {
  const metrics = run.settings?.environment?.metrics ?? [];
  return metrics.flatMap((metric, i): Chart[] => {
    const name = ownMetricName(metric);
    const points = run.metrics.get(name);
    return points === undefined ? [] : [{
      id: idOf(prefix, "own", i),
      title: `${metric.name}: ${metric.meaning} (${DIRECTIONS[metric.healthy]})`,
      xLabel: "step",
      xRange: stepRange(run),
      yLabel: "",
      series: [{ name, style: "line", tone: "first", points }],
      events: eventsOf(run),
    }];
  });
}

/** Charts of metrics that are not ours, as far as there is room. */
export function otherCharts(run: RunData, prefix: string): Chart[] {
  const own = run.settings?.environment?.metrics.map(ownMetricName) ?? [];
  const known = new Set<string>([...Object.keys(METRICS), ...EVALUATION, ...own]);
  return [...run.metrics].filter(([name]) => !known.has(name)).slice(0, MAX_OTHERS)
    .map(([name, points], i) => ({
      id: idOf(prefix, "other", i),
      title: name,
      xLabel: "step",
      xRange: stepRange(run),
      yLabel: "",
      series: [{ name, style: "line", tone: "first", points }],
    }));
}

/** First and last step: all charts of a run have the same x axis. */
function stepRange({ metrics }: RunData): readonly [number, number] | undefined {
  const [points = []] = metrics.values();
  const [first, last] = [points.at(0)?.[0], points.at(-1)?.[0]];
  return first === undefined || last === undefined || first === last ? undefined : [first, last];
}

/** The sentence under the charts of a run. */
export function bandNote(run: RunData): string {
  return isLikeTheHealthyRuns(run)
    ? `Shaded: the extremes at each step of ${HEALTHY_RANGES_FROM}.`
    : "No healthy range is drawn: those that ship were measured with GRPO in the shortcut-free gym.";
}
