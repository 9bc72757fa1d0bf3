/** Advantages as lines of rewards, a = slope (r − baseline): what a group's tell of how they were computed. */
import type { GroupSample } from "./samples.ts";

/** How advantages follow from rewards. */
export interface Line {
  readonly slope: number;
  readonly baseline: number;
}

/** Storage in bf16, or four decimals in a text. */
const RELATIVE = 0.01;
const ABSOLUTE = 2e-4;

/** True where two numbers of a size are equal, up to how dumps store them. */
export function isNear(
  one: number,
  other: number,
  size = Math.max(Math.abs(one), Math.abs(other)),
): boolean {
  return Math.abs(one - other) <= RELATIVE * size + ABSOLUTE;
}

/** Sum of values that does not depend on their order. */
function sumOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b).reduce((sum, value) => sum + value, 0);
}

/** Arithmetic mean; the same for every order. */
export function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}

/** Standard deviation with n − `ddof` in the denominator. */
export function deviationOf(values: readonly number[], ddof: number): number {
  const center = meanOf(values);
  const squares = sumOf(values.map((value) => (value - center) ** 2));
  return Math.sqrt(squares / (values.length - ddof));
}

/** The largest |advantage|. */
export function sizeOf(samples: readonly GroupSample[]): number {
  return samples.reduce((most, { advantage }) => Math.max(most, Math.abs(advantage)), 0);
}

/** True where advantages of samples sum to 0, up to how dumps store them. */
export function isCentred(samples: readonly GroupSample[]): boolean {
  return isNear(meanOf(samples.map(({ advantage }) => advantage)), 0, sizeOf(samples));
}

/** True where rewards are all equal, or unknown. */
export function isFlat(samples: readonly GroupSample[]): boolean {
  return samples.every(({ reward }) => !(Math.abs(reward - samples[0].reward) > 1e-9));
}

/** True where every sample lies on a line. */
export function liesOn(
  samples: readonly GroupSample[],
  { slope, baseline }: Line,
  size = sizeOf(samples),
): boolean {
  return samples.every(({ reward, advantage }) =>
    isNear(advantage, slope * (reward - baseline), size)
  );
}

/** The rising line on which samples lie; undefined where there is none, or where rewards are all equal. */
export function lineOf(samples: readonly GroupSample[]): Line | undefined {
  const rewards = samples.map(({ reward }) => reward);
  const advantages = samples.map(({ advantage }) => advantage);
  const [r, a] = [meanOf(rewards), meanOf(advantages)];
  const variance = sumOf(rewards.map((reward) => (reward - r) ** 2));
  const slope = sumOf(samples.map(({ reward, advantage }) => (reward - r) * (advantage - a))) /
    variance;
  if (!(slope > 0) || !Number.isFinite(slope)) return undefined;
  const line = { slope, baseline: r - a / slope };
  return liesOn(samples, line) ? line : undefined;
}
