/** What a reader of one form of token dump is. */
import type { LogInput, LogReader } from "../logs/reader.ts";
import type { LogSink } from "../logs/run_log_builder.ts";
import type { TokenSequence } from "./token_batch.ts";

/** Hears of what is skipped. */
export type TokenNotes = Pick<LogSink, "ignore">;

/** Reads one form. A new form is a file with one of these, and a line in `src/tokens/token_readers.ts`. */
export interface TokenReader
  extends Pick<LogReader, "form" | "title" | "howToGet" | "producer" | "maxBytes" | "detect"> {
  /** Whether sequences have token ids, or texts alone. */
  readonly holds: "tokens" | "texts";
  /**
   * The sequences of a file, one at a time, in its order.
   *
   * @throws {UserError} When the file is damaged: with the file, the row and the field.
   */
  read(input: LogInput, notes: TokenNotes): AsyncIterable<TokenSequence>;
}
