/** The errors that a caller catches by class; everything else is a RangeError, TypeError or SyntaxError. */
import { inWords, type Sentence } from "./mention.ts";

/**
 * A mistake in what the user asked for (a flag, a file, a configuration). Its message is one sentence that says what was
 * found, what is allowed and what to do. Whoever shows it has the words for the settings that it mentions; the command line
 * prints it without a stack and ends with `exitCode`.
 */
export class UserError extends Error {
  /** The class name, by which workers know it as well. */
  override readonly name = "UserError";
  /** The message with its mentions as data. */
  readonly sentence: Sentence;
  /** 2: bad input; 1: the work ran and its result is bad (for example NaN log-probs); 4: the machine failed (a full disk). */
  readonly exitCode: 1 | 2 | 4;

  /** Takes the sentence for the user and the exit code. */
  constructor(sentence: Sentence, exitCode: 1 | 2 | 4 = 2) {
    super(inWords(sentence));
    this.sentence = sentence;
    this.exitCode = exitCode;
  }
}

/** The GPU device is gone (driver reset, out of memory): nothing computed after this moment can be trusted. */
export class DeviceLostError extends Error {
  /** The class name, by which workers know it as well. */
  override readonly name = "DeviceLostError";
}

/** What an error of another library says, on one line, for a sentence of ours. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replaceAll(/\s+/g, " ").trim();
}
