/** Finds the reader of a file by its content. */
import { UserError } from "../core/errors.ts";
import { unreadable } from "./describe_head.ts";
import type { LogInput, LogReader } from "./reader.ts";

/** A reader, and how sure it is of a file: above 0, at most 1. */
export interface Detected<Reader> {
  readonly reader: Reader;
  readonly sureness: number;
}

/**
 * The reader that is surest of a file by its first bytes.
 *
 * @param readers Those to choose from; of equally sure ones the first.
 * @returns Undefined where no reader knows the form.
 */
export function surestReader<Reader extends Pick<LogReader, "detect">>(
  head: Uint8Array,
  readers: readonly Reader[],
): Detected<Reader> | undefined {
  let best: Detected<Reader> | undefined;
  for (const reader of readers) {
    const sureness = reader.detect(head);
    if (sureness > (best?.sureness ?? 0)) best = { reader, sureness };
  }
  return best;
}

/**
 * The reader that is surest of a log.
 *
 * @param input The file; only its first bytes are looked at, never its name.
 * @param readers Those to choose from; of equally sure ones the first.
 * @throws {UserError} When no reader knows the form: with what was seen.
 */
export function detectReader(
  { name, head }: Pick<LogInput, "name" | "head">,
  readers: readonly LogReader[],
): LogReader {
  const best = surestReader(head, readers);
  if (!best) throw new UserError(unreadable(name, head));
  return best.reader;
}
