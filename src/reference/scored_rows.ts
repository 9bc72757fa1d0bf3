/** Scored rows: the rows of a batch whose log-prob is asked for, and the gradient of choosing them. */
import { requireIndices, requireSizes } from "../core/shape.ts";

/** Sizes of a choice. */
export interface ScoredRowsShape {
  /** N, rows of the batch. */
  readonly rowCount: number;
  /** D, columns. */
  readonly width: number;
}

/**
 * Chooses rows: x[r, d] = x[row[r], d].
 *
 * @param x_ND All rows.
 * @param row_R A row in [0, N) for each result.
 * @returns x_RD
 * @throws {RangeError} When an array does not fit the shape or a row is not in [0, N).
 */
export function scoredRowsForward(
  x_ND: ArrayLike<number>,
  row_R: ArrayLike<number>,
  { rowCount: N, width: D }: ScoredRowsShape,
): Float64Array {
  requireSizes("scoredRowsForward", { x_ND: [x_ND, { N, D }] });
  requireIndices("scoredRowsForward", { name: "row_R", indices: row_R, limit: N });
  return Float64Array.from(
    { length: row_R.length * D },
    (_, i) => x_ND[row_R[Math.floor(i / D)] * D + i % D],
  );
}

/**
 * The gradient of the choice: dx[n] is the sum of dx[r] over the results that chose n.
 *
 * @param dx_RD Gradient of the chosen rows.
 * @param row_R What was chosen.
 * @returns dx_ND
 * @throws {RangeError} When an array does not fit the shape or a row is not in [0, N).
 */
export function scoredRowsBackward(
  dx_RD: ArrayLike<number>,
  row_R: ArrayLike<number>,
  { rowCount: N, width: D }: ScoredRowsShape,
): Float64Array {
  requireSizes("scoredRowsBackward", { dx_RD: [dx_RD, { R: row_R.length, D }] });
  requireIndices("scoredRowsBackward", { name: "row_R", indices: row_R, limit: N });
  const dx_ND = new Float64Array(N * D);
  for (let i = 0; i < dx_RD.length; i++) dx_ND[row_R[Math.floor(i / D)] * D + i % D] += dx_RD[i];
  return dx_ND;
}
