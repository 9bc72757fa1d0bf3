/** Makes the tests of a rule on a run: each fires, stays quiet, or cannot be made, and then says what it needs. */
import { ColumnCollector } from "../../core/columns.ts";
import { at } from "../../core/element.ts";
import type { CheckResult } from "../invariant.ts";
import { invariantKey, INVARIANTS } from "../invariant_list.ts";
import { type RunMetrics, type Series, seriesUntil, STATISTICS } from "../metric_series.ts";
import { healthyRange, type HealthyReference } from "../reference_runs.ts";
import type { RuleTest, ToldValue } from "./knowledge.ts";

/** A verdict of an invariant, as a file may have it that is older than some of its parts. */
export interface RecordedCheck
  extends
    Pick<CheckResult, "id" | "name" | "value" | "bound" | "verdict">,
    Partial<Pick<CheckResult, "relation" | "boundReason" | "reason" | "lack">> {}

/** A verdict of an invariant on the batch of a later step. */
export interface LaterCheck extends RecordedCheck {
  /** Steps done before the batch that was checked. */
  readonly step: number;
}

/** What tests look at. */
export interface TestedRun {
  /** Its metrics. */
  readonly metrics: RunMetrics;
  /** The invariants' verdicts before the first step; undefined where none were written. */
  readonly checks?: readonly RecordedCheck[] | undefined;
  /** Their verdicts at later steps, in the order of the steps; none where left out. */
  readonly laterChecks?: readonly LaterCheck[] | undefined;
  /** Which trainer wrote them, as src/producers names it; left out where nobody tells, as are the next two. */
  readonly producer?: string | undefined;
  /** Its algorithm, for example `grpo`. */
  readonly algorithm?: string | undefined;
  /** Its settings by name, for example `{ stepsPerUpdate: 2, aggregation: "token_mean" }`. */
  readonly settings?: Readonly<Record<string, ToldValue>> | undefined;
}

/** What a test saw. */
export interface Evidence {
  /** A metric, or `check 6: …`. */
  readonly metric: string;
  /** Which number of the metric: its first value, a mean, a trend. */
  readonly statistic: string;
  /** The step that it speaks of. */
  readonly step: number;
  /** Null where it is not a number, or an invariant measured none. */
  readonly value: number | null;
  /** How the value stands to the bound. */
  readonly relation: string;
  /** What it is compared with; null where a number is all that is asked for. */
  readonly bound: number | null;
  /** Where the bound comes from. */
  readonly boundFrom: string;
  /** The symptom that it is a part of. */
  readonly symptom: string;
}

/** `not-checkable`: the record lacks what is needed. `not-applicable`: the setting has none of it. */
export type Unchecked = "not-checkable" | "not-applicable";

/** Why a test could not be made. */
interface Missing {
  readonly verdict: Unchecked;
  /** What it needs, as a noun. */
  readonly need: string;
}

type TestResult =
  | { readonly state: "fires" | "quiet"; readonly evidence: Omit<Evidence, "symptom"> }
  | ({ readonly state: "unchecked" } & Missing);

/** The healthy runs that bounds refer to. */
export interface Compared {
  /** Empty where there are none, or none that are like the run. */
  readonly reference: HealthyReference;
  /** What the run would have to be to be compared with the healthy ones that there are; empty where it is. */
  readonly unmet: readonly string[];
}

/** What several tests say together. */
export interface TestsResult {
  readonly fires: boolean;
  /** Why they could not be made; empty where one was quiet, which decides. */
  readonly missing: readonly Missing[];
  readonly evidence: readonly Omit<Evidence, "symptom">[];
}

type CheckTest = Extract<RuleTest, { readonly check: string }>;
type MetricTest = Exclude<RuleTest, CheckTest>;

/** What an invariant is called where it is a test. */
export function checkName(key: string): string {
  return `check ${INVARIANTS.find((invariant) => invariant.key === key)?.id ?? key}`;
}

/** The verdict of an invariant before the first step; undefined where it was not written. */
export function verdictOn(key: string, { checks = [] }: TestedRun): RecordedCheck | undefined {
  return checks.find(({ id }) => invariantKey(id) === key);
}

/** A verdict as evidence. */
export function checkEvidence(check: RecordedCheck | LaterCheck): Omit<Evidence, "symptom"> {
  const { id, name, value, bound, verdict, relation = "", boundReason = "" } = check;
  return {
    metric: `check ${id}: ${name}`,
    statistic: verdict,
    step: "step" in check ? check.step : 0,
    value,
    relation,
    bound,
    boundFrom: boundReason,
  };
}

/** Every violated invariant, where it was seen first. */
export function violatedChecks(
  { checks = [], laterChecks = [] }: TestedRun,
): (RecordedCheck | LaterCheck)[] {
  const violated = [...checks, ...laterChecks].filter(({ verdict }) => verdict === "violated");
  return violated.filter(({ id }, i) => violated.findIndex((other) => other.id === id) === i);
}

/** Numbers that a fault gives exactly differ by the rounding of f32 alone. */
const SAME_VALUE = 1e-3;

/** What an invariant said: at later steps that it is violated as soon as it is so once. */
function verdictFor({ check, isLater }: CheckTest, run: TestedRun): RecordedCheck | undefined {
  if (!isLater) return verdictOn(check, run);
  const later = (run.laterChecks ?? []).filter(({ id }) => invariantKey(id) === check);
  return later.find(({ verdict }) => verdict === "violated") ?? later.at(-1);
}

function makeCheckTest(test: CheckTest, run: TestedRun): TestResult {
  const found = verdictFor(test, run);
  const name = checkName(test.check);
  const need = test.isLater ? `${name} at later steps (checkEvery)` : name;
  if (!found) return { state: "unchecked", verdict: "not-checkable", need };
  const { verdict } = found;
  if (verdict === "not-applicable" || verdict === "not-checkable") {
    return { state: "unchecked", verdict, need };
  }
  const isMeant = test.value === undefined ||
    Math.abs((found.value ?? NaN) - test.value) <= SAME_VALUE * Math.abs(test.value);
  return {
    state: verdict === test.verdict && isMeant ? "fires" : "quiet",
    evidence: checkEvidence(found),
  };
}

/** The series of a test: the metric itself, or its ratio to another one in the steps that have both. */
function seriesOf({ metric, per }: MetricTest, { metrics }: TestedRun): Series | undefined {
  const own = metrics.series.get(metric);
  if (per === undefined || own === undefined) return own;
  const divisor = metrics.series.get(per);
  const collector = new ColumnCollector();
  let place = 0; // Both ascend.
  own.steps.forEach((step, i) => {
    while ((divisor?.steps[place] ?? Infinity) < step) place++;
    const below = divisor?.steps[place] === step ? divisor.values[place] : 0;
    if (!below) return;
    collector.beginRow(step);
    collector.add(metric, at(own.values, i) / below);
  });
  return collector.columns().get(metric);
}

/** What a metric's test looks at: the metric, or a ratio of two. */
export function metricName({ metric, per }: MetricTest): string {
  return per === undefined ? metric : `${metric}/${per}`;
}

/** What a bound refers to of healthy runs, over the steps that both they and the run have. */
function healthyBound(test: MetricTest, run: TestedRun, { reference, unmet }: Compared) {
  const { metric, statistic } = test;
  const name = metricName(test);
  if (unmet.length > 0) {
    return { verdict: "not-applicable", need: `healthy runs like it for ${name}` } as const;
  }
  const { lastStep } = run.metrics;
  const range = healthyRange(reference, { metric, statistic, lastStep });
  if (range) return range;
  const need = `${name} of a healthy run over so many steps`;
  return { verdict: "not-checkable", need } as const;
}

/** The run's series over the steps that the bound speaks of. */
function comparedSeries(
  { bound }: MetricTest,
  series: Series,
  { reference }: Compared,
): Series {
  if ("value" in bound || reference.length === 0) return series;
  const lastStep = Math.max(...reference.map((healthy) => healthy.lastStep));
  return seriesUntil(series, lastStep) ?? series;
}

function makeMetricTest(test: MetricTest, run: TestedRun, compared: Compared): TestResult {
  const { statistic, relation, bound: held } = test;
  const name = metricName(test);
  const series = seriesOf(test, run);
  if (!series) return { state: "unchecked", verdict: "not-checkable", need: name };
  const found = STATISTICS[statistic](comparedSeries(test, series, compared));
  if (!found) {
    const need = `more steps of ${name}`;
    return { state: "unchecked", verdict: "not-checkable", need };
  }
  let bound: number;
  if ("value" in held) bound = held.value;
  else {
    const range = healthyBound(test, run, compared);
    if ("need" in range) return { state: "unchecked", ...range };
    bound = range[held.healthy] * held.times;
  }
  const { value, step } = found;
  const fires = relation === "<=" ? value <= bound : value >= bound;
  return {
    state: fires ? "fires" : "quiet",
    evidence: { metric: name, statistic, step, value, relation, bound, boundFrom: held.from },
  };
}

/** True where one of the tests holds the run against healthy ones. */
export function comparesWithHealthy(tests: readonly RuleTest[]): boolean {
  return tests.some((test) => !("check" in test) && "healthy" in test.bound);
}

/**
 * Makes tests that are taken together: quiet where one is quiet, else not made where one cannot be, else firing.
 *
 * @param tests The tests.
 * @param run The run.
 * @param compared The healthy runs that bounds refer to.
 */
export function makeTests(
  tests: readonly RuleTest[],
  run: TestedRun,
  compared: Compared,
): TestsResult {
  const results = tests.map((test) =>
    "check" in test ? makeCheckTest(test, run) : makeMetricTest(test, run, compared)
  );
  const evidence = results.flatMap((result) =>
    result.state === "unchecked" ? [] : [result.evidence]
  );
  const missing = results.flatMap((result) => result.state === "unchecked" ? [result] : []);
  const isQuiet = results.some(({ state }) => state === "quiet");
  return {
    fires: !isQuiet && missing.length === 0,
    missing: isQuiet ? [] : missing.map(({ verdict, need }) => ({ verdict, need })),
    evidence,
  };
}
