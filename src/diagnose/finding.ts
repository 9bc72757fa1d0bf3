/** What is said about a run: findings as data. The command line and the report put them into words and colours. */

import type { NextStep } from "./triage/next_step.ts";

/** The classes of findings, the gravest first. */
export const FINDING_CLASSES = [
  /** Cannot be in a correct run. */
  "violated",
  /** Wants a look; something else may explain it. */
  "suspect",
  /** Looks alarming and is so by construction. */
  "expected",
  /** True, worth knowing, and no fault. */
  "note",
  /** Was checked and is right. */
  "holds",
  /** Could not be checked: the file lacks what it needs. */
  "not-checkable",
  /** Asks for what the setting has none of. */
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
  /** What was found there; null where it is no number (NaN, infinite). */
  readonly value?: number | null;
  /** What it was held against, and where that number comes from. */
  readonly bound?: number;
  readonly boundFrom?: string;
  /** One sentence with the numbers, in the user's words and keys. */
  readonly sentence: string;
  /** What else explains it, most likely first. */
  readonly alternatives?: readonly string[];
  /** What to do next, in the words of the user's framework. */
  readonly next?: string;
  /** What this program can do next, as data; whoever shows the finding says it in `next`. */
  readonly act?: NextStep;
  readonly at?: FindingPlace;
  /** Further numbers by name, for example quantiles. */
  readonly measures?: Readonly<Record<string, number>>;
  /** Ids of findings that this one explains: they follow from it. */
  readonly explains?: readonly string[];
}

/**
 * A finding with its next step in words.
 *
 * @param wordsOf Says a step, for example as a command.
 */
export function inWords(finding: Finding, wordsOf: (step: NextStep) => string): Finding {
  const { act, ...rest } = finding;
  return act === undefined ? finding : { ...rest, next: wordsOf(act) };
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
