/** JSONL as text: one JSON object a line. */

/** One row: an object of JSON values. */
export type JournalRow = Readonly<Record<string, unknown>>;

/** Rows as the text of a journal, a line feed behind each. Numbers that are not finite become null. */
export function journalText(rows: readonly JournalRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}
