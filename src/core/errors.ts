/** The errors that a caller catches by class; everything else is a RangeError, TypeError or SyntaxError. */

/**
 * A mistake in what the user asked for (a flag, a file, a configuration). Its message is one sentence that says what was
 * found, what is allowed and what to do. The command line prints it without a stack and ends with `exitCode`.
 */
export class UserError extends Error {
  /** The class, by which it is known across workers too. */
  override readonly name = "UserError";
  /** 2: bad input; 1: the work ran and its result is bad (for example NaN log-probs); 4: the machine failed (a full disk). */
  readonly exitCode: 1 | 2 | 4;

  /** Takes the sentence for the user and the exit code. */
  constructor(message: string, exitCode: 1 | 2 | 4 = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The GPU device is gone (driver reset, out of memory): nothing computed after this moment can be trusted. */
export class DeviceLostError extends Error {
  /** The class, by which it is known across workers too. */
  override readonly name = "DeviceLostError";
}
