/** Numbers as people's tools print them in cells and texts. */
import type { LogValue } from "./run_log_builder.ts";

/** What tables and data frames print for "there is no value". */
const NOT_AVAILABLE = /^(?:null|none|n\/a|<na>|no log|-|–|—)$/i;
const NOT_FINITE = /^([-+]?)(?:(nan)|inf(?:inity)?)$/i;

/**
 * The number in a text.
 *
 * @param text A cell, without the blanks around it.
 * @returns The number, NaN and ±Infinity among them; null where the text says that there is none; undefined where it is no number.
 */
export function parseNumberText(text: string): LogValue | undefined {
  const number = Number(text);
  // Number() reads an empty text as 0, and 0x10 as 16.
  if (!Number.isNaN(number)) return /^$|^\s|\s$|^[-+]?0[box]/i.test(text) ? undefined : number;
  const [, sign, nan] = NOT_FINITE.exec(text) ?? [];
  if (sign !== undefined) return nan !== undefined ? NaN : sign === "-" ? -Infinity : Infinity;
  return NOT_AVAILABLE.test(text) ? null : undefined;
}
