/** Least squares over rows that pass once: the normal equations are summed, the rows are not kept. */
import { at } from "./element.ts";

/** A fitted line. */
export interface Fit {
  /** Weight of each regressor; NaN where the regressors do not determine it. */
  readonly weights: readonly number[];
  /** Standard error of each weight. */
  readonly errors: readonly number[];
  /** Share of Σ y² that the fit explains, 0 to 1. */
  readonly explained: number;
}

/** Sums of a fit y ≈ Σ w_k x_k. A constant is a regressor of 1. */
export class LeastSquares {
  readonly #size: number;
  /** Σ x xᵀ and, in its last column, Σ x y. */
  readonly #sums: number[][];
  #squares = 0;
  #count = 0;

  /** @param size Number of regressors. */
  constructor(size: number) {
    this.#size = size;
    this.#sums = Array.from({ length: size }, () => new Array<number>(size + 1).fill(0));
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a row. @param x One value for each regressor. */
  add(x: readonly number[], y: number): void {
    this.#count++;
    this.#squares += y * y;
    for (let a = 0; a < this.#size; a++) {
      const sums = at(this.#sums, a);
      for (let b = 0; b < this.#size; b++) sums[b] += x[a] * x[b];
      sums[this.#size] += x[a] * y;
    }
  }

  /** Solves by Gauss and Jordan, which leaves the inverse for the errors. */
  fit(): Fit {
    const size = this.#size;
    const rows = this.#sums.map((row, a) => [
      ...row.slice(0, size),
      ...Array.from({ length: size }, (_, b) => Number(a === b)),
    ]);
    for (let a = 0; a < size; a++) {
      const pivot = rows[a][a];
      // What is left of a regressor that the others explain is rounding.
      if (!(pivot > 1e-12 * (this.#sums[a][a] + 1e-300))) {
        const nothing = new Array<number>(size).fill(NaN);
        return { weights: nothing, errors: nothing, explained: NaN };
      }
      for (let c = 0; c < 2 * size; c++) rows[a][c] /= pivot;
      for (let b = 0; b < size; b++) {
        const factor = rows[b][a];
        if (b === a || factor === 0) continue;
        for (let c = 0; c < 2 * size; c++) rows[b][c] -= factor * rows[a][c];
      }
    }
    const products = this.#sums.map((row) => row[size]);
    const weights = rows.map((row) =>
      products.reduce((sum, product, b) => sum + row[size + b] * product, 0)
    );
    const explainedSquares = weights.reduce((sum, weight, a) => sum + weight * products[a], 0);
    const left = Math.max(0, this.#squares - explainedSquares);
    const variance = left / Math.max(1, this.#count - size);
    return {
      weights,
      errors: rows.map((row, a) => Math.sqrt(Math.max(0, row[size + a] * variance))),
      explained: this.#squares === 0 ? 0 : 1 - left / this.#squares,
    };
  }
}
