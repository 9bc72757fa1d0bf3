/** Scores of a batch file as safetensors arrays on the batch's own grid. */
import { UserError } from "../core/errors.ts";
import type { Tensor } from "../model/safetensors.ts";
import type { SequenceScores } from "../model/score_sequences.ts";
import type { EpisodeScores } from "../rollout/score.ts";
import type { BatchFile } from "./batch_file.ts";

/** A kind of number that is scored, where it lies among the packed rows, and where it goes on the grid. */
interface ScoredArray {
  readonly name: string;
  readonly rows: Float32Array;
  /** Numbers of a row. */
  readonly width: number;
  /** Rows at the end of each episode that do not count: 1 where a number is about the next token. */
  readonly skipped: 0 | 1;
}

/**
 * Puts scores on the grid of their batch.
 *
 * @param batch The batch file.
 * @param scores Its episodes' scores.
 * @returns `logp` and `entropy` [B, T−1], 0 where the target's owner is 0, and `logits` [B, T, V] where there are any, 0
 *   where the token's owner is 0.
 * @throws {UserError} With exit code 1 when a number is not finite.
 */
export function scoreTensors(batch: BatchFile, scores: EpisodeScores): Map<string, Tensor> {
  const { logp_N, entropy_N, logits_NV } = scores;
  const arrays: ScoredArray[] = [
    { name: "logp", rows: logp_N, width: 1, skipped: 1 },
    { name: "entropy", rows: entropy_N, width: 1, skipped: 1 },
  ];
  if (logits_NV) {
    const width = logits_NV.length / logp_N.length;
    arrays.push({ name: "logits", rows: logits_NV, width, skipped: 0 });
  }
  return new Map(arrays.map((array) => {
    const { name, width, skipped } = array;
    const { episodeCount, columnCount } = batch;
    const shape = [episodeCount, columnCount - skipped, ...(name === "logits" ? [width] : [])];
    return [name, { dtype: "F32", shape, data: toGrid(batch, array) }];
  }));
}

/** Scores of sequences as rows of packed episodes: behind each one's last token stands a 0 that counts for nothing. */
export function packScores(scores_B: readonly SequenceScores[]): EpisodeScores {
  const rowCount = scores_B.reduce((sum, { logp }) => sum + logp.length + 1, 0);
  const logp_N = new Float32Array(rowCount), entropy_N = new Float32Array(rowCount);
  let first = 0;
  for (const { logp, entropy } of scores_B) {
    logp_N.set(logp, first);
    entropy_N.set(entropy, first);
    first += logp.length + 1;
  }
  return { logp_N, entropy_N, logits_NV: undefined };
}

function toGrid(batch: BatchFile, { name, rows, width, skipped }: ScoredArray): Float32Array {
  const columnCount = batch.columnCount - skipped;
  const grid = new Float32Array(batch.episodeCount * columnCount * width);
  let first = 0;
  batch.ids_B.forEach(({ length }, b) => {
    const values = rows.subarray(first * width, (first + length - skipped) * width);
    const bad = values.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) {
      throw new UserError(
        `Cannot score ${batch.path}: the ${name} of episode ${b}, position ` +
          `${Math.floor(bad / width)} is ${values[bad]}, since these weights overflow f32; ` +
          "nothing was written",
        1,
      );
    }
    grid.set(values, b * columnCount * width);
    first += length;
  });
  return grid;
}
