/** Compares two runs step by step, own or foreign: which metric parts first, and what is a difference of definitions only. */
import { smallest } from "../core/statistics.ts";
import { type LogSeries, seriesOf } from "../logs/run_log.ts";
import { CANONICAL, type CanonicalMetric } from "../producers/definition.ts";
import type { MeasuredSeries, RunView } from "../producers/run_view.ts";
import { definitionRelation } from "./definition_difference.ts";
import { commonSteps, type Parting, PARTING_STEPS, partingOf } from "./parting.ts";
import type { Settings } from "./run_record.ts";

/** A run to be compared. */
export interface ComparedRun {
  readonly path: string;
  readonly view: RunView;
  /** All settings that are known of it, the seed among them. */
  readonly settings: Settings;
  /** True of a run of ours whose folder tells its configuration: the same settings and seed must give the same bits. */
  readonly isOwn: boolean;
}

/** What is said of a metric that both runs have. */
export interface MetricComparison {
  readonly metric: CanonicalMetric;
  /** The name of a reward function or of a data set; empty where the metric has no parts. */
  readonly part: string;
  /** The key of each run. */
  readonly keys: readonly [string, string];
  readonly commonSteps: number;
  readonly verdict: "parts" | "together" | "not-comparable" | "not-checkable";
  /** Where it parts. */
  readonly parting?: Parting;
  /** Why it is not comparable or not checkable. */
  readonly why?: string;
  /** The definition of each run's key, where they are not the same. */
  readonly definitions?: readonly [string, string];
}

/** A setting that differs, as far as both tell it; null where a run does not have it. */
export interface RunSettingDifference {
  readonly name: string;
  readonly values: readonly [Settings[string], Settings[string]];
  /** False where a log does not tell the setting, which may well be equal. */
  readonly isTold: readonly [boolean, boolean];
}

/** How far two logs are equal. */
export interface EqualPart {
  /** Common steps whose numbers are equal in every shared key, from the first on. */
  readonly equalSteps: number;
  readonly commonSteps: number;
  /** The first step at which a key differs; null where none does. */
  readonly firstDifferent: number | null;
  /** The keys that differ there, with both values; null stands for no number. */
  readonly keys: readonly {
    readonly key: string;
    readonly values: readonly [number | null, number | null];
  }[];
}

/** Two runs compared. */
export interface RunComparison {
  readonly paths: readonly [string, string];
  readonly trainers: readonly [string | null, string | null];
  /** False where a step of one is not a step of the other: then metrics are not compared. */
  readonly isAligned: boolean;
  /** Why steps are not aligned. */
  readonly whyNotAligned?: string;
  /** True where both are runs of ours with the same settings and seed. */
  readonly isSameSetup: boolean;
  /** Null where the logs share no key or step, or are of two frameworks: their equal keys are equal words, no more. */
  readonly equal: EqualPart | null;
  /** Those that part first come first; then those that do not part, then what cannot be said. */
  readonly metrics: readonly MetricComparison[];
  /** Metrics of one run only. */
  readonly onlyIn: readonly [readonly string[], readonly string[]];
  readonly settings: readonly RunSettingDifference[];
}

/** Clocks: equal runs differ in them. */
const CLOCK_METRICS: ReadonlySet<string> = new Set<CanonicalMetric>(["step_time", "throughput"]);
const CLOCK_KEYS =
  /(?:^|[/_.])(?:time|timing|runtime|timestamp|seconds|secs|throughput|mfu|tps|memory|perf)(?:$|[/_.])|_per_second$/i;

const METRICS = (Object.keys(CANONICAL) as CanonicalMetric[])
  .filter((metric) => !CLOCK_METRICS.has(metric));

/** The preferred series of each metric and part. */
function preferred(view: RunView, metric: CanonicalMetric): Map<string, MeasuredSeries> {
  const found = new Map<string, MeasuredSeries>();
  for (const series of view.all(metric)) {
    if (!found.has(series.part)) found.set(series.part, series);
  }
  return found;
}

function isOneFramework([a, b]: readonly [RunView, RunView]): boolean {
  return a.producer?.id === b.producer?.id;
}

/** Of two runs' series of a metric those that measure the same, where there are such; else the preferred ones. */
function bestPair(
  [a, b]: readonly [RunView, RunView],
  { metric, part }: { readonly metric: CanonicalMetric; readonly part: string },
): readonly [MeasuredSeries, MeasuredSeries] | undefined {
  const [ours, theirs] = [a, b].map((view) => view.all(metric).filter((one) => one.part === part));
  const isSameFramework = isOneFramework([a, b]);
  for (const one of ours) {
    const same = theirs.find((other) =>
      definitionRelation(one, other, { isSameFramework }).kind === "same"
    );
    if (same) return [one, same];
  }
  return ours.length > 0 && theirs.length > 0 ? [ours[0], theirs[0]] : undefined;
}

function compareMetric(
  [a, b]: readonly [MeasuredSeries, MeasuredSeries],
  { whyNotAligned, isSameFramework }: {
    readonly whyNotAligned: string | undefined;
    readonly isSameFramework: boolean;
  },
): MetricComparison {
  const relation = definitionRelation(a, b, { isSameFramework });
  const { metric } = a.definition;
  const isSameAxis = whyNotAligned === undefined;
  const common = isSameAxis ? commonSteps(a, b) : { steps: [], first: [], second: [] };
  const base = {
    metric,
    part: a.part,
    keys: [a.key, b.key] as const,
    commonSteps: common.steps.length,
  };
  if (relation.kind !== "same") {
    return {
      ...base,
      verdict: relation.kind === "different" ? "not-comparable" : "not-checkable",
      why: relation.why,
      definitions: [a.definition.says, b.definition.says],
    };
  }
  if (whyNotAligned !== undefined) return { ...base, verdict: "not-checkable", why: whyNotAligned };
  if (common.steps.length <= PARTING_STEPS) {
    const count = common.steps.length;
    return {
      ...base,
      verdict: "not-checkable",
      why: `${count} ${count === 1 ? "step has" : "steps have"} a value in both; ${
        PARTING_STEPS + 1
      } are needed`,
    };
  }
  const parting = partingOf(common, [a.rounding, b.rounding]);
  return { ...base, verdict: parting ? "parts" : "together", ...(parting && { parting }) };
}

const ORDER = ["parts", "together", "not-comparable", "not-checkable"] as const;

function byParting(a: MetricComparison, b: MetricComparison): number {
  const order = ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict);
  if (order !== 0 || !a.parting || !b.parting) return order;
  const size = ({ inNoise }: Parting) => inNoise ?? Infinity;
  return a.parting.step - b.parting.step || (size(b.parting) > size(a.parting) ? 1 : -1);
}

/** Why a step of one run is not a step of the other. */
function notAligned([a, b]: readonly [RunView, RunView]): string | undefined {
  const [one, two] = [a.producer?.stepUnit, b.producer?.stepUnit];
  if (one !== undefined && two !== undefined && one !== two) {
    return `a step of the first log is one ${one}, of the second one ${two}`;
  }
  const axes = [a, b].map(({ log }) => log.axes[0]);
  if (axes[0] !== axes[1]) return `the first log counts ${axes[0]}s, the second ${axes[1]}s`;
  return undefined;
}

/** The value of a series at the places of some of its steps, one after the other; null: it has none there, or no number. */
function valueReader({ steps, values, isNull }: LogSeries): (step: number) => number | null {
  let place = 0;
  return (step) => {
    while (place < steps.length && steps[place] < step) place++;
    const isThere = steps[place] === step && isNull[place] === 0 && Number.isFinite(values[place]);
    return isThere ? values[place] : null;
  };
}

/** The index of the first of some ascending steps at which two series differ, with both values. */
function firstDifference(
  one: LogSeries,
  two: LogSeries,
  steps: readonly number[],
): { readonly index: number; readonly values: readonly [number | null, number | null] } {
  const [ours, theirs] = [valueReader(one), valueReader(two)];
  for (const [index, step] of steps.entries()) {
    // A key that both logs leave out at a step is equal there.
    const values = [ours(step), theirs(step)] as const;
    if (!Object.is(values[0], values[1])) return { index, values };
  }
  return { index: steps.length, values: [null, null] };
}

/** Compares the numbers of all keys that both logs have, clocks left out. */
function equalPart(a: RunView, b: RunView): EqualPart | null {
  const keys = [...a.log.columns.keys()]
    .filter((key) => b.log.columns.has(key) && !CLOCK_KEYS.test(key));
  const theirs = new Set(b.steps);
  const steps = Array.from(a.steps).filter((step) => theirs.has(step));
  if (keys.length === 0 || steps.length === 0) return null;
  const found = keys.flatMap((key) => {
    const [one, two] = [seriesOf(a.log, key), seriesOf(b.log, key)];
    return one && two ? [{ key, ...firstDifference(one, two, steps) }] : [];
  });
  const index = smallest(found.map((one) => one.index));
  const isEqual = index >= steps.length;
  return {
    equalSteps: isEqual ? steps.length : index,
    commonSteps: steps.length,
    firstDifferent: isEqual ? null : steps[index],
    keys: isEqual
      ? []
      : found.filter((one) => one.index === index).map(({ key, values }) => ({ key, values })),
  };
}

/** Settings that differ or that one run alone tells, in the order of the first run's. A configuration of ours tells all. */
function settingDifferences(a: ComparedRun, b: ComparedRun): RunSettingDifference[] {
  const names = new Set([a, b].flatMap(({ settings }) => Object.keys(settings)));
  const valueOf = ({ settings }: ComparedRun, name: string) => settings[name] ?? null;
  const tells = ({ settings, isOwn }: ComparedRun, name: string) =>
    isOwn || Object.hasOwn(settings, name);
  return [...names].map((name) => ({
    name,
    values: [valueOf(a, name), valueOf(b, name)] as const,
    isTold: [tells(a, name), tells(b, name)] as const,
  })).filter(({ values: [one, two], isTold }) => one !== two || isTold[0] !== isTold[1]);
}

/**
 * Compares two runs.
 *
 * @param a The first.
 * @param b The second.
 */
export function compareRuns(a: ComparedRun, b: ComparedRun): RunComparison {
  const views = [a.view, b.view] as const;
  const whyNotAligned = notAligned(views);
  const settings = settingDifferences(a, b);
  const pairs = METRICS.flatMap((metric) => {
    const [ours, theirs] = views.map((view) => preferred(view, metric));
    return [...ours.keys()].filter((part) => theirs.has(part))
      .flatMap((part) => {
        const pair = bestPair(views, { metric, part });
        return pair ? [pair] : [];
      });
  });
  const onlyIn = views.map((view, i) => {
    const other = views[1 - i];
    return METRICS.filter((metric) =>
      view.all(metric).length > 0 && other.all(metric).length === 0
    );
  });
  const isSameFramework = isOneFramework(views);
  return {
    paths: [a.path, b.path],
    trainers: [a.view.producer?.title ?? null, b.view.producer?.title ?? null],
    isAligned: whyNotAligned === undefined,
    ...(whyNotAligned !== undefined && { whyNotAligned }),
    isSameSetup: a.isOwn && b.isOwn && settings.length === 0,
    equal: isSameFramework && whyNotAligned === undefined ? equalPart(a.view, b.view) : null,
    metrics: pairs.map((pair) => compareMetric(pair, { whyNotAligned, isSameFramework })).sort(
      byParting,
    ),
    onlyIn: [onlyIn[0], onlyIn[1]],
    settings,
  };
}
