/** How keys speak for a producer. */
import type { LogTraits } from "./definition.ts";

/** Keys by which a producer is known. */
export interface Marks {
  /** Any one of them is proof. */
  readonly sure: readonly (string | RegExp)[];
  /** Words that others use as well: they tell apart those that share a sure key, and prove nothing alone. */
  readonly likely?: readonly (string | RegExp)[];
}

/** Whether a log has a key, or one that matches a pattern. */
export function hasKey({ keys }: Pick<LogTraits, "keys">, mark: string | RegExp): boolean {
  if (typeof mark === "string") return keys.has(mark);
  for (const key of keys) if (mark.test(key)) return true;
  return false;
}

/** Certainty that one sure key gives; more of them bring it towards 1. */
export const BY_ONE_SURE_KEY = 0.8;

/**
 * Certainty by the share of marks that a log shows.
 *
 * @param traits What the log shows.
 * @param marks The producer's.
 * @returns 0 without a sure key, else 0.8 to 1.
 */
export function certainty(traits: LogTraits, { sure, likely = [] }: Marks): number {
  const count = (marks: readonly (string | RegExp)[]) =>
    marks.filter((mark) => hasKey(traits, mark)).length;
  const sureCount = count(sure);
  if (sureCount === 0) return 0;
  const shown = (sureCount + count(likely)) / (sure.length + likely.length);
  return BY_ONE_SURE_KEY + (1 - BY_ONE_SURE_KEY) * shown;
}

/** Whether a number has at most so many decimals, up to the rounding of its binary form. */
export function hasDecimals(value: number, decimals: number): boolean {
  const scaled = value * 10 ** decimals;
  return Math.abs(scaled - Math.round(scaled)) <= 1e-6 * Math.max(1, Math.abs(scaled));
}
