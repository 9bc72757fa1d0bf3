/** Embedding: x[n] = weight[ids[n]], a row of the table for every token. */
import { requireIndices, requireSizes } from "../core/shape.ts";

/** Sizes of an embedding. */
export interface EmbeddingShape {
  /** N, tokens that are looked up. */
  readonly rowCount: number;
  /** D, columns of the table. */
  readonly width: number;
  /** V, rows of the table. */
  readonly vocabularySize: number;
}

/**
 * Looks up one row of the table for every token: x[n, d] = weight[ids[n], d].
 *
 * @param ids_N Token ids in [0, V).
 * @param weight_VD The embedding table.
 * @returns x_ND
 * @throws {RangeError} When an array does not fit the shape or an id is not in [0, V).
 */
export function embeddingForward(
  ids_N: ArrayLike<number>,
  weight_VD: ArrayLike<number>,
  shape: EmbeddingShape,
): Float64Array {
  const { rowCount: N, width: D, vocabularySize: V } = shape;
  requireSizes("embeddingForward", {
    ids_N: [ids_N, { N }],
    weight_VD: [weight_VD, { V, D }],
  });
  requireIndices("embeddingForward", { name: "ids_N", indices: ids_N, limit: V });
  const x_ND = new Float64Array(N * D);
  for (let n = 0; n < N; n++) {
    for (let d = 0; d < D; d++) x_ND[n * D + d] = weight_VD[ids_N[n] * D + d];
  }
  return x_ND;
}

/**
 * Gradient of the table: every token adds its dx to its row; rows are added in ascending n.
 *
 * @param dx_ND Gradient of x_ND.
 * @param ids_N The ids of the forward.
 * @returns dweight_VD, 0 in the rows of tokens that do not occur.
 * @throws {RangeError} When an array does not fit the shape or an id is not in [0, V).
 */
export function embeddingBackward(
  dx_ND: ArrayLike<number>,
  ids_N: ArrayLike<number>,
  shape: EmbeddingShape,
): Float64Array {
  const { rowCount: N, width: D, vocabularySize: V } = shape;
  requireSizes("embeddingBackward", { dx_ND: [dx_ND, { N, D }], ids_N: [ids_N, { N }] });
  requireIndices("embeddingBackward", { name: "ids_N", indices: ids_N, limit: V });
  const dweight_VD = new Float64Array(V * D);
  for (let n = 0; n < N; n++) {
    // Forward: x[n, d] = weight[ids[n], d]
    for (let d = 0; d < D; d++) dweight_VD[ids_N[n] * D + d] += dx_ND[n * D + d];
  }
  return dweight_VD;
}
