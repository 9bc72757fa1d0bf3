/** The two distributions that intervals are read from: the normal one and Student's t. */

/**
 * Cumulative distribution of the standard normal: (1 + erf(z / √2)) / 2, with erf by formula 7.1.26 of Abramowitz and Stegun.
 *
 * @returns Within 1.5e-7.
 */
export function normalShare(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]
    .reduce((sum, coefficient) => (sum + coefficient) * t, 0);
  const tail = series * Math.exp(-x * x) / 2;
  return z < 0 ? tail : 1 - tail;
}

/** The point where an increasing function passes a value, by halving: 60 times reach the last bit that matters here. */
export function solveIncreasing(
  share: (x: number) => number,
  wanted: number,
  { low, high }: { readonly low: number; readonly high: number },
): number {
  let [below, above] = [low, high];
  for (let i = 0; i < 60; i++) {
    const middle = (below + above) / 2;
    if (share(middle) < wanted) below = middle;
    else above = middle;
  }
  return (below + above) / 2;
}

/** Farther out no interval of ours asks: a share of 1e-15 on either side. */
const FARTHEST_Z = 8;

/** Quantile of the standard normal. @param share 0 to 1, without the ends. */
export function normalQuantile(share: number): number {
  return solveIncreasing(normalShare, share, { low: -FARTHEST_Z, high: FARTHEST_Z });
}

/** P(|T| < t) of Student's t; formulas 26.7.3 and 26.7.4 of Abramowitz and Stegun, which are finite sums. */
function studentWithin(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const isOdd = degrees % 2 === 1;
  let sum = 0;
  let term = isOdd ? cos : 1;
  for (let power = isOdd ? 1 : 0; power <= degrees - 2; power += 2) {
    sum += term;
    term *= cos * cos * (power + 1) / (power + 2);
  }
  return isOdd ? 2 / Math.PI * (angle + sin * sum) : sin * sum;
}

/**
 * The two-sided quantile of Student's t: P(|T| < t) = level.
 *
 * @param level 0 to 1, without the ends.
 * @param degrees Degrees of freedom, at least 1; a fraction is cut off, which makes intervals wider.
 */
export function studentQuantile(level: number, degrees: number): number {
  const whole = Math.max(1, Math.floor(degrees));
  // From here on the normal is as good to four digits.
  if (whole > 2000) return normalQuantile((1 + level) / 2);
  return solveIncreasing((t) => studentWithin(t, whole), level, { low: 0, high: 1e5 });
}
