/** RMSNorm: y = x / √(mean of x² + ε) · gain over the columns of each row (Zhang and Sennrich 2019, arXiv:1910.07467). */
import { requireSizes } from "../core/shape.ts";

/** Sizes and parameters of an RMSNorm. */
export interface RmsnormOptions {
  /** N, rows. */
  readonly rowCount: number;
  /** D, columns that are normalized together. */
  readonly width: number;
  readonly gain_D: ArrayLike<number>;
  /** Added to the mean square before the root. */
  readonly epsilon: number;
}

/**
 * y[n, d] = x[n, d] / √(mean over d of x[n, d]² + ε) · gain[d].
 *
 * @param x_ND Rows to normalize.
 * @returns y_ND.
 * @throws {RangeError} When an array does not fit the shape.
 */
export function rmsnormForward(x_ND: ArrayLike<number>, options: RmsnormOptions): Float64Array {
  const { rowCount: N, width: D, gain_D, epsilon } = options;
  requireSizes("rmsnormForward", { x_ND: [x_ND, { N, D }], gain_D: [gain_D, { D }] });
  const y_ND = new Float64Array(N * D);
  for (let n = 0; n < N; n++) {
    let squares = 0;
    for (let d = 0; d < D; d++) squares += x_ND[n * D + d] ** 2;
    const scale = 1 / Math.sqrt(squares / D + epsilon);
    for (let d = 0; d < D; d++) y_ND[n * D + d] = x_ND[n * D + d] * scale * gain_D[d];
  }
  return y_ND;
}
