/** What is known of a run of the library: what its folder holds, what triage says of it, and how good its agent became. */
import type { FaultKind, Half } from "./fault.ts";

/** A violated check. */
export interface Violation {
  /** Steps done before the batch that was checked. */
  readonly step: number;
  /** The check's number. */
  readonly id: number;
}

/** What triage says. */
export interface Answer {
  readonly conclusion: string;
  /** Likeliest first, with belief. Where none is left, `conclusion` says what was seen. */
  readonly causes: readonly { readonly name: string; readonly belief: number }[];
}

/** A run of the right trainer or of one with a fault. */
export interface Observation {
  readonly seed: number;
  /** Violated checks before the first step. */
  readonly before: readonly number[];
  /** Violated checks at later steps, in their order. */
  readonly later: readonly Violation[];
  /** The step in which the run ended because its numbers overflowed; undefined where it did not. */
  readonly overflowStep: number | undefined;
  readonly answer: Answer;
  /** Share of held-out episodes that pass under the last weights, by the right code; NaN where there are none. */
  readonly passRate: number;
}

/** A fault with its runs. */
export interface FaultRuns {
  readonly name: string;
  readonly half: Half;
  readonly kind: FaultKind;
  readonly named: readonly string[];
  readonly near: readonly string[];
  readonly begins: number;
  /** One a seed. */
  readonly runs: readonly Observation[];
  /** Lowest held-out pass rate of the right trainer under the same settings, over its seeds. */
  readonly healthyLow: number;
}

/** A setting of the right trainer with its runs. */
export interface CorrectRuns {
  readonly name: string;
  readonly runs: readonly Observation[];
}

/** Steps within which a fault must be seen, from the one at which it begins. */
export const SEEN_WITHIN = 4;

/** The step at which the run itself shows that something is wrong, and by what; undefined where it does not. */
export function caughtLater(
  run: Observation,
): { readonly step: number; readonly by: string } | undefined {
  const [first] = run.later;
  const { overflowStep } = run;
  if (overflowStep !== undefined && !(first && first.step <= overflowStep)) {
    return { step: overflowStep, by: "NaN" };
  }
  return first && { step: first.step, by: String(first.id) };
}

/** When a run was caught, seen from the step at which its fault begins. */
export type Caught = "before" | "in time" | "late" | "missed";

/** When checks, or numbers that overflow, caught a run. */
export function caughtOf({ begins }: Pick<FaultRuns, "begins">, run: Observation): Caught {
  if (run.before.length > 0) return "before";
  const later = caughtLater(run);
  if (!later) return "missed";
  return later.step <= begins + SEEN_WITHIN ? "in time" : "late";
}

/** True where the agent became worse than any of the right trainer. */
export function isHarmful({ healthyLow }: Pick<FaultRuns, "healthyLow">, run: Observation) {
  return !(run.passRate >= healthyLow); // No agent at all is harm as well.
}

/** How triage's answer stands to the fault. */
export type AnswerKind = "named" | "near" | "unknown cause" | "wrong" | "falls short" | "nothing";

/** How triage's answer about a run stands to its fault. */
export function answerKind(
  fault: Pick<FaultRuns, "named" | "near">,
  { answer: { conclusion, causes: [first] } }: Observation,
): AnswerKind {
  if (conclusion === "falls-short") return "falls short";
  if (!first) return conclusion === "nothing-fired" ? "nothing" : "unknown cause";
  if (fault.named.includes(first.name)) return "named";
  return fault.near.includes(first.name) ? "near" : "wrong";
}
