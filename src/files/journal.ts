/** Append-only JSONL: one JSON object per line, flushed a row at a time; a half-written last line is tolerated. */
import { UserError } from "../core/errors.ts";
import { type JournalRow, journalText } from "../core/json_lines.ts";
import { asUserError } from "./file_error.ts";
import { fillFrom, formatBytes, openRegularFile, requireRegular } from "./read_file.ts";
import { infoOf } from "./paths.ts";

export type { JournalRow };

/** A row and where its line lies in the file, in bytes; `end` is behind its line feed. */
export interface PlacedRow {
  readonly row: JournalRow;
  readonly begin: number;
  readonly end: number;
}

const LINE_FEED = 10;

/** A million full rows are 0.7 GB; a file of several times that is not a journal that one look can take in. */
const MAX_BYTES = 2 * 2 ** 30;

/** An episode of the longest prompts is a line of some kilobytes. */
const MAX_LINE_BYTES = 16 * 2 ** 20;

/** Bytes read at once. */
const CHUNK_BYTES = 2 ** 18;

interface Line {
  /** Without its line feed; valid until the next line is asked for. */
  readonly bytes: Uint8Array;
  /** False for a last line that lacks its line feed. */
  readonly isComplete: boolean;
  readonly begin: number;
}

/** The lines of a file, read piece by piece: a journal may be larger than the memory. */
function* readLines(path: string, maxBytes: number): Generator<Line> {
  const { file } = openRegularFile(path, { maxBytes });
  try {
    let buffer = new Uint8Array(CHUNK_BYTES);
    let [begin, end, offset] = [0, 0, 0]; // What is not yet handed out, and where the buffer begins in the file.
    for (;;) {
      // Only the new bytes may hold a line feed.
      const filled = fillFrom(file, buffer.subarray(end));
      for (let from = end, limit = end + filled.length;;) {
        const at = buffer.subarray(0, limit).indexOf(LINE_FEED, from);
        if (at < 0) break;
        yield { bytes: buffer.subarray(begin, at), isComplete: true, begin: offset + begin };
        begin = from = at + 1;
      }
      end += filled.length;
      if (filled.length === 0) break;
      if (end - begin > MAX_LINE_BYTES) {
        throw new UserError(
          `Cannot read ${path}: a line holds more than ${formatBytes(MAX_LINE_BYTES)}`,
        );
      }
      const rest = buffer.subarray(begin, end);
      const next = rest.length > buffer.length / 2 ? new Uint8Array(2 * buffer.length) : buffer;
      next.set(rest); // Within one buffer this is a move.
      [buffer, offset, begin, end] = [next, offset + begin, 0, rest.length];
    }
    if (end > begin) {
      yield { bytes: buffer.subarray(begin, end), isComplete: false, begin: offset + begin };
    }
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  } finally {
    file.close();
  }
}

/** The row in a line of JSONL. @throws {SyntaxError | TypeError} When the line is not a JSON object, or not UTF-8. */
function parseRow(line: Uint8Array, decoder: TextDecoder): JournalRow {
  const value: unknown = JSON.parse(decoder.decode(line));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SyntaxError("the line is not a JSON object");
  }
  return value as JournalRow;
}

const newDecoder = () => new TextDecoder("utf-8", { fatal: true });

/**
 * The rows of a JSONL file, one at a time.
 *
 * @param path The file.
 * @param options.maxBytes A larger file is refused (default 2 GiB).
 * @yields Rows in order. A half-written last line is left out: its writer was stopped within it.
 * @throws {UserError} When the file cannot be read, is not a regular file or too large, or another line is not a JSON object.
 */
export function* journalRows(
  path: string,
  { maxBytes = MAX_BYTES }: { readonly maxBytes?: number } = {},
): Generator<PlacedRow> {
  const decoder = newDecoder();
  let number = 0;
  for (const { bytes, isComplete, begin } of readLines(path, maxBytes)) {
    number++;
    let row: JournalRow;
    try {
      row = parseRow(bytes, decoder);
    } catch (error) {
      // The writer was stopped within its last row. (No part of a row is a row: only its last byte closes the object.)
      if (!isComplete) return;
      const reason = error instanceof Error ? error.message : String(error);
      throw new UserError(`Cannot read ${path}: line ${number} is not a row of JSONL (${reason})`);
    }
    yield { row, begin, end: begin + bytes.length + Number(isComplete) };
  }
}

/** {@linkcode journalRows} without their places. */
export function* rowsOf(
  path: string,
  options: { readonly maxBytes?: number } = {},
): Generator<JournalRow> {
  for (const { row } of journalRows(path, options)) yield row;
}

/** The rows of a journal of any size up to the first line that is not a row. */
export function* rowsWhileReadable(path: string): Generator<PlacedRow> {
  try {
    yield* journalRows(path, { maxBytes: Infinity });
  } catch (error) {
    // What cannot be read is lost like what is not there. A journal that cannot even be opened is said by its writer.
    if (!(error instanceof UserError)) throw error;
  }
}

/**
 * Reads all rows of a JSONL file.
 *
 * @param path The file.
 * @returns The rows in order, as {@linkcode journalRows} yields them.
 * @throws {UserError} As {@linkcode journalRows}.
 */
export function readJournal(path: string): JournalRow[] {
  return [...rowsOf(path)];
}

/** The last row; undefined where there is none. @throws {UserError} As {@linkcode journalRows}. */
export function lastRow(path: string): JournalRow | undefined {
  let last: JournalRow | undefined;
  for (const row of rowsOf(path, { maxBytes: Infinity })) last = row;
  return last;
}

/**
 * Cuts a journal off, so that a resumed run can write the rows behind afresh. Rows that stay keep their bytes.
 *
 * @param path A journal; where it is missing nothing happens.
 * @param sizeBytes What stays: the end of a row.
 * @throws {UserError} When the file cannot be written.
 */
export function cutJournal(path: string, sizeBytes: number): void {
  const info = infoOf(path);
  if (info === undefined || info.size <= sizeBytes) return;
  try {
    Deno.truncateSync(path, sizeBytes);
  } catch (error) {
    throw asUserError(error, `Cannot write ${path}`);
  }
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
      const info = infoOf(path);
      if (info !== undefined) requireRegular(info, `Cannot open ${path}`);
      this.#file = Deno.openSync(path, { read: true, write: true, create: true });
      this.#repairLastLine();
    } catch (error) {
      throw asUserError(error, `Cannot open ${path}`);
    }
  }

  /** The bytes behind the last line feed. */
  #lastLine(sizeBytes: number): Uint8Array {
    for (let length = Math.min(CHUNK_BYTES, sizeBytes);; length = Math.min(2 * length, sizeBytes)) {
      this.#file.seekSync(sizeBytes - length, Deno.SeekMode.Start);
      const tail = fillFrom(this.#file, new Uint8Array(length));
      const at = tail.lastIndexOf(LINE_FEED);
      if (at >= 0 || length === sizeBytes) return tail.subarray(at + 1);
    }
  }

  /** Ends a last line that lacks only its line feed, and cuts off a half-written one. */
  #repairLastLine(): void {
    const { size } = this.#file.statSync();
    const line = this.#lastLine(size);
    this.#file.seekSync(0, Deno.SeekMode.End);
    if (line.length === 0) return;
    try {
      parseRow(line, newDecoder());
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
      this.#file.truncateSync(size - line.length);
      this.#file.seekSync(0, Deno.SeekMode.End);
      return;
    }
    this.#file.writeSync(Uint8Array.of(LINE_FEED));
  }

  /**
   * Appends one row in one write: after it returns, a killed process loses nothing of the row.
   *
   * @param row JSON values; text of any content is safe, since JSON escapes line feeds. Numbers that are not finite become null.
   * @throws {UserError} When the disk is full.
   */
  append(row: JournalRow): void {
    let rest: Uint8Array = new TextEncoder().encode(journalText([row]));
    try {
      while (rest.length > 0) rest = rest.subarray(this.#file.writeSync(rest));
    } catch (error) {
      throw asUserError(error, `Cannot append to ${this.#path}`);
    }
  }

  /**
   * Waits until every row is on disk, so that a checkpoint written next never is ahead of its journal after a power cut.
   *
   * @throws {UserError} When the disk is full or failing: some file systems say so only now.
   */
  sync(): void {
    try {
      this.#file.syncSync();
    } catch (error) {
      throw asUserError(error, `Cannot append to ${this.#path}`);
    }
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
  }
}
