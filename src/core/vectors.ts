/** Geometry of gradients: dot product, norm, cosine and errors in float64. */
import { requireSizes } from "./shape.ts";

/**
 * Dot product, added up in ascending order of the index.
 * @throws {RangeError} When the vectors differ in length.
 */
export function dot(a_W: ArrayLike<number>, b_W: ArrayLike<number>): number {
  requireSizes("dot", { b_W: [b_W, { W: a_W.length }] });
  let sum = 0;
  for (let w = 0; w < a_W.length; w++) sum += a_W[w] * b_W[w];
  return sum;
}

/** Euclidean norm. */
export function norm(a_W: ArrayLike<number>): number {
  return Math.sqrt(dot(a_W, a_W));
}

/** Cosine of the angle between two vectors; NaN where one of them is 0. */
export function cosine(a_W: ArrayLike<number>, b_W: ArrayLike<number>): number {
  return dot(a_W, b_W) / (norm(a_W) * norm(b_W));
}

/** ‖estimate − exact‖ / ‖exact‖. */
export function relativeError(estimate_W: ArrayLike<number>, exact_W: ArrayLike<number>): number {
  const difference_W = Float64Array.from(exact_W, (exact, w) => estimate_W[w] - exact);
  return norm(difference_W) / norm(exact_W);
}

/** The largest absolute difference of two entries; NaN where an entry is NaN. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let largest = 0;
  // A NaN must not get lost: it compares as neither larger nor smaller.
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}
