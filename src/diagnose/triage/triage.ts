/** Triage: makes the tests of rules on a run's metrics and verdicts, and ranks what may be wrong with it. Knows nothing else of it. */
import {
  checkEvidence,
  checkName,
  type Compared,
  comparesWithHealthy,
  type Evidence,
  makeTests,
  type RecordedCheck,
  type TestedRun,
  type Unchecked,
  verdictOn,
} from "./evaluate.ts";
import { TIERS, type TriageKnowledge } from "./knowledge.ts";
import { invariantKey } from "../invariant_list.ts";
import { judgeNeeds } from "./needs.ts";
import { type Cause, type FiredRule, rankCauses } from "./rank.ts";

export type { Cause };

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
   * `not-finite`: the run's numbers overflowed; causes are of the steps before. `fault`: there are suspects, and a violated
   * invariant, where there is one, is what one of them would show. `unknown-cause`: an invariant is violated, or symptoms were
   * seen, and no failure that is known explains them. `falls-short`: no rule says why the run earns so little.
   */
  readonly conclusion:
    | "not-finite"
    | "fault"
    | "unknown-cause"
    | "falls-short"
    | "nothing-fired";
  /** One or two sentences about it. */
  readonly note: string;
  /** Likeliest first; empty where no failure is suspected. */
  readonly causes: readonly Cause[];
  /** Belief that the cause of what was seen is none of `causes`, 0 to 1: 1 minus theirs; 0 where nothing was seen. */
  readonly unknown: number;
  /** What the run would have to be to be compared with the healthy runs, in words; empty where it is compared with them. */
  readonly notCompared: readonly string[];
  /** Symptoms that could not be looked for. */
  readonly unchecked: readonly UncheckedSymptom[];
  /**
   * What is to be said besides the causes: numbers that are not finite, violated invariants that no cause explains, symptoms
   * without a cause, and what shows that the run has earned too little.
   */
  readonly evidence: readonly Evidence[];
}

/** True where an invariant has nothing to compare, whatever the batch. Files of earlier versions do not tell the two apart. */
function isBesideTheSetting(key: string, run: TestedRun): boolean {
  const { verdict, lack = "setting" } = verdictOn(key, run) ?? {};
  return verdict === "not-applicable" && lack === "setting";
}

/** The healthy runs, where the run is like them. */
function comparedWith(input: TriageInput, knowledge: TriageKnowledge) {
  const { unmet, untold } = judgeNeeds(knowledge.referenceNeeds, input);
  const reference = unmet.length > 0 ? [] : knowledge.reference;
  return { compared: { reference, unmet } satisfies Compared, isTold: untold.length === 0 };
}

function evaluateRules(
  input: TriageInput,
  { rules }: TriageKnowledge,
  { compared, isTold: isReferenceTold }: ReturnType<typeof comparedWith>,
) {
  const fired: FiredRule[] = [];
  const unchecked: UncheckedSymptom[] = [];
  for (const rule of TIERS.flatMap((tier) => rules.filter((one) => one.tier === tier))) {
    const { symptom, asks, tests, unless } = rule;
    const { unmet, untold } = judgeNeeds(rule.needs, input);
    const needs = [...unmet];
    if (asks !== undefined && isBesideTheSetting(asks, input)) needs.push(checkName(asks));
    if (needs.length > 0) {
      unchecked.push({ verdict: "not-applicable", symptom, needs });
      continue;
    }
    if (unless && makeTests(unless, input, compared).fires) continue;
    const { fires, missing, evidence } = makeTests(tests, input, compared);
    if (fires) {
      const isTold = untold.length === 0 && (isReferenceTold || !comparesWithHealthy(tests));
      fired.push({ rule, evidence: evidence.map((e) => ({ ...e, symptom })), isTold });
    }
    if (missing.length > 0) {
      const isBeside = missing.some(({ verdict }) => verdict === "not-applicable");
      unchecked.push({
        verdict: isBeside ? "not-applicable" : "not-checkable",
        symptom,
        needs: missing.map(({ need }) => need),
      });
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

const UNEXPLAINED_CHECK = "a violated invariant that no known failure explains";

/** What tells two pieces of evidence apart. */
function evidenceKey({ metric, statistic, step }: Evidence): string {
  return `${metric}\n${statistic}\n${step}`;
}

/** Which numbers overflowed first, as a sentence. */
function overflow(notFinite: readonly Evidence[]): string {
  const step = Math.min(...notFinite.map((evidence) => evidence.step));
  const names = notFinite.flatMap((evidence) => evidence.step === step ? [evidence.metric] : []);
  return `NaN or infinity in step ${step}: ${names.join(", ")}.`;
}

/** Where to look: what the violated invariants test. */
function areasOf(violated: readonly RecordedCheck[], { areas = {} }: TriageKnowledge): string {
  const words = violated.flatMap(({ id }) => {
    const key = invariantKey(id);
    return Object.hasOwn(areas, key) ? [`${areas[key]} (check ${id})`] : [];
  });
  return words.length === 0 ? "what the check measures" : words.join(", ");
}

const FAULT_NOTE =
  "Likeliest cause first. Fix what invariants and consistency metrics name before tuning: " +
  "their faults imitate the symptoms below them.";

const NOTHING_FIRED =
  "No rule fired. That is not the same as healthy: it says only that none of the symptoms listed " +
  "here was measured.";

const UNKNOWN_SYMPTOMS =
  "Unknown cause: these symptoms were seen, and what is known of the run rules out every failure that is known to cause " +
  "them. An unknown failure looks like this, and so can a setting that no healthy run here has.";

/** What the numbers that overflowed say. */
function notFiniteNote(notFinite: readonly Evidence[]): string {
  return `${
    overflow(notFinite)
  } Causes, where there are any, are of the steps before; else look at that step's own batch ` +
    "and at the learning rate.";
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
  const comparison = comparedWith(input, knowledge);
  const { compared } = comparison;
  const { fired, unchecked } = evaluateRules(input, knowledge, comparison);
  const { causes, unknown, unexplained } = rankCauses(fired, input, knowledge);
  const notFinite = notFiniteEvidence(input);
  const broken = unexplained.map((check) => ({
    ...checkEvidence(check),
    symptom: UNEXPLAINED_CHECK,
  }));
  const named = new Set(causes.flatMap(({ evidence }) => evidence.map(evidenceKey)));
  const shown = new Set([...named, ...broken.map(evidenceKey)]);
  const symptoms = fired.flatMap(({ evidence }) => evidence)
    .filter((evidence) => !shown.has(evidenceKey(evidence)));
  const seen = [...notFinite, ...broken, ...symptoms];
  const conclude = (
    conclusion: TriageReport["conclusion"],
    note: string,
    evidence: readonly Evidence[] = seen,
  ): TriageReport => ({
    conclusion,
    note,
    causes,
    unknown: evidence.length + causes.length > 0 && conclusion !== "falls-short" ? unknown : 0,
    notCompared: compared.unmet,
    unchecked,
    evidence,
  });
  if (notFinite.length > 0) return conclude("not-finite", notFiniteNote(notFinite));
  if (broken.length > 0) {
    const note =
      "Unknown cause: an invariant is violated, so the trainer is wrong, and no failure that is known here " +
      `explains all that is violated. Look first at ${areasOf(unexplained, knowledge)}.`;
    return conclude("unknown-cause", note);
  }
  if (causes.length > 0) return conclude("fault", FAULT_NOTE);
  if (symptoms.length > 0) return conclude("unknown-cause", UNKNOWN_SYMPTOMS);
  const { shortfall } = knowledge;
  const short = shortfall && makeTests(shortfall.tests, input, compared);
  if (!short?.fires) return conclude("nothing-fired", NOTHING_FIRED);
  const evidence = short.evidence.map((e) => ({ ...e, symptom: shortfall?.symptom ?? "" }));
  return conclude("falls-short", shortfall?.note ?? "", evidence);
}
