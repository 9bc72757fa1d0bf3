/** Ids and log-probs of sequences that are kept for comparison, as far as the memory for them reaches. */

/** Tokens whose ids or values are kept: 4 bytes each. */
const MOST_KEPT_TOKENS = 16 * 2 ** 20;

/** Counts what is kept, and what was left out for want of room. */
export class KeptTokens {
  #left = MOST_KEPT_TOKENS;
  #skipped = 0;

  /** True where so many more tokens may be kept; they are then counted. */
  take(tokens: number): boolean {
    if (tokens > this.#left) {
      this.#skipped++;
      return false;
    }
    this.#left -= tokens;
    return true;
  }

  /** Sequences that there was no room for. */
  get skipped(): number {
    return this.#skipped;
  }

  /** What was left out, as the end of a sentence; empty where nothing was. */
  get words(): string {
    return this.#skipped === 0
      ? ""
      : ` ${this.#skipped} sequences beyond the first ${
        MOST_KEPT_TOKENS / 2 ** 20
      } million tokens were not compared.`;
  }
}
