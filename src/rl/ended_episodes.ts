/** What of a sample can be trained on or counted: the episodes that ended; those that were lost are kept beside. */
import { at } from "../core/element.ts";
import { UserError } from "../core/errors.ts";
import type { EpisodeInfo } from "../gym/environment.ts";
import type { Trajectory } from "../rollout/trajectory.ts";
import { collate, type LostEpisode, type TrainBatch } from "./train_batch.ts";

/**
 * The episodes that ended.
 *
 * @param trajectories What was played.
 * @throws {UserError} When every episode was lost.
 */
export function endedEpisodes<Info extends EpisodeInfo>(
  trajectories: readonly Trajectory<Info>[],
): Trajectory<Info>[] {
  const ended = trajectories.filter(({ error }) => error === undefined);
  if (ended.length > 0 || trajectories.length === 0) return ended;
  throw new UserError(
    `Cannot go on: all ${trajectories.length} episodes were lost, the first one because ${
      at(trajectories, 0).error
    }`,
  );
}

/** An episode that ended while all others of its group were lost: it has nothing to be compared with. */
const ALONE = "no other episode of its group ended";

/** Places of the episodes that cannot be trained on, with the reason. */
function lostPlaces(
  trajectories: readonly Trajectory[],
  groupId_B: readonly number[],
): Map<number, string> {
  const lost = new Map<number, string>();
  trajectories.forEach(({ error }, b) => error !== undefined && lost.set(b, error));
  if (lost.size === 0) return lost;
  const sizeOf = (group: number, isCounted: (b: number) => boolean) =>
    groupId_B.filter((other, b) => other === group && isCounted(b)).length;
  groupId_B.forEach((group, b) => {
    const isAlone = sizeOf(group, () => true) > 1 && sizeOf(group, (b) => !lost.has(b)) === 1;
    if (isAlone && !lost.has(b)) lost.set(b, ALONE);
  });
  return lost;
}

/**
 * Collates the episodes of a sample that ended; see {@linkcode collate}.
 *
 * @param trajectories What was drawn, in order.
 * @param options As `collate` takes them, for all of them.
 * @returns The batch, with what was lost beside it. Of a group at least two episodes ended.
 * @throws {UserError} When every episode was lost.
 */
export function collateEnded(
  trajectories: readonly Trajectory[],
  options: Parameters<typeof collate>[1],
): TrainBatch {
  const { groupId_B } = options;
  const lost = lostPlaces(trajectories, groupId_B);
  if (lost.size === 0) return collate(trajectories, options);
  const ended = [...trajectories.keys()].filter((b) => !lost.has(b));
  if (ended.length === 0) endedEpisodes(trajectories.map((one) => ({ error: ALONE, ...one })));
  return {
    ...collate(ended.map((b) => at(trajectories, b)), {
      ...options,
      groupId_B: ended.map((b) => at(groupId_B, b)),
    }),
    lost: Array.from(lost, ([place, error]): LostEpisode => ({
      place,
      group: at(groupId_B, place),
      trajectory: { ...at(trajectories, place), error },
    })).sort((a, b) => a.place - b.place),
  };
}
