/** Append-only JSONL: one JSON object a line, flushed a row at a time; a half-written last line is tolerated. */
import { UserError } from "../core/errors.ts";
import { writeFilePartsAtomic } from "./atomic_file.ts";
import { asUserError } from "./file_error.ts";
import { exists } from "./paths.ts";

/** One row: an object of JSON values. */
export type JournalRow = Readonly<Record<string, unknown>>;

const LINE_FEED = 10;

/** Lines of a file as bytes, without their line feeds; `complete` is false for a last line that lacks one. */
function* splitLines(bytes: Uint8Array): Generator<{ line: Uint8Array; complete: boolean }> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end < 0) {
      yield { line: bytes.subarray(start), complete: false };
      return;
    }
    yield { line: bytes.subarray(start, end), complete: true };
    start = end + 1;
  }
}

/** The row in a line of JSONL. @throws {SyntaxError | TypeError} When the line is no JSON object, or no UTF-8. */
function parseRow(line: Uint8Array): JournalRow {
  const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SyntaxError("the line holds no JSON object");
  }
  return value as JournalRow;
}

function readBytes(path: string): Uint8Array {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  }
}

/** Rows with the bytes of their lines, without a half-written last one. */
function* parseLines(path: string): Generator<{ row: JournalRow; line: Uint8Array }> {
  let number = 0;
  for (const { line, complete } of splitLines(readBytes(path))) {
    number++;
    try {
      yield { row: parseRow(line), line };
    } catch (error) {
      // The writer was stopped within its last row. (No part of a row is a row: only its last byte closes the object.)
      if (!complete) return;
      const reason = error instanceof Error ? error.message : String(error);
      throw new UserError(`Cannot read ${path}: line ${number} is no row of JSONL (${reason})`);
    }
  }
}

/**
 * Reads all rows of a JSONL file.
 *
 * @param path The file.
 * @returns The rows in order. A half-written last line is left out: its writer was stopped within it.
 * @throws {UserError} When the file cannot be read or another line is no JSON object.
 */
export function readJournal(path: string): JournalRow[] {
  return Array.from(parseLines(path), ({ row }) => row);
}

/**
 * Drops the rows from a step on, so that a resumed run can write them anew: the rest goes to a temporary file that takes the name of
 * the old one. Rows that stay keep their bytes; a half-written last line goes.
 *
 * @param path A journal whose rows have an integer `step`; where it is missing nothing happens.
 * @param step The first step to drop.
 * @throws {UserError} When the file cannot be read or written, or a row has no integer `step`.
 */
export function dropRowsFrom(path: string, step: number): void {
  if (!exists(path)) return;
  const kept: Uint8Array[] = [];
  for (const { row, line } of parseLines(path)) {
    if (!Number.isInteger(row.step)) {
      throw new UserError(`Cannot resume ${path}: a row has no integer "step"`);
    }
    if (Number(row.step) < step) kept.push(line, Uint8Array.of(LINE_FEED));
  }
  writeFilePartsAtomic(path, kept);
}

/** A JSONL file that is open for appending. */
export class Journal {
  readonly #file: Deno.FsFile;
  readonly #path: string;

  /**
   * Opens a journal, or begins one. A half-written last line of an earlier writer is cut off.
   *
   * @param path The file; its folder must exist.
   * @throws {UserError} When the file cannot be opened for writing.
   */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = Deno.openSync(path, { read: true, write: true, create: true });
      const bytes = Deno.readFileSync(path);
      const end = bytes.lastIndexOf(LINE_FEED) + 1;
      if (end === bytes.length) this.#file.seekSync(0, Deno.SeekMode.End);
      else this.#repairLastLine(bytes.subarray(end), end);
    } catch (error) {
      throw asUserError(error, `Cannot open ${path}`);
    }
  }

  /** Ends a last line that lacks only its line feed, and cuts off a half-written one. */
  #repairLastLine(line: Uint8Array, startBytes: number): void {
    let isRow = true;
    try {
      parseRow(line);
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
      isRow = false;
    }
    if (!isRow) this.#file.truncateSync(startBytes);
    this.#file.seekSync(0, Deno.SeekMode.End);
    if (isRow) this.#file.writeSync(Uint8Array.of(LINE_FEED));
  }

  /**
   * Appends one row in one write: after it returns, a killed process loses nothing of the row.
   *
   * @param row JSON values; text of any content is safe, since JSON escapes line feeds. Numbers that are not finite become null.
   * @throws {UserError} When the disk is full.
   */
  append(row: JournalRow): void {
    let rest: Uint8Array = new TextEncoder().encode(`${JSON.stringify(row)}\n`);
    try {
      while (rest.length > 0) rest = rest.subarray(this.#file.writeSync(rest));
    } catch (error) {
      throw asUserError(error, `Cannot append to ${this.#path}`);
    }
  }

  /** Waits until every row is on disk, so that a checkpoint written next never is ahead of its journal after a power cut. */
  sync(): void {
    this.#file.syncSync();
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
  }
}
