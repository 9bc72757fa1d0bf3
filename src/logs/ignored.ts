/** Counts what a reader skips. */

/** A kind of what was skipped, how often, and the first of its kind. */
export interface IgnoredKind {
  readonly what: string;
  readonly count: number;
  readonly example: string;
}

const MAX_EXAMPLE_LENGTH = 120;

/** What was skipped, by kind. */
export class Ignored {
  readonly #kinds = new Map<string, { count: number; readonly example: string }>();

  /**
   * Notes something that was skipped.
   *
   * @param what Its kind, for example `values that are text`.
   * @param example Kept of the first of its kind.
   */
  ignore(what: string, example: string, count = 1): void {
    const entry = this.#kinds.get(what);
    if (entry) entry.count += count;
    else this.#kinds.set(what, { count, example: example.slice(0, MAX_EXAMPLE_LENGTH) });
  }

  /** The kinds, in the order in which they were first noted. */
  list(): IgnoredKind[] {
    return Array.from(this.#kinds, ([what, entry]) => ({ what, ...entry }));
  }
}
