/** Lists of numbers that grow in place: a plain array of a million numbers costs several times as much. */

/** A list doubles up to this length, and grows by pieces of it from then on: old arrays of megabytes would wait to be freed. */
const PIECE_LENGTH = 1 << 16;
const FIRST_LENGTH = 16;

/** A list of numbers in typed arrays. */
export class GrowingNumbers<A extends Float64Array | Uint32Array> {
  #length = 0;
  /** All but the last are of {@linkcode PIECE_LENGTH}. */
  #pieces: A[];
  readonly #make: (length: number) => A;

  /** Takes what makes its arrays. */
  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#pieces = [make(FIRST_LENGTH)];
  }

  /** How many it holds. */
  get length(): number {
    return this.#length;
  }

  /** The number at an index below `length`. */
  at(index: number): number {
    return this.#pieces[index >>> 16][index & (PIECE_LENGTH - 1)];
  }

  /** Replaces the number at an index below `length`. */
  set(index: number, value: number): void {
    this.#pieces[index >>> 16][index & (PIECE_LENGTH - 1)] = value;
  }

  /** Appends a number. */
  push(value: number): void {
    const place = this.#length & (PIECE_LENGTH - 1);
    const last = this.#pieces[this.#pieces.length - 1];
    if (place === 0 && this.#length > 0) this.#pieces.push(this.#make(PIECE_LENGTH));
    else if (place === last.length) {
      const grown = this.#make(last.length * 2);
      grown.set(last);
      this.#pieces[this.#pieces.length - 1] = grown;
    }
    this.set(this.#length++, value);
  }

  /** The numbers so far in one array of their own. */
  copy(): A {
    const numbers = this.#make(this.#length);
    for (const [i, piece] of this.#pieces.entries()) {
      const start = i * PIECE_LENGTH;
      numbers.set(piece.subarray(0, this.#length - start), start);
    }
    return numbers;
  }

  /** The numbers in one array; the list is empty then, so that a log is not in memory twice. */
  finish(): A {
    const numbers = this.copy();
    this.#pieces = [this.#make(FIRST_LENGTH)];
    this.#length = 0;
    return numbers;
  }
}

/** An empty list of float64. */
export const growingFloats = () => new GrowingNumbers((length) => new Float64Array(length));
/** An empty list of indices. */
export const growingIndices = () => new GrowingNumbers((length) => new Uint32Array(length));
