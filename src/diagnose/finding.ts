/** What is said about a run: findings as data. The command line and the report put them into words and colours. */

import { inWords, type MentionWords, plainMention, type Sentence } from "../core/mention.ts";
import { nextSentence, type NextStep } from "./triage/next_step.ts";

/** The classes of findings, the gravest first. */
export const FINDING_CLASSES = [
  /** Cannot happen in a correct run. */
  "violated",
  /** Worth a look; something else may explain it. */
  "suspect",
  /** Looks alarming and is so by construction. */
  "expected",
  /** True, worth knowing, not a fault. */
  "note",
  /** Was checked and is right. */
  "holds",
  /** Could not be checked: the file lacks what it needs. */
  "not-checkable",
  /** The setting has nothing for it to check. */
  "not-applicable",
] as const;

/** Class of a finding. */
export type FindingClass = typeof FINDING_CLASSES[number];

/** Where a finding shows. */
export interface FindingPlace {
  readonly file: string;
  /** A line of a log, a row of a dump, from 1. */
  readonly row?: number;
  readonly sample?: string;
  /** Index of a token in its sequence, from 0. */
  readonly token?: number;
}

/** One thing said about a run. Keys that do not apply are left out. */
export interface Finding {
  /** Stable, for example `answers_cut`. */
  readonly id: string;
  readonly class: FindingClass;
  /** The canonical metric. */
  readonly metric?: string;
  /** The key in the user's file. */
  readonly key?: string;
  /** The step that it speaks of, in the unit of the file. */
  readonly step?: number;
  /** What was found there; null where it is not a number (NaN, infinite). */
  readonly value?: number | null;
  /** What it was compared with, and where that number comes from. */
  readonly bound?: number;
  readonly boundFrom?: Sentence;
  /** One sentence with the numbers, in the user's words and keys. */
  readonly sentence: string;
  /** What else explains it, most likely first. */
  readonly alternatives?: readonly Sentence[];
  /** What to do next, in the words of the user's framework. */
  readonly next?: Sentence;
  /** What this program can do next, as data; whoever shows the finding says it in `next`. */
  readonly act?: NextStep;
  readonly at?: FindingPlace;
  /** Further numbers by name, for example quantiles. */
  readonly measures?: Readonly<Record<string, number>>;
  /** Ids of findings that this one explains: they follow from it. */
  readonly explains?: readonly string[];
}

/** A finding that can be shown: all that was data is said. */
export interface SaidFinding extends Finding {
  readonly boundFrom?: string;
  readonly alternatives?: readonly string[];
  readonly next?: string;
  readonly act?: never;
}

/** How data in a finding is said. */
export interface FindingWords {
  /** What this program can do next, for example as a command. */
  readonly step: (step: NextStep) => string;
  /** A setting or a command that a sentence mentions. */
  readonly mention: MentionWords;
}

/** The words of a place that has none of its own. */
export const PLAIN_WORDS: FindingWords = { step: nextSentence, mention: plainMention };

/** A finding with its data said. */
export function sayFinding(finding: Finding, words: FindingWords = PLAIN_WORDS): SaidFinding {
  const { act, ...rest } = finding;
  const { boundFrom, alternatives } = rest;
  const next = act === undefined ? rest.next : words.step(act);
  const say = (said: Sentence) => inWords(said, words.mention);
  // Spread over the finding, so that its keys keep their order in a document.
  return {
    ...rest,
    ...(boundFrom !== undefined && { boundFrom: say(boundFrom) }),
    ...(alternatives !== undefined && { alternatives: alternatives.map(say) }),
    ...(next !== undefined && { next: say(next) }),
  } as SaidFinding;
}

/** True where findings speak against a run: violated ones, and suspect ones where `strict` says so. */
export function speakAgainst(
  findings: readonly Finding[],
  { strict }: { readonly strict: boolean },
): boolean {
  return findings.some((finding) =>
    finding.class === "violated" || (strict && finding.class === "suspect")
  );
}
