/** Numbers in the cells of tables. */
import { numberOf } from "./literal.ts";
import type { LogValue } from "./run_log_builder.ts";

/** What tables and data frames print for "there is no value". */
const NOT_AVAILABLE = /^(?:null|none|n\/a|<na>|no log|-|–|—)$/i;

/**
 * The number in a cell.
 *
 * @param text Without the blanks around it.
 * @returns The number, NaN and ±Infinity among them; null where the text says that there is none; undefined where it is not a number.
 */
export function parseCell(text: string): LogValue | undefined {
  return numberOf(text) ?? (NOT_AVAILABLE.test(text) ? null : undefined);
}
