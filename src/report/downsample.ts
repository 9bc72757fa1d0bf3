/** Thins a curve out without losing what a reader looks for: its ends and its extremes. */

/** (x, y); y is NaN where the value was not finite. */
export type Point = readonly [number, number];

/** Heights of a curve in the order of x; a plain array or numbers of a long log, which are never copied. */
interface Heights {
  readonly count: number;
  readonly y: (index: number) => number;
}

/** Indices of the smallest and the largest y from `begin` to `end`, in their order; NaN counts as largest. */
function extremes({ y }: Heights, begin: number, end: number): number[] {
  let [low, high] = [begin, begin];
  for (let i = begin; i < end; i++) {
    if (y(i) < y(low) || Number.isNaN(y(low))) low = i;
    if (y(i) > y(high) || Number.isNaN(y(i))) high = i;
  }
  return low === high ? [low] : [Math.min(low, high), Math.max(low, high)];
}

/**
 * Chooses the points that a curve keeps: the first and the last one, and of each stretch between them the lowest and the
 * highest.
 *
 * @param curve Its heights in the order of x.
 * @param maxCount At most so many are kept; at least 4.
 * @returns Ascending indices: all where they are few enough. The smallest and the largest y are always among them, and a
 *   value that is not finite too.
 * @throws {RangeError} When `maxCount` is below 4.
 */
export function keptIndices(curve: Heights, maxCount: number): number[] {
  const { count } = curve;
  if (!(maxCount >= 4)) {
    throw new RangeError(`Cannot thin a curve out to ${maxCount} points: at least 4 are needed`);
  }
  if (count <= maxCount) return Array.from({ length: count }, (_, i) => i);
  const stretches = Math.floor((maxCount - 2) / 2);
  const inner = count - 2;
  const kept = [0];
  for (let s = 0; s < stretches; s++) {
    const begin = 1 + Math.floor(s * inner / stretches);
    const end = 1 + Math.floor((s + 1) * inner / stretches);
    if (begin < end) kept.push(...extremes(curve, begin, end));
  }
  kept.push(count - 1);
  return kept;
}

/**
 * Thins a curve out as {@linkcode keptIndices} says.
 *
 * @param points In the order of x.
 * @param maxCount At most so many points are returned; at least 4.
 * @returns The points themselves where they are few enough; else a part of them, in their order.
 * @throws {RangeError} When `maxCount` is below 4.
 */
export function downsample(points: readonly Point[], maxCount: number): readonly Point[] {
  const kept = keptIndices({ count: points.length, y: (i) => points[i][1] }, maxCount);
  return kept.length === points.length ? points : kept.map((i) => points[i]);
}
