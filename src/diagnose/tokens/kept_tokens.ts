/** Ids and log-probs of sequences that are kept for comparison, as far as the memory for them reaches. */

/** What is kept in all, in tokens of 4 bytes. */
const MOST_KEPT_TOKENS = 16 * 2 ** 20;
/** What a sequence costs besides its tokens, in the same unit: its name, its place, its entry in a map. */
const TOKENS_PER_SEQUENCE = 128;
/** Tokens of one array: an array for each sequence would cost more than short ones hold. */
const CHUNK_TOKENS = 2 ** 18;

/** Where the values of a sequence are kept. */
export interface Kept {
  readonly chunk: number;
  readonly from: number;
  readonly until: number;
}

/** Numbers that are kept side by side in a few large arrays. */
export class KeptTokens<Values extends Float32Array | Uint32Array> {
  readonly #make: (length: number) => Values;
  readonly #chunks: Values[] = [];
  #used = CHUNK_TOKENS;
  #left = MOST_KEPT_TOKENS;
  #skipped = 0;

  /** @param make Makes an array of a length. */
  constructor(make: (length: number) => Values) {
    this.#make = make;
  }

  /** Keeps the values of a sequence; undefined where there is no room left. */
  keep(values: ArrayLike<number>): Kept | undefined {
    const { length } = values;
    const cost = length + TOKENS_PER_SEQUENCE;
    if (cost > this.#left) {
      this.#skipped++;
      return undefined;
    }
    this.#left -= cost;
    if (this.#used + length > CHUNK_TOKENS) {
      this.#chunks.push(this.#make(Math.max(length, CHUNK_TOKENS)));
      this.#used = 0;
    }
    const from = this.#used;
    this.#chunks[this.#chunks.length - 1].set(values, from);
    this.#used += length;
    return { chunk: this.#chunks.length - 1, from, until: from + length };
  }

  /** The values of a sequence. */
  of({ chunk, from, until }: Kept): Values {
    return this.#chunks[chunk].subarray(from, until) as Values;
  }

  /** What was left out, as the end of a sentence; empty where nothing was. */
  get words(): string {
    return this.#skipped === 0
      ? ""
      : ` To bound memory, ${this.#skipped} more sequences were not compared.`;
  }
}
