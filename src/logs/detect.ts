/** Finds the reader of a file by its content. */
import { UserError } from "../core/errors.ts";
import { unreadable } from "./describe_head.ts";
import type { LogInput, LogReader } from "./reader.ts";

/**
 * The reader that is surest of a file.
 *
 * @param input The file; only its first bytes are looked at, never its name.
 * @param readers Those to choose from; of equally sure ones the first.
 * @throws {UserError} When no reader knows the form: with what was seen.
 */
export function detectReader(
  { name, head }: Pick<LogInput, "name" | "head">,
  readers: readonly LogReader[],
): LogReader {
  let best: { readonly reader: LogReader; readonly sureness: number } | undefined;
  for (const reader of readers) {
    const sureness = reader.detect(head);
    if (sureness > (best?.sureness ?? 0)) best = { reader, sureness };
  }
  if (!best) throw new UserError(unreadable(name, head));
  return best.reader;
}
