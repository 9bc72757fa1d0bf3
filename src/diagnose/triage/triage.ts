/** Triage: makes the tests of rules on a run's metrics and verdicts, and ranks what may be wrong with it. Knows nothing else of it. */
import {
  checkEvidence,
  checkName,
  type Evidence,
  makeTests,
  type RecordedCheck,
  type TestedRun,
  type Unchecked,
  unmetNeeds,
  verdictOn,
} from "./evaluate.ts";
import { type CauseRecord, TIERS, type TriageKnowledge, type TriageRule } from "./knowledge.ts";
import { type NextStep, nextStep } from "./next_step.ts";

/** A number of a run that was NaN or infinite. */
export interface NotFinite {
  /** Its key. */
  readonly metric: string;
  /** The step of its row. */
  readonly step: number;
}

/** What is known of a run. */
export interface TriageInput extends TestedRun {
  /** Numbers of the run that were NaN or infinite, in the order of their steps; none where left out. */
  readonly notFinite?: readonly NotFinite[];
  /** The run's folder, for the next steps; undefined where there are metrics alone. */
  readonly runFolder?: string | undefined;
}

/** A suspect with what speaks for it. */
export interface Cause {
  /** Its name in the knowledge. */
  readonly fault: string;
  /** Belief, 0 to 1: 1 − Π(1 − share that each symptom gives it). */
  readonly score: number;
  /** The tests that fired. */
  readonly evidence: readonly Evidence[];
  /** What to do next. */
  readonly next: NextStep;
}

/** A symptom that could not be looked for. */
export interface UncheckedSymptom {
  /** Whose fault it is: the record's or the setting's. */
  readonly verdict: Unchecked;
  /** The symptom of the rule. */
  readonly symptom: string;
  /** What it needs: metrics and verdicts that the record lacks, or what the setting has none of. */
  readonly needs: readonly string[];
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
  /** Symptoms that could not be looked for. */
  readonly unchecked: readonly UncheckedSymptom[];
  /**
   * What is to be said besides the causes: numbers that are not finite, violated invariants that no cause explains, and
   * what a conclusion without causes rests on (the symptoms, or the signs of bad luck).
   */
  readonly evidence: readonly Evidence[];
}

/** True where an invariant that the cause cannot pass holds. */
function isRuledOut({ ruledOutBy }: CauseRecord, run: TestedRun): boolean {
  return ruledOutBy.some((key) => verdictOn(key, run)?.verdict === "holds");
}

/** Beliefs from independent symptoms: what all of them leave open together is the product of what each leaves open. */
function joinBeliefs(shares: readonly number[]): number {
  return 1 - shares.reduce((open, share) => open * (1 - share), 1);
}

interface Fired {
  readonly rule: TriageRule;
  readonly evidence: readonly Evidence[];
}

function recordOf(fault: string, { causes }: TriageKnowledge): CauseRecord {
  const record = Object.hasOwn(causes, fault) ? causes[fault] : undefined;
  if (record) return record;
  throw new RangeError(`A rule names the cause ${fault}, of which the knowledge has no record`);
}

function rankCauses(
  fired: readonly Fired[],
  input: TriageInput,
  { knowledge }: { readonly knowledge: TriageKnowledge },
): Cause[] {
  const { runFolder, metrics: { lastStep } } = input;
  const run = runFolder === undefined ? undefined : { folder: runFolder, steps: lastStep + 1 };
  const names = [...new Set(fired.flatMap(({ rule }) => Object.keys(rule.causes)))];
  const causes = names.flatMap((fault): Cause[] => {
    const record = recordOf(fault, knowledge);
    if (isRuledOut(record, input)) return [];
    const speaking = fired.filter(({ rule }) => rule.causes[fault] !== undefined);
    return [{
      fault,
      score: joinBeliefs(speaking.map(({ rule }) => rule.causes[fault] ?? 0)),
      evidence: speaking.flatMap(({ evidence }) => evidence),
      next: nextStep(record.advice, { fault, kind: record.kind, run }),
    }];
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
  unexplained:
    "Symptoms without a suspect: the invariants hold, and so rule out every failure that is known to " +
    "cause them. Another setup than the reference's can show them, too.",
  "nothing-fired":
    "No rule fired. That is not the same as healthy: it says only that none of the symptoms listed " +
    "here was measured.",
} as const satisfies Record<Exclude<TriageReport["conclusion"], "unlucky">, string>;

/** True where an invariant has nothing to compare, whatever the batch. Files of earlier versions do not tell the two apart. */
function isBesideTheSetting(key: string, run: TestedRun): boolean {
  const { verdict, lack = "setting" } = verdictOn(key, run) ?? {};
  return verdict === "not-applicable" && lack === "setting";
}

function evaluateRules(input: TriageInput, { rules, reference }: TriageKnowledge) {
  const fired: Fired[] = [];
  const unchecked: UncheckedSymptom[] = [];
  for (const tier of TIERS) {
    for (const rule of rules.filter((candidate) => candidate.tier === tier)) {
      const { symptom, asks, tests, unless } = rule;
      const unmet = unmetNeeds(rule.needs, input);
      if (asks !== undefined && unmet.length === 0 && isBesideTheSetting(asks, input)) {
        unmet.push(checkName(asks));
      }
      if (unmet.length > 0) {
        unchecked.push({ verdict: "not-applicable", symptom, needs: unmet });
        continue;
      }
      if (unless && makeTests(unless, input, { reference }).fires) continue;
      const { fires, missing, evidence } = makeTests(tests, input, { reference });
      if (fires) fired.push({ rule, evidence: evidence.map((e) => ({ ...e, symptom })) });
      if (missing.length > 0) {
        const isBeside = missing.some(({ verdict }) => verdict === "not-applicable");
        unchecked.push({
          verdict: isBeside ? "not-applicable" : "not-checkable",
          symptom,
          needs: missing.map(({ need }) => need),
        });
      }
    }
  }
  return { fired, unchecked };
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
function unexplainedChecks(causes: readonly Cause[], checks: readonly RecordedCheck[]): Evidence[] {
  const explained = new Set(causes.flatMap(({ evidence }) => evidence.map(({ metric }) => metric)));
  return checks.filter(({ verdict }) => verdict === "violated").map(checkEvidence)
    .filter(({ metric }) => !explained.has(metric))
    .map((evidence) => ({
      ...evidence,
      symptom: "a violated invariant that no known failure explains",
    }));
}

/** The signs of bad luck; undefined where there are none, or luck cannot be judged. */
function luckEvidence(
  input: TriageInput,
  { luck, reference }: TriageKnowledge,
): Evidence[] | undefined {
  if (!luck || unmetNeeds(luck.needs, input).length > 0) return undefined;
  const { fires, evidence } = makeTests(luck.tests, input, { reference });
  return fires ? evidence.map((e) => ({ ...e, symptom: luck.symptom })) : undefined;
}

/**
 * Names what may be wrong with a run.
 *
 * @param input Its metrics, and the verdicts of its invariants where there are any.
 * @param knowledge Rules, causes and healthy runs: ours of the tiny agent (`tinyAgentKnowledge`), or anybody's.
 * @returns The ranked causes with their evidence, or why there are none.
 * @throws {RangeError} When a rule names a cause of which the knowledge has no record.
 * @example
 * ```ts
 * import { metricSeries, tinyAgentKnowledge, triage, TRIAGE_METRICS } from "agentrl";
 * const rows = [{ step: 0, logp_gap: 3.1 }, { step: 1, logp_gap: 2.9 }]; // Or the lines of any JSONL.
 * const metrics = metricSeries(rows, { names: TRIAGE_METRICS, source: "my run" });
 * const { causes } = triage({ metrics }, tinyAgentKnowledge());
 * console.log(causes[0]?.fault, causes[0]?.evidence[0]?.value); // mask_shift 3.1
 * ```
 */
export function triage(input: TriageInput, knowledge: TriageKnowledge): TriageReport {
  const { fired, unchecked } = evaluateRules(input, knowledge);
  const causes = rankCauses(fired, input, { knowledge });
  const notFinite = notFiniteEvidence(input);
  const broken = unexplainedChecks(causes, input.checks ?? []);
  const conclude = (
    conclusion: TriageReport["conclusion"],
    evidence: readonly Evidence[] = [],
  ): TriageReport => ({
    conclusion,
    note: conclusion === "unlucky"
      ? knowledge.luck?.note ?? ""
      : `${conclusion === "not-finite" ? `${overflow(notFinite)} ` : ""}${NOTES[conclusion]}`,
    causes,
    unchecked,
    evidence: [...notFinite, ...broken, ...evidence],
  });
  const symptoms = fired.flatMap(({ evidence }) => evidence)
    .filter(({ metric }) => !broken.some((check) => check.metric === metric));
  if (notFinite.length > 0) return conclude("not-finite", causes.length > 0 ? [] : symptoms);
  if (causes.length > 0) return conclude("fault");
  if (broken.length > 0) return conclude("unknown-cause", symptoms);
  const luck = luckEvidence(input, knowledge);
  if (luck) return conclude("unlucky", luck);
  return fired.length === 0 ? conclude("nothing-fired") : conclude("unexplained", symptoms);
}
