/** Rows of episodes.jsonl: the sampled episodes of a step, complete enough to train on or to read. */
import type { BugFixInfo } from "../gym/episode_info.ts";
import type { JournalRow } from "../files/journal.ts";
import type { LostEpisode, TrainBatch } from "../rl/train_batch.ts";
import type { Trajectory } from "../rollout/trajectory.ts";

/** An episode that was drawn, whether it ended or was lost. */
type DrawnEpisode = LostEpisode;

/** The info of an episode by the keys of the file. Episodes of environments of a user's have the number of their task. */
function infoOf({ info, task }: Trajectory): object {
  if (task !== undefined) return info;
  const { hiddenPass, publicPass, ...rest } = info as BugFixInfo;
  return { ...rest, hidden_pass: hiddenPass, public_pass: publicPass };
}

/** What was drawn, in order. */
function drawnEpisodes({ trajectories, groupId_B, lost = [] }: TrainBatch): DrawnEpisode[] {
  const isLost = new Set(lost.map(({ place }) => place));
  let place = 0;
  const ended = trajectories.map((trajectory, b): DrawnEpisode => {
    while (isLost.has(place)) place++;
    return { place: place++, group: groupId_B[b], trajectory };
  });
  return [...ended, ...lost].sort((a, b) => a.place - b.place);
}

/**
 * One row an episode that was drawn; keys are a file format.
 *
 * @param step The training step.
 * @param batch Its episodes.
 * @returns `step`, `episode`, `group`, `tokens`, `owners`, `logps` (nats, 0 where nothing was sampled), `reward`, `info`; on an
 * environment of a user's `task` as well, and `error` where the episode was lost: then it has no reward.
 */
export function episodeRows(step: number, batch: TrainBatch): JournalRow[] {
  return drawnEpisodes(batch).map(({ place, group, trajectory }) => {
    const { ids, owners, logps, reward, task, error } = trajectory;
    return {
      step,
      episode: place,
      group,
      ...(task !== undefined && { task }),
      tokens: [...ids],
      owners: [...owners],
      logps: [...logps],
      reward: error === undefined ? reward : null,
      info: infoOf(trajectory),
      ...(error !== undefined && { error }),
    };
  });
}
