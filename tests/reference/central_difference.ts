/** Central differences in float64: what every backward of the reference is held to. */
import { assert } from "@std/assert";

/** Step that balances truncation (h²) and rounding (2^-52 / h): both are then about 2^-52 to the power 2/3. */
const STEP = Math.cbrt(2 ** -52);

/** Both errors are 3.7e-11 (h²) times a loss or a third derivative, which in these tests are of order 1 to 1000. */
const BOUND = 1000 * STEP ** 2;

/** Numbers in [−scale, scale) + offset, the same for the same seed (xorshift32). */
export function randomArray(
  size: number,
  options: { readonly seed: number; readonly scale?: number; readonly offset?: number },
): Float64Array {
  let state = (options.seed * 2654435761) >>> 0 || 1;
  return Float64Array.from({ length: size }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) / 2 ** 31 - 1) * (options.scale ?? 1) + (options.offset ?? 0);
  });
}

/** Σ a·b: a scalar whose gradient for `a` is `b`, which turns any output into a loss. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * Asserts that `gradient` is the gradient of `loss` at `x`, entry by entry, to 1000 h² of its largest entry, and that it is
 * not trivially 0.
 */
export function assertGradient(
  name: string,
  check: {
    readonly x: Float64Array;
    readonly gradient: ArrayLike<number>;
    readonly loss: (x: Float64Array) => number;
  },
): void {
  const { x, gradient, loss } = check;
  assert(
    gradient.length === x.length,
    `${name}: ${gradient.length} gradients for ${x.length} inputs`,
  );
  let largest = 0;
  for (let i = 0; i < x.length; i++) largest = Math.max(largest, Math.abs(gradient[i]));
  assert(largest > 1e-3, `${name}: the largest gradient is ${largest}, the test proves nothing`);
  for (let i = 0; i < x.length; i++) {
    const moved = x.slice();
    moved[i] = x[i] + STEP;
    const above = loss(moved);
    moved[i] = x[i] - STEP;
    const numeric = (above - loss(moved)) / (2 * STEP);
    const error = Math.abs(numeric - gradient[i]);
    assert(
      error <= BOUND * Math.max(1, largest),
      `${name}[${i}]: gradient ${gradient[i]}, central difference ${numeric}`,
    );
  }
}
