/** Lists of numbers that grow in place: a plain array of a million numbers costs several times as much. */

/** A typed array that grows. */
export class GrowingNumbers<A extends Float64Array | Uint32Array> {
  #length = 0;
  #values: A;
  readonly #make: (length: number) => A;

  /** Takes what makes its array. */
  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#values = make(16);
  }

  /** How many it holds. */
  get length(): number {
    return this.#length;
  }

  /** The number at an index below `length`. */
  at(index: number): number {
    return this.#values[index];
  }

  /** Replaces the number at an index below `length`. */
  set(index: number, value: number): void {
    this.#values[index] = value;
  }

  /** Appends a number. */
  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = this.#make(this.#length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  /** A copy of the right length. */
  finish(): A {
    return this.#values.slice(0, this.#length) as A;
  }
}

/** An empty list of float64. */
export const growingFloats = () => new GrowingNumbers((length) => new Float64Array(length));
/** An empty list of indices. */
export const growingIndices = () => new GrowingNumbers((length) => new Uint32Array(length));
