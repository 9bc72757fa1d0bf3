/** Triage: evaluates the rules on a run's metrics and verdicts, and ranks what may be wrong with it. Knows nothing else of the run. */
import { at } from "../core/element.ts";
import { type FaultName, FAULTS } from "./faults.ts";
import { healthyRange, type HealthyReference } from "./healthy_reference.ts";
import { ColumnCollector } from "../core/columns.ts";
import type { CheckResult } from "../diagnose/invariant.ts";
import { type RunMetrics, type Series, STATISTICS } from "../diagnose/metric_series.ts";
import type { NotFinite } from "./run_metrics.ts";
import { type Rule, RULES, type Test, TIERS, UNLUCKY } from "./triage_rules.ts";
import { type NextStep, SUSPECTS } from "./triage_suspects.ts";

/** A verdict of an invariant, as checks.json has it. */
export type RecordedCheck =
  & Pick<CheckResult, "id" | "name" | "value" | "bound" | "verdict">
  & Partial<Pick<CheckResult, "relation" | "boundReason" | "lack">>;

/** What is known of a run. */
export interface TriageInput {
  /** Its metrics. */
  readonly metrics: RunMetrics;
  /** The invariants' verdicts; undefined where none were written. */
  readonly checks?: readonly RecordedCheck[] | undefined;
  /** Numbers of the run that were NaN or infinite, in the order of their steps; none where left out. */
  readonly notFinite?: readonly NotFinite[];
  /** The healthy runs to compare with. */
  readonly reference: HealthyReference;
  /** The run's folder, for the next steps; undefined where there are metrics alone. */
  readonly runFolder?: string | undefined;
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

/** A suspect with what speaks for it. */
export interface Cause {
  /** Its name in the catalogue. */
  readonly fault: FaultName;
  /** Belief, 0 to 1: 1 − Π(1 − share that each symptom gives it). */
  readonly score: number;
  /** The tests that fired. */
  readonly evidence: readonly Evidence[];
  /** What to do next. */
  readonly next: NextStep;
}

/** What triage says. */
export interface TriageReport {
  /**
   * `not-finite`: the run's numbers overflowed; causes are of the steps before. `fault`: there are suspects.
   * `unknown-cause`: an invariant is violated, and no failure that is known explains it. `unexplained`: symptoms were
   * seen, and the invariants rule out every failure that is known to cause them.
   */
  readonly conclusion:
    | "not-finite"
    | "fault"
    | "unknown-cause"
    | "unlucky"
    | "unexplained"
    | "nothing-fired";
  /** One sentence about it. */
  readonly note: string;
  /** Likeliest first; empty where no failure is suspected. */
  readonly causes: readonly Cause[];
  /** Symptoms that could not be looked for, each with what it lacks. */
  readonly notMeasured: readonly string[];
  /**
   * What is to be said besides the causes: numbers that are not finite, violated invariants that no cause explains, and
   * what a conclusion without causes rests on (the symptoms, or the signs of bad luck).
   */
  readonly evidence: readonly Evidence[];
}

/** The result of one test. */
type Outcome =
  | { readonly state: "fires" | "quiet"; readonly evidence: Omit<Evidence, "symptom"> }
  | { readonly state: "not-measured"; readonly lacks: string };

type CheckTest = Extract<Test, { readonly check: number }>;
type MetricTest = Exclude<Test, CheckTest>;

function checkEvidence(check: RecordedCheck): Omit<Evidence, "symptom"> {
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

function evaluateCheck(test: CheckTest, { checks }: TriageInput): Outcome {
  const found = checks?.find(({ id }) => id === test.check);
  if (!found || found.verdict === "not-applicable") {
    return { state: "not-measured", lacks: `check ${test.check}` };
  }
  return {
    state: found.verdict === test.verdict ? "fires" : "quiet",
    evidence: checkEvidence(found),
  };
}

/** The series of a test: the metric itself, or its ratio to another one in the steps that have both. */
function seriesOf({ metric, per }: MetricTest, { metrics }: TriageInput): Series | undefined {
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

function boundOf({ bound, metric, statistic }: MetricTest, input: TriageInput): number | undefined {
  if ("value" in bound) return bound.value;
  const { reference, metrics: { lastStep } } = input;
  const range = healthyRange(reference, { metric, statistic, lastStep });
  return range && range[bound.healthy] * bound.times;
}

function evaluateMetric(test: MetricTest, input: TriageInput): Outcome {
  const { metric, per, statistic, relation, bound: { from } } = test;
  const name = per === undefined ? metric : `${metric}/${per}`;
  const series = seriesOf(test, input);
  if (!series) return { state: "not-measured", lacks: name };
  const found = STATISTICS[statistic](series);
  const bound = boundOf(test, input);
  if (!found || bound === undefined) {
    return { state: "not-measured", lacks: `${statistic} of ${name} in so few steps` };
  }
  const { value, step } = found;
  const fires = relation === "<=" ? value <= bound : value >= bound;
  return {
    state: fires ? "fires" : "quiet",
    evidence: { metric: name, statistic, step, value, relation, bound, boundFrom: from },
  };
}

/** Tests taken together: quiet where one is quiet, else not measured where one is not, else all evidence. */
function evaluateAll(tests: readonly Test[], input: TriageInput) {
  const outcomes = tests.map((test) =>
    "check" in test ? evaluateCheck(test, input) : evaluateMetric(test, input)
  );
  const evidence = outcomes.flatMap((outcome) => "evidence" in outcome ? [outcome.evidence] : []);
  const lacks = outcomes.flatMap((outcome) => "lacks" in outcome ? [outcome.lacks] : []);
  const isQuiet = outcomes.some(({ state }) => state === "quiet");
  return { fires: !isQuiet && lacks.length === 0, lacks: isQuiet ? [] : lacks, evidence };
}

/** True where an invariant that the fault cannot pass holds. */
function isRuledOut(fault: FaultName, { checks = [] }: TriageInput): boolean {
  return SUSPECTS[fault].ruledOutBy.some((id) =>
    checks.some((check) => check.id === id && check.verdict === "holds")
  );
}

/** Beliefs from independent symptoms: what all of them leave open together is the product of what each leaves open. */
function joinBeliefs(shares: readonly number[]): number {
  return 1 - shares.reduce((open, share) => open * (1 - share), 1);
}

interface Fired {
  readonly rule: Rule;
  readonly evidence: readonly Evidence[];
}

/** Where there is no run to look into, the failure itself is shown, to compare with. */
function nextStep(fault: FaultName, { runFolder, metrics: { lastStep } }: TriageInput): NextStep {
  return runFolder === undefined
    ? { kind: FAULTS[fault].kind === "code" ? "check" : "make", fault }
    : SUSPECTS[fault].next({ folder: runFolder, steps: lastStep + 1 });
}

function rankCauses(fired: readonly Fired[], input: TriageInput): Cause[] {
  const names = [
    ...new Set(fired.flatMap(({ rule }) => Object.keys(rule.causes) as FaultName[])),
  ];
  const causes = names.filter((fault) => !isRuledOut(fault, input)).map((fault): Cause => {
    const speaking = fired.filter(({ rule }) => rule.causes[fault] !== undefined);
    return {
      fault,
      score: joinBeliefs(speaking.map(({ rule }) => rule.causes[fault] ?? 0)),
      evidence: speaking.flatMap(({ evidence }) => evidence),
      next: nextStep(fault, input),
    };
  });
  // Among equals the one whose symptom was cheaper to see stays first: sorting is stable, and the rules are in that order.
  return causes.sort((a, b) => b.score - a.score);
}

const NOTES = {
  "not-finite":
    "The numbers of the run overflowed. Causes, where there are any, are of the steps before; else look at " +
    "that step's own batch and at the learning rate.",
  fault: "Likeliest cause first. Fix what invariants and consistency metrics name before tuning: " +
    "their faults imitate the symptoms below them.",
  "unknown-cause":
    "Unknown cause: an invariant is violated before any training, so the trainer is wrong, but no failure that " +
    "is known here explains it. Look at what the check measures before anything else.",
  unlucky:
    "No fault was found: the policy has not discovered reading within these steps, so there was little to " +
    "reward. Run more steps or another seed before suspecting the code.",
  unexplained:
    "Symptoms without a suspect: the invariants hold, and so rule out every failure that is known to " +
    "cause them. Another setup than the reference's can show them, too.",
  "nothing-fired":
    "No rule fired. That is not the same as healthy: it says only that none of the symptoms listed " +
    "here was measured.",
} as const satisfies Record<TriageReport["conclusion"], string>;

/** True where an invariant is not applicable, whatever the batch. Files of earlier versions do not tell the two apart. */
function isBesideTheSetting(check: number | undefined, { checks = [] }: TriageInput): boolean {
  return checks.some(({ id, verdict, lack = "setting" }) =>
    id === check && verdict === "not-applicable" && lack === "setting"
  );
}

function evaluateRules(input: TriageInput) {
  const fired: Fired[] = [];
  const notMeasured: string[] = [];
  for (const tier of TIERS) {
    for (const rule of RULES.filter((candidate) => candidate.tier === tier)) {
      const { symptom, asks, tests, unless } = rule;
      if (isBesideTheSetting(asks, input)) {
        notMeasured.push(`${symptom} (check ${asks})`);
        continue;
      }
      if (unless && evaluateAll(unless, input).fires) continue;
      const { fires, lacks, evidence } = evaluateAll(tests, input);
      if (fires) fired.push({ rule, evidence: evidence.map((e) => ({ ...e, symptom })) });
      if (lacks.length > 0) notMeasured.push(`${symptom} (${lacks.join(", ")})`);
    }
  }
  return { fired, notMeasured };
}

/** The first step of each number that was not finite. */
function notFiniteEvidence({ notFinite = [] }: TriageInput): Evidence[] {
  const firsts = notFinite.filter(({ metric }, i) =>
    notFinite.findIndex((other) => other.metric === metric) === i
  );
  return firsts.map(({ metric, step }) => ({
    metric,
    statistic: "NaN or infinite",
    step,
    value: null,
    relation: "",
    bound: null,
    boundFrom: "",
    symptom: "numbers that are not finite",
  }));
}

/** Which numbers overflowed first, as a sentence. */
function overflow(notFinite: readonly Evidence[]): string {
  const step = Math.min(...notFinite.map((evidence) => evidence.step));
  const names = notFinite.flatMap((evidence) => evidence.step === step ? [evidence.metric] : []);
  return `NaN or infinity in step ${step}: ${names.join(", ")}.`;
}

/** Violated invariants that speak for none of the causes. */
function unexplainedChecks(causes: readonly Cause[], { checks = [] }: TriageInput): Evidence[] {
  const explained = new Set(causes.flatMap(({ evidence }) => evidence.map(({ metric }) => metric)));
  return checks.filter(({ verdict }) => verdict === "violated").map(checkEvidence)
    .filter(({ metric }) => !explained.has(metric))
    .map((evidence) => ({
      ...evidence,
      symptom: "a violated invariant that no known failure explains",
    }));
}

/**
 * Names what may be wrong with a run.
 *
 * @param input Its metrics, the verdicts of its invariants where there are any, and the healthy runs to compare with.
 * @returns The ranked causes with their evidence, or why there are none.
 * @example
 * ```ts
 * import { healthyReference, metricSeries, triage, TRIAGE_METRICS } from "agentrl";
 * const rows = [{ step: 0, logp_gap: 3.1 }, { step: 1, logp_gap: 2.9 }]; // Or the lines of any JSONL.
 * const metrics = metricSeries(rows, { names: TRIAGE_METRICS, source: "my run" });
 * const { causes } = triage({ metrics, reference: healthyReference() });
 * console.log(causes[0]?.fault, causes[0]?.evidence[0]?.value); // mask_shift 3.1
 * ```
 */
export function triage(input: TriageInput): TriageReport {
  const { fired, notMeasured } = evaluateRules(input);
  const causes = rankCauses(fired, input);
  const notFinite = notFiniteEvidence(input);
  const broken = unexplainedChecks(causes, input);
  const luck = evaluateAll(UNLUCKY, input);
  const conclude = (
    conclusion: TriageReport["conclusion"],
    evidence: readonly Evidence[] = [],
  ): TriageReport => ({
    conclusion,
    note: `${conclusion === "not-finite" ? `${overflow(notFinite)} ` : ""}${NOTES[conclusion]}`,
    causes,
    notMeasured,
    evidence: [...notFinite, ...broken, ...evidence],
  });
  const symptoms = fired.flatMap(({ evidence }) => evidence)
    .filter(({ metric }) => !broken.some((check) => check.metric === metric));
  if (notFinite.length > 0) return conclude("not-finite", causes.length > 0 ? [] : symptoms);
  if (causes.length > 0) return conclude("fault");
  if (broken.length > 0) return conclude("unknown-cause", symptoms);
  if (luck.fires) {
    const symptom = "exploration has not paid";
    return conclude("unlucky", luck.evidence.map((e) => ({ ...e, symptom })));
  }
  return fired.length === 0 ? conclude("nothing-fired") : conclude("unexplained", symptoms);
}
