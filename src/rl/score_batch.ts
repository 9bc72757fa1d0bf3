/** Numbers of a training batch under the learner's weights or a frozen model's, on the batch's grid. */
import { at } from "../core/element.ts";
import type { Learner } from "../model/learner.ts";
import type { KeptRows, LoadedBatch } from "../model/learner_batch.ts";
import { forEachRow, selectEpisodes } from "../rollout/batch.ts";
import { splitEpisodes } from "../rollout/score.ts";
import type { TrainBatch } from "./train_batch.ts";

/**
 * Scores a batch, in pieces that the learner holds.
 * @param options.record Records the forward and keeps its rows.
 * @param options.choose Which of the kept records; the first of their four numbers counts.
 * @returns [B, C]; 0 where an episode has no token.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function scoreBatch(
  learner: Learner,
  batch: TrainBatch,
  options: {
    readonly record: (loaded: LoadedBatch) => void;
    readonly choose: (kept: KeptRows) => Float32Array;
  },
): Promise<Float32Array> {
  const { packed } = batch;
  const { vocabSize } = learner.parameters.config;
  const grid_BC = new Float32Array(packed.gridRowCount * packed.columnCount);
  for (const { begin, end } of splitEpisodes(packed.length_B, learner.workspace.capacity)) {
    const isWhole = end - begin === packed.episodeCount;
    const episodes = Array.from({ length: end - begin }, (_, i) => begin + i);
    const rows = isWhole ? packed : selectEpisodes(batch, { episodes, vocabSize });
    options.record(learner.load(rows));
    const { rows: [kept] } = await learner.collect();
    const rows_N4 = kept ? options.choose(kept) : new Float32Array();
    forEachRow(rows, (row, cell) => grid_BC[cell] = at(rows_N4, 4 * row));
  }
  return grid_BC;
}
