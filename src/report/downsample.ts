/** Thins a curve out without losing what a reader looks for: its ends and its extremes. */

/** (x, y); y is NaN where the value was not finite. */
export type Point = readonly [number, number];

/** Indices of the smallest and the largest y of `points` from `begin` to `end`, in their order; NaN counts as largest. */
function extremes(points: readonly Point[], begin: number, end: number): number[] {
  let [low, high] = [begin, begin];
  for (let i = begin; i < end; i++) {
    const y = points[i][1];
    if (y < points[low][1] || Number.isNaN(points[low][1])) low = i;
    if (y > points[high][1] || Number.isNaN(y)) high = i;
  }
  return low === high ? [low] : [Math.min(low, high), Math.max(low, high)];
}

/**
 * Keeps the first and the last point, and of each stretch between them the lowest and the highest.
 *
 * @param points In the order of x.
 * @param maxCount At most so many points are returned; at least 4.
 * @returns The points themselves where they are few enough; else a part of them, in their order. The smallest and the
 *   largest y are always among them, and a value that is not finite too.
 * @throws {RangeError} When `maxCount` is below 4.
 */
export function downsample(points: readonly Point[], maxCount: number): readonly Point[] {
  if (!(maxCount >= 4)) {
    throw new RangeError(`Cannot thin a curve out to ${maxCount} points: at least 4 are needed`);
  }
  if (points.length <= maxCount) return points;
  const stretches = Math.floor((maxCount - 2) / 2);
  const inner = points.length - 2;
  const kept: Point[] = [points[0]];
  for (let s = 0; s < stretches; s++) {
    const begin = 1 + Math.floor(s * inner / stretches);
    const end = 1 + Math.floor((s + 1) * inner / stretches);
    if (begin < end) kept.push(...extremes(points, begin, end).map((i) => points[i]));
  }
  kept.push(points[points.length - 1]);
  return kept;
}
