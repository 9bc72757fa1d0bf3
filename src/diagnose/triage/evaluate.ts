/** Makes the tests of a rule on a run: each fires, stays quiet, or cannot be made, and then says what it needs. */
import { ColumnCollector } from "../../core/columns.ts";
import { at } from "../../core/element.ts";
import type { CheckResult } from "../invariant.ts";
import { invariantKey, INVARIANTS } from "../invariant_list.ts";
import { type RunMetrics, type Series, STATISTICS } from "../metric_series.ts";
import { healthyRange, type HealthyReference } from "../reference_runs.ts";
import type { Needs, RuleTest } from "./knowledge.ts";

/** A verdict of an invariant, as a file may have it that is older than some of its parts. */
export type RecordedCheck =
  & Pick<CheckResult, "id" | "name" | "value" | "bound" | "verdict">
  & Partial<Pick<CheckResult, "relation" | "boundReason" | "reason" | "lack">>;

/** What tests look at. */
export interface TestedRun {
  /** Its metrics. */
  readonly metrics: RunMetrics;
  /** The invariants' verdicts; undefined where none were written. */
  readonly checks?: readonly RecordedCheck[] | undefined;
  /** Which trainer wrote them, as src/producers names it; left out where nobody tells, as are the next two. */
  readonly producer?: string | undefined;
  /** Its algorithm, for example `grpo`. */
  readonly algorithm?: string | undefined;
  /** Its settings by name, for example `{ stepsPerUpdate: 2, klCoef: 0 }`. */
  readonly settings?: Readonly<Record<string, number>> | undefined;
}

/** What a test saw. */
export interface Evidence {
  /** A metric, or `check 6: …`. */
  readonly metric: string;
  /** Which number of the metric: its first value, a mean, a trend. */
  readonly statistic: string;
  /** The step that it speaks of. */
  readonly step: number;
  /** Null where it is no number, or an invariant measured none. */
  readonly value: number | null;
  /** How the value stands to the bound. */
  readonly relation: string;
  /** What it is held against; null where a number is all that is asked for. */
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

/** The verdict of an invariant; undefined where it was not written. */
export function verdictOn(key: string, { checks = [] }: TestedRun): RecordedCheck | undefined {
  return checks.find(({ id }) => invariantKey(id) === key);
}

/** A verdict as evidence. */
export function checkEvidence(check: RecordedCheck): Omit<Evidence, "symptom"> {
  const { id, name, value, bound, verdict, relation = "", boundReason = "" } = check;
  return {
    metric: `check ${id}: ${name}`,
    statistic: verdict,
    step: 0,
    value,
    relation,
    bound,
    boundFrom: boundReason,
  };
}

function makeCheckTest(test: CheckTest, run: TestedRun): TestResult {
  const found = verdictOn(test.check, run);
  const need = checkName(test.check);
  if (!found) return { state: "unchecked", verdict: "not-checkable", need };
  const { verdict } = found;
  if (verdict === "not-applicable" || verdict === "not-checkable") {
    return { state: "unchecked", verdict, need };
  }
  return {
    state: verdict === test.verdict ? "fires" : "quiet",
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

function makeMetricTest(
  test: MetricTest,
  run: TestedRun,
  { reference }: { readonly reference: HealthyReference },
): TestResult {
  const { metric, statistic, relation, bound: { from }, bound: held } = test;
  const name = metricName(test);
  const series = seriesOf(test, run);
  if (!series) return { state: "unchecked", verdict: "not-checkable", need: name };
  const found = STATISTICS[statistic](series);
  if (!found) {
    const need = `more steps for the ${statistic} of ${name}`;
    return { state: "unchecked", verdict: "not-checkable", need };
  }
  const { lastStep } = run.metrics;
  const range = "value" in held
    ? { low: held.value, high: held.value }
    : healthyRange(reference, { metric, statistic, lastStep });
  if (!range) {
    const need = `a healthy run's ${statistic} of ${name} over so many steps`;
    return { state: "unchecked", verdict: "not-checkable", need };
  }
  const bound = "value" in held ? held.value : range[held.healthy] * held.times;
  const { value, step } = found;
  const fires = relation === "<=" ? value <= bound : value >= bound;
  return {
    state: fires ? "fires" : "quiet",
    evidence: { metric: name, statistic, step, value, relation, bound, boundFrom: from },
  };
}

/**
 * Makes tests that are taken together: quiet where one is quiet, else not made where one cannot be, else firing.
 *
 * @param tests The tests.
 * @param run The run.
 * @param options.reference The healthy runs that bounds refer to.
 */
export function makeTests(
  tests: readonly RuleTest[],
  run: TestedRun,
  options: { readonly reference: HealthyReference },
): TestsResult {
  const results = tests.map((test) =>
    "check" in test ? makeCheckTest(test, run) : makeMetricTest(test, run, options)
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

/**
 * What a run is told to be otherwise than a rule needs it.
 *
 * @returns The needs that are not met, in words; empty where all are, or nobody tells.
 */
export function unmetNeeds(needs: Needs | undefined, run: TestedRun): string[] {
  const { producers, algorithms, settings = [] } = needs ?? {};
  const isOutside = (allowed: readonly string[] | undefined, told: string | undefined) =>
    allowed !== undefined && told !== undefined && !allowed.includes(told);
  return [
    ...(isOutside(producers, run.producer) ? [`a run of ${producers?.join(" or ")}`] : []),
    ...(isOutside(algorithms, run.algorithm) ? [`the algorithm ${algorithms?.join(" or ")}`] : []),
    ...settings.flatMap(({ setting, above, words }) => {
      const told = run.settings?.[setting];
      return told === undefined || told > above ? [] : [words];
    }),
  ];
}
