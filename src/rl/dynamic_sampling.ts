/** Dynamic sampling: groups whose rewards are all equal have no gradient, so they are sampled again before the update. */
import { at } from "../core/element.ts";
import type { Trajectory } from "../rollout/trajectory.ts";

/** Samples the episodes at some places of the batch again, with the random numbers of a round. */
export type Resample = (
  places: readonly number[],
  round: number,
) => Promise<readonly Trajectory[]>;

/** Places of the episodes whose group has equal rewards, in order. */
export function flatPlaces(
  rewards_B: readonly number[],
  groupId_B: readonly number[],
): number[] {
  const extremes = new Map<number, [min: number, max: number]>();
  rewards_B.forEach((reward, b) => {
    const group = at(groupId_B, b);
    const [min, max] = extremes.get(group) ?? [Infinity, -Infinity];
    extremes.set(group, [Math.min(min, reward), Math.max(max, reward)]);
  });
  return groupId_B.flatMap((group, b) => {
    const [min, max] = extremes.get(group) ?? [0, 0];
    return min === max ? [b] : [];
  });
}

/**
 * Samples flat groups again, whole groups at a time, until none is left or the rounds are spent; what is then still flat
 * stays (Yu et al. 2025, arXiv:2503.14476, section 3.2, which draws other problems instead).
 *
 * @param trajectories A first sample of the whole batch.
 * @param options.groupId_B Group of each episode.
 * @param options.rounds How often at most; 0 leaves everything as it is.
 * @returns The batch, in the same order.
 */
export async function resampleFlatGroups(
  trajectories: readonly Trajectory[],
  options: {
    readonly groupId_B: readonly number[];
    readonly rounds: number;
    readonly resample: Resample;
  },
): Promise<Trajectory[]> {
  const { groupId_B, rounds, resample } = options;
  const batch = [...trajectories];
  for (let round = 1; round <= rounds; round++) {
    const places = flatPlaces(batch.map(({ reward }) => reward), groupId_B);
    if (places.length === 0) break;
    const fresh = await resample(places, round);
    places.forEach((b, i) => batch[b] = at(fresh, i));
  }
  return batch;
}
