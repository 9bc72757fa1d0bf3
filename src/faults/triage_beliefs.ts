/**
 * How much a symptom makes its cause believed. There are more ways to break a trainer than the catalogue has, so a symptom that
 * fits a known fault is not proof of it: the numbers say how often it is that fault, or one of the same stage, in a world of
 * faults that nobody listed.
 */

/** A pattern of several verdicts, each of which the fault gives and few others do. */
export const PATTERN = 0.7;
/** One violated invariant: it says which stage is wrong, and leaves open what is wrong with it. */
export const STAGE = 0.5;
/** A consistency metric: something is wrong for certain, and what it is shows in no other number. */
export const CONSISTENCY = 0.5;
/** The setting itself is one that is known for the symptom. */
export const SETTING = 0.85;
/** A range of healthy runs, or the outcome: whatever makes a policy worse ends there. */
export const CONSEQUENCE = 0.3;
/** A cause that the symptom fits less well than the first. */
export const POSSIBLE = 0.2;
