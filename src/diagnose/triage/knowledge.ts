/** What triage knows, as data: causes, the rules that lead from symptoms to them, and healthy runs to compare with. */
import type { StatisticName } from "../metric_series.ts";
import type { HealthyReference } from "../reference_runs.ts";
import type { Advice } from "./next_step.ts";

/** What a value is compared with, and where the number comes from. */
export type Bound =
  | { readonly value: number; readonly from: string }
  /** A multiple of the lowest or highest value of the healthy seeds' same statistic over the same steps. */
  | { readonly healthy: "low" | "high"; readonly times: number; readonly from: string };

/** One test; it fires, stays quiet, or cannot be made. */
export type RuleTest<Metric extends string = string> =
  /** The verdict of an invariant, by its key (src/diagnose/invariant_list.ts). */
  | {
    readonly check: string;
    readonly verdict: "violated" | "holds";
    /** Of a later step of the run (later_checks.jsonl), any of them; left out: before the first step. */
    readonly isLater?: true;
    /** What was measured must be this number, within a thousandth of it; left out: any will do. */
    readonly value?: number;
  }
  | {
    readonly metric: Metric;
    /** Each value is divided by that of this metric in the same step. */
    readonly per?: Metric;
    readonly statistic: StatisticName;
    readonly relation: "<=" | ">=";
    readonly bound: Bound;
  };

/** The four steps of the procedure, cheapest and most decisive first. */
export const TIERS = ["invariant", "consistency", "reference", "outcome"] as const;

/**
 * What a run must be for a symptom to mean something. What nobody tells of a run is taken to be so, and what follows from
 * it is believed less.
 */
export interface Needs {
  /** Trainers whose runs it speaks of, by their ids; left out: any. */
  readonly producers?: readonly string[];
  /** Algorithms that it speaks of; left out: any. */
  readonly algorithms?: readonly string[];
  /** Settings that must have certain values. */
  readonly settings?: readonly SettingNeed[];
}

/** A value of a setting. */
export type ToldValue = number | string;

/** A setting that must have a certain value. */
export type SettingNeed =
  & {
    /** Its name in `TestedRun.settings`. */
    readonly setting: string;
    /** The need in words, for example `more than one optimizer step per batch`. */
    readonly words: string;
  }
  & (
    /** The number that it must exceed. */
    | { readonly above: number }
    /** What it must be. */
    | { readonly is: ToldValue }
  );

/** A rule. */
export interface TriageRule<Cause extends string = string, Metric extends string = string> {
  /** The step of the procedure. */
  readonly tier: typeof TIERS[number];
  /** What is seen, in words. */
  readonly symptom: string;
  /** Where the run is otherwise the rule is not applicable; left out: it needs nothing. */
  readonly needs?: Needs;
  /** It fires when all of them do. */
  readonly tests: readonly RuleTest<Metric>[];
  /** The key of the invariant that asks the same before the run: where the setting has none of it, the rule has none as well. */
  readonly asks?: string;
  /** The symptom means nothing where all of these fire. */
  readonly unless?: readonly RuleTest<Metric>[];
  /**
   * What can cause it, with how much the symptom alone makes it believed, 0 to 1. What they leave open of 1 is the belief that
   * the cause is none of them; none at all: no failure that is known shows itself so.
   */
  readonly causes: Readonly<Partial<Record<Cause, number>>>;
}

/** An invariant whose holding rules a cause out, where the run is so that it looks at what the cause changes. */
export interface Clearing {
  /** Its key. */
  readonly check: string;
  /** What a run must be told to be; one of which it is not told is not cleared. */
  readonly where: Needs;
}

/** What is known of a cause. */
export interface CauseRecord {
  /** One line. */
  readonly summary: string;
  /** `code`: the trainer is wrong. `configuration`: the code is right and the setting is not. */
  readonly kind: "code" | "configuration";
  /** Invariants, by their keys, each of which rules it out by holding: no trainer with the cause can pass them. */
  readonly ruledOutBy: readonly (string | Clearing)[];
  /** Keys of further invariants whose violation it explains. */
  readonly explains?: readonly string[];
  /** What a run must be for it to be there; left out: it can be in any. */
  readonly needs?: Needs;
  /** What to do about it. */
  readonly advice: Advice;
}

/** What shows that a run has earned too little, where no rule says why. */
export interface Shortfall<Metric extends string = string> {
  /** What it looks like, in words. */
  readonly symptom: string;
  /** All of them must fire. */
  readonly tests: readonly RuleTest<Metric>[];
  /** What is concluded then: one or two sentences. */
  readonly note: string;
}

/** All that triage judges by. */
export interface TriageKnowledge {
  /** Rules that find bugs first: in the order of {@linkcode TIERS} and, within one, of their cost. */
  readonly rules: readonly TriageRule[];
  /** Every cause that a rule names. */
  readonly causes: Readonly<Record<string, CauseRecord>>;
  /** Left out: no run has earned too little. */
  readonly shortfall?: Shortfall;
  /** What each invariant tests, by its key, as a noun: where to look when no cause explains that it is violated. */
  readonly areas?: Readonly<Record<string, string>>;
  /** The healthy runs that bounds refer to; empty: such tests cannot be made. */
  readonly reference: HealthyReference;
  /** What a run must be to be compared with them; left out: any can be. */
  readonly referenceNeeds?: Needs;
}
