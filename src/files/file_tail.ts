/** The end of a file that grows, however long it is: whole lines, and how much of the last one is there. */
import { asUserError } from "./file_error.ts";
import { fillFrom, openRegularFile } from "./read_file.ts";

/** The last lines of a file. */
export interface FileTail {
  /** Whole lines without their line feeds; the first one begins within the bytes that were read. */
  readonly lines: readonly string[];
  /** What follows the last line feed: a line that is being written, or that its writer ends with the file. */
  readonly rest: string;
}

const LINE_FEED = 10;

/**
 * Reads the end of a file.
 *
 * @param path The file.
 * @param options.maxBytes Bytes that are read at most.
 * @throws {UserError} When it cannot be read, or is not a regular file.
 */
export function readTail(path: string, { maxBytes }: { readonly maxBytes: number }): FileTail {
  const { file, sizeBytes } = openRegularFile(path, { maxBytes: Infinity });
  try {
    const begin = Math.max(0, sizeBytes - maxBytes);
    file.seekSync(begin, Deno.SeekMode.Start);
    const bytes = fillFrom(file, new Uint8Array(sizeBytes - begin));
    // Where the file begins before them, the first bytes are the end of a line.
    const first = begin === 0 ? 0 : bytes.indexOf(LINE_FEED) + 1;
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    const decoder = new TextDecoder();
    const text = decoder.decode(bytes.subarray(first, Math.max(first, end)));
    return {
      lines: text === "" ? [] : text.replace(/\n$/, "").split("\n"),
      rest: decoder.decode(bytes.subarray(Math.max(first, end))),
    };
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  } finally {
    file.close();
  }
}

/** The JSON objects in the last lines of a JSONL file; lines that are none are left out. @throws {UserError} As `readTail`. */
export function lastRows(
  path: string,
  options: { readonly maxBytes: number },
): Readonly<Record<string, unknown>>[] {
  return readTail(path, options).lines.flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? [value as Record<string, unknown>]
        : [];
    } catch (error) {
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}
