/** JSON objects as text, each on a line of its own (JSONL). */

/** One row: an object of JSON values. */
export type JournalRow = Readonly<Record<string, unknown>>;

/** Rows as the text of a journal, each with its line feed. Numbers that are not finite become null. */
export function journalText(rows: readonly JournalRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}
