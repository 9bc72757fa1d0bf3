/** Rotary positions (Su et al. 2021, arXiv:2104.09864): each pair of a head turns by an angle that grows with the position. */
import { requireSizes } from "../core/shape.ts";

/** The slowest pair turns about this many times slower than the fastest one; the value of the paper. */
export const ROTARY_BASE = 10000;

/** Sizes of the heads that are turned. */
export interface RotaryShape {
  /** N, packed rows. */
  readonly rowCount: number;
  /** H. */
  readonly headCount: number;
  /** K, even. */
  readonly headWidth: number;
}

/**
 * Angle of pair i at a position: position · 10000^(−i / (K/2)), in radians.
 *
 * @param position Index of the token in its episode, from 0.
 * @param options `pair` i in [0, K/2) and the head's width K.
 */
export function rotaryAngle(
  position: number,
  options: { readonly pair: number; readonly headWidth: number },
): number {
  return position * ROTARY_BASE ** (-options.pair / (options.headWidth / 2));
}

/**
 * Turns the pair (x[i], x[i + K/2]) of every head by the angle of its position.
 *
 * The pairs are the two halves of a head, not neighbouring columns. The dot product of two turned vectors depends on the
 * difference of their positions alone.
 *
 * @param x_NHK Rows of heads.
 * @param options `position_N`: index of each row's token in its episode.
 * @returns The turned rows, of the same shape.
 * @throws {RangeError} When an array does not fit the shape or K is odd.
 */
export function rotaryForward(
  x_NHK: ArrayLike<number>,
  options: RotaryShape & { readonly position_N: ArrayLike<number> },
): Float64Array {
  return turn(x_NHK, { ...options, operation: "rotaryForward", direction: 1 });
}

/**
 * Turns every pair back by the angle of its position; also the backward of {@link rotaryForward}, since the transpose of
 * a rotation is its inverse.
 *
 * @param y_NHK Turned rows, or the gradient of turned rows.
 * @returns The rows before the turn, or their gradient.
 * @throws {RangeError} When an array does not fit the shape or K is odd.
 */
export function rotaryInverse(
  y_NHK: ArrayLike<number>,
  options: RotaryShape & { readonly position_N: ArrayLike<number> },
): Float64Array {
  return turn(y_NHK, { ...options, operation: "rotaryInverse", direction: -1 });
}

function turn(
  x_NHK: ArrayLike<number>,
  options: RotaryShape & {
    readonly position_N: ArrayLike<number>;
    readonly operation: string;
    readonly direction: 1 | -1;
  },
): Float64Array {
  const { rowCount: N, headCount: H, headWidth: K, position_N, operation, direction } = options;
  requireSizes(operation, { x_NHK: [x_NHK, { N, H, K }], position_N: [position_N, { N }] });
  if (K % 2 !== 0) {
    throw new RangeError(`Cannot compute ${operation}: the head width is ${K} but must be even`);
  }
  const half = K / 2;
  const y_NHK = new Float64Array(N * H * K);
  for (let n = 0; n < N; n++) {
    for (let pair = 0; pair < half; pair++) {
      const angle = direction * rotaryAngle(position_N[n], { pair, headWidth: K });
      const cos = Math.cos(angle);
      const sin = Math.sin(angle);
      for (let h = 0; h < H; h++) {
        const first = (n * H + h) * K + pair;
        const second = first + half;
        y_NHK[first] = x_NHK[first] * cos - x_NHK[second] * sin;
        y_NHK[second] = x_NHK[second] * cos + x_NHK[first] * sin;
      }
    }
  }
  return y_NHK;
}
