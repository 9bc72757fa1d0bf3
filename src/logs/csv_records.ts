/** Splits lines into the records of a CSV file: commas, semicolons or tabs, and quotes as in RFC 4180. */
import { UserError } from "../core/errors.ts";
import type { LogInput, TextLine } from "./reader.ts";
import type { RunLogBuilder } from "./run_log_builder.ts";
import { MAX_LINE_LENGTH } from "./text_lines.ts";

/** A record. */
export interface CsvRecord {
  readonly cells: readonly string[];
  /** The line in which it begins. */
  readonly line: number;
  /** Its last cell may be cut off. */
  readonly unfinished: boolean;
}

const QUOTE = '"';

/**
 * Tells what separates the cells of a header.
 *
 * @param line The first line of a file.
 * @returns The one of comma, semicolon and tab that stands there most often outside of quotes; undefined where none does.
 */
export function separatorOf(line: string): string | undefined {
  const plain = line.replace(/"[^"]*"/g, "");
  const counts = [",", ";", "\t"].map((mark) => [mark, plain.split(mark).length - 1] as const);
  const [best] = counts.sort(([, a], [, b]) => b - a);
  return best[1] > 0 ? best[0] : undefined;
}

/** Cells of a whole record. */
export function splitCells(text: string, separator: string): string[] {
  if (!text.includes(QUOTE)) return text.split(separator);
  const cells: string[] = [];
  let cell = "";
  let start = 0;
  let isQuoted = false;
  for (let i = 0; i <= text.length; i++) {
    const mark = text[i];
    if (mark === QUOTE) {
      cell += text.slice(start, i);
      // A quote within quotes is written twice.
      if (isQuoted && text[i + 1] === QUOTE) cell += text[i++];
      else isQuoted = !isQuoted;
      start = i + 1;
    } else if (i === text.length || (mark === separator && !isQuoted)) {
      cells.push(cell + text.slice(start, i));
      cell = "";
      start = i + 1;
    }
  }
  return cells;
}

function countQuotes(text: string): number {
  let count = 0;
  for (let at = text.indexOf(QUOTE); at >= 0; at = text.indexOf(QUOTE, at + 1)) count++;
  return count;
}

/** Puts lines together where a quoted cell spans several. */
class RecordLines {
  #lines: string[] = [];
  #length = 0;
  #isOpen = false;
  #first = 0;

  constructor(readonly name: string) {}

  /** Takes a line. @returns The text and the first line of the record that it completes. */
  take({ text, number }: TextLine): { readonly text: string; readonly line: number } | undefined {
    if (countQuotes(text) % 2 === 1) this.#isOpen = !this.#isOpen;
    if (this.#lines.length === 0) {
      if (!this.#isOpen) return { text, line: number };
      this.#first = number;
    }
    this.#lines.push(text);
    this.#length += text.length + 1;
    if (this.#length > MAX_LINE_LENGTH) this.#refuse();
    if (this.#isOpen) return undefined;
    const record = { text: this.#lines.join("\n"), line: this.#first };
    this.#lines = [];
    this.#length = 0;
    return record;
  }

  /** What of a record in the last line is left at the end; its quote is open. */
  finish(): string | undefined {
    if (this.#lines.length > 1) this.#refuse();
    return this.#lines[0];
  }

  #refuse(): never {
    throw new UserError(
      `Cannot read ${this.name}: the quote that opens in line ${this.#first} is not closed; ` +
        "the file is cut off or is not CSV",
    );
  }
}

/**
 * Reads the records of a CSV file; empty lines are none.
 *
 * @param input The file.
 * @param builder Told of a last record that is cut off.
 * @returns Batches of records.
 * @throws {UserError} When a quote is not closed in a line before the last: it would swallow all that follows.
 */
export async function* csvRecords(
  input: LogInput,
  builder: RunLogBuilder,
): AsyncGenerator<readonly CsvRecord[]> {
  const lines = new RecordLines(input.name);
  let separator: string | undefined;
  for await (const batch of input.lines()) {
    const records: CsvRecord[] = [];
    for (const line of batch) {
      const record = lines.take(line);
      if (record === undefined || record.text.trim() === "") continue;
      separator ??= separatorOf(record.text) ?? ",";
      records.push({
        cells: splitCells(record.text, separator),
        line: record.line,
        unfinished: line.isUnended === true && !record.text.endsWith(QUOTE),
      });
    }
    if (records.length > 0) yield records;
  }
  const rest = lines.finish();
  if (rest !== undefined) builder.ignore("a last record that is cut off", rest);
}
