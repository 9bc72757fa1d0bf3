/** What a reader of one form of log is, and what it reads from. */
import type { Sentence } from "../core/mention.ts";
import type { LogSettings } from "./run_log.ts";
import type { RunLogBuilder } from "./run_log_builder.ts";

/** A line of text. A carriage return ends a line as a line feed does, since progress bars redraw themselves with it. */
export interface TextLine {
  readonly text: string;
  /** Line feeds before it, plus 1: what an editor shows. */
  readonly number: number;
  /** True of a last line without a line feed: its writer may have been stopped within it, so that its last number may be cut. */
  readonly isUnended?: true;
}

/** What the user says about a log before it is read. */
export interface ReadOptions {
  /** Which run of a file that holds several (the setting `run`). */
  readonly run?: string | undefined;
  /** The key or column that counts the steps, where the file calls it otherwise than is known (the setting `map` gives it). */
  readonly stepKey?: string | undefined;
  /** What flags say of the run; a console log without steps counts them by `loggingSteps`. */
  readonly settings?: LogSettings | undefined;
}

/** One opened file (or standard input), already unpacked where it was compressed. Each stream can be taken once. */
export interface LogInput {
  /** Its name for messages and places. */
  readonly name: string;
  /** Its first bytes, at most 64 KiB, for detection; taking them consumes nothing. */
  readonly head: Uint8Array;
  /** All bytes in pieces. */
  bytes(): AsyncIterable<Uint8Array>;
  /** All lines in batches, as `linesOf` of text_lines.ts makes them. @throws {UserError} When a line is longer than 16 MiB. */
  lines(): AsyncIterable<readonly TextLine[]>;
}

/** Reads one form. A new form is a file with one of these, and a line in `src/logs/readers.ts`. */
export interface LogReader {
  /** Its name in `--json` documents, for example `trainer_state`. */
  readonly form: string;
  /** What people call it. */
  readonly title: Sentence;
  /** How each framework is told to write it. */
  readonly howToGet: readonly Sentence[];
  /** The producer where the form alone tells it. */
  readonly producer?: string;
  /** Longest file of a form that must be held as a whole; a longer one is refused before it is read. */
  readonly maxBytes?: number;
  /**
   * How surely a file is of this form, judged by its first bytes and never by its name alone.
   * @returns 0 (it is not) to 1 (it can be nothing else).
   */
  detect(head: Uint8Array): number;
  /**
   * Adds everything that the input holds to a builder that has begun the file.
   *
   * @throws {UserError} When it is of this form and cannot be read.
   */
  read(input: LogInput, builder: RunLogBuilder, options?: ReadOptions): Promise<void>;
}
