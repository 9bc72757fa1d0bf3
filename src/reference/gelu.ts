/** GELU in its tanh approximation (Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2), value and derivative. */

/** sqrt(2/π), the slope of the approximation's argument at 0. */
const SQRT_2_OVER_PI = Math.sqrt(2 / Math.PI);

/** Coefficient of the cubic term, from the paper. */
const CUBIC = 0.044715;

/**
 * gelu(x) = ½ x (1 + tanh(u)), u = sqrt(2/π) (x + 0.044715 x³).
 *
 * @param x Any number.
 * @returns A value of at least −0.171, close to 0 for very negative x and to x for large x.
 */
export function gelu(x: number): number {
  const u = SQRT_2_OVER_PI * (x + CUBIC * x ** 3);
  return 0.5 * x * (1 + Math.tanh(u));
}

/**
 * Derivative of {@link gelu} at x.
 *
 * @param x Any number.
 */
export function geluDerivative(x: number): number {
  const u = SQRT_2_OVER_PI * (x + CUBIC * x ** 3);
  const du = SQRT_2_OVER_PI * (1 + 3 * CUBIC * x ** 2);
  const tanh = Math.tanh(u);
  // Forward: ½ x (1 + tanh(u))
  return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh ** 2) * du;
}
