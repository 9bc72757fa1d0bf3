/** Rows of episodes.jsonl: the sampled episodes of a step, complete enough to train on or to read. */
import type { TrainBatch } from "../rl/train_batch.ts";
import type { JournalRow } from "../files/journal.ts";

/**
 * One row an episode; keys are a file format.
 *
 * @param step The training step.
 * @param batch Its episodes.
 * @returns `step`, `episode`, `group`, `tokens`, `owners`, `logps` (nats, 0 where nothing was sampled), `reward`, `info`.
 */
export function episodeRows(step: number, batch: TrainBatch): JournalRow[] {
  return batch.trajectories.map(({ ids, owners, logps, reward, info }, episode) => {
    const { hiddenPass, publicPass, ...rest } = info;
    return {
      step,
      episode,
      group: batch.groupId_B[episode],
      tokens: [...ids],
      owners: [...owners],
      logps: [...logps],
      reward,
      info: { ...rest, hidden_pass: hiddenPass, public_pass: publicPass },
    };
  });
}
