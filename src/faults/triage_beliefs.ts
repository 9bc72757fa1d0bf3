/**
 * How much a symptom makes its cause believed. There are more ways to break a trainer than the catalogue has, so a symptom that
 * fits a known fault is not proof of it. The numbers come from the development half of the fault library (docs/fault_library.md),
 * faults that nobody listed here: `deno run -A tests/fault_library/count_beliefs.ts` counts, rule by rule, for how many of them
 * the first cause is the fault or leads to its place.
 */

/** For how many faults of the development half a rule's first cause was right: the fault itself, or one that leads to its place. */
export interface Experience {
  readonly right: number;
  readonly wrong: number;
}

/**
 * The belief that experience leaves: Laplace's rule of succession, (right + 1) / (right + wrong + 2). The one that is added to the
 * right ones is the fault of the catalogue itself, the other stands for a fault that nobody has planted yet.
 */
export function counted({ right, wrong }: Experience): number {
  return (right + 1) / (right + wrong + 2);
}

/** What all rules about invariants say of the development half, with all checks. */
const ALL_CHECK_RULES: Experience = { right: 18, wrong: 0 };

/**
 * The same for a rule about invariants, of which there are too many for the faults of the library to say much about each: what
 * all of them together say counts as two further faults.
 */
export function countedChecks({ right, wrong }: Experience): number {
  return (right + 1 + 2 * counted(ALL_CHECK_RULES)) / (right + wrong + 2 + 2);
}

/** No fault of the development half shows itself so: in a log. */
export const UNCOUNTED = counted({ right: 0, wrong: 0 });
/** The same of a pattern of verdicts. */
export const UNCOUNTED_CHECKS = countedChecks({ right: 0, wrong: 0 });

/** The setting is one that is known for the symptom: two pieces of evidence, and the one run of the catalogue. */
export const SETTING = counted({ right: 1, wrong: 0 });

/**
 * Ranges of healthy runs and outcomes, taken together: whatever makes a policy worse ends there. Where the verdicts are known, the
 * rules about them decide.
 */
export const CONSEQUENCE = counted({ right: 4, wrong: 3 });

/** A cause that the symptom fits less well than the first, and causes between which a symptom does not decide. */
export const POSSIBLE = 0.15;
