/** What the host uploads of a batch: packed tokens, which of them are scored, and what the loss reads. */
import type { Commands } from "../gpu/commands.ts";
import {
  createTensor,
  OFFSET_ALIGNMENT_BYTES,
  roundUp,
  slice,
  type Tensor,
} from "../gpu/tensor.ts";
import { chunkStarts, ROW_CHUNKS } from "../kernels/operands.ts";
import { placesOf } from "../kernels/scored_rows.ts";
import type { ModelConfig } from "./config.ts";

/** A batch on the host; `PackedBatch` of src/rollout/batch.ts is one. */
export interface LearnerBatch {
  /** N. */
  readonly rowCount: number;
  /** (id, position, first row of the episode, row after its last), [N, 4]. */
  readonly token_N4: Uint32Array<ArrayBuffer>;
  /** The token that follows each row, [N]. */
  readonly target_N: Uint32Array<ArrayBuffer>;
  /** Rows sorted by token id, [N]. */
  readonly order_N: Uint32Array<ArrayBuffer>;
  /** Where each id's rows start in order_N, [V + 1]. */
  readonly start_V: Uint32Array<ArrayBuffer>;
}

/** Inputs that the host uploads for each batch: ranges of one tensor, so that one copy brings them all. */
export interface BatchInputs {
  /** The tensor that the others are ranges of. */
  readonly all: Tensor;
  /** (id, position, first, end) of each packed token, u32. */
  readonly token_N4: Tensor;
  /** The rows whose log-prob is asked for, ascending, u32 [R]. */
  readonly row_R: Tensor;
  /** The place of each row among those, u32 [N] (see `placesOf`). */
  readonly place_N: Tensor;
  /** The token that follows each scored row, u32 [R]. */
  readonly target_R: Tensor;
  /** (advantage, weight, mean weight, old log-prob) of each scored row, f32 [R, 4]. */
  readonly objective_R4: Tensor;
  /** Rows by token id, and where each id starts: for the embedding's gradient. */
  readonly order_N: Tensor;
  /** Where each id starts in order_N, u32 [V + 1]. */
  readonly start_V: Tensor;
  /** Where each chunk of rows starts: u32 [9] of `chunkStarts`. */
  readonly chunkStart_9: Tensor;
  /** Where each chunk of scored rows starts. */
  readonly scoredChunkStart_9: Tensor;
}

/** Allocates the inputs of a batch of up to `capacity` tokens. */
export function createBatchInputs(
  commands: Commands,
  config: ModelConfig,
  options: { readonly capacity: number; readonly label: string },
): BatchInputs {
  const { capacity, label } = options;
  const sizes = {
    token_N4: capacity * 16,
    row_R: capacity * 4,
    place_N: capacity * 4,
    target_R: capacity * 4,
    objective_R4: capacity * 16,
    order_N: capacity * 4,
    start_V: (config.vocabSize + 1) * 4,
    chunkStart_9: (ROW_CHUNKS + 1) * 4,
    scoredChunkStart_9: (ROW_CHUNKS + 1) * 4,
  };
  const aligned = Object.values(sizes).map((size) => roundUp(size, OFFSET_ALIGNMENT_BYTES));
  const all = createTensor(commands.gpu.device, {
    label,
    sizeBytes: aligned.reduce((sum, size) => sum + size, 0),
  });
  let offset = 0;
  const next = (name: keyof typeof sizes): Tensor => {
    const sizeBytes = roundUp(sizes[name], OFFSET_ALIGNMENT_BYTES);
    offset += sizeBytes;
    return { ...slice(all, offset - sizeBytes, sizeBytes), label: `${label} ${name}` };
  };
  return {
    all,
    token_N4: next("token_N4"),
    row_R: next("row_R"),
    place_N: next("place_N"),
    target_R: next("target_R"),
    objective_R4: next("objective_R4"),
    order_N: next("order_N"),
    start_V: next("start_V"),
    chunkStart_9: next("chunkStart_9"),
    scoredChunkStart_9: next("scoredChunkStart_9"),
  };
}

/** Tokens of the longest episode of a batch. */
export function longestEpisode({ rowCount, token_N4 }: LearnerBatch): number {
  let longest = 0;
  for (let n = 0; n < rowCount; n++) longest = Math.max(longest, (token_N4[4 * n + 1] ?? 0) + 1);
  return longest;
}

/** All rows of a batch. */
export function allRows(rowCount: number): Uint32Array<ArrayBuffer> {
  return Uint32Array.from({ length: rowCount }, (_, row) => row);
}

/**
 * The rows that a loss reads: those with a weight. One row at least, because kernels do not run over none.
 * @param objective_N4 (advantage, weight, mean weight, old log-prob) per row.
 */
export function weightedRows(objective_N4: Float32Array): Uint32Array<ArrayBuffer> {
  const row_R = allRows(objective_N4.length / 4)
    .filter((row) => objective_N4[4 * row + 1] !== 0 || objective_N4[4 * row + 2] !== 0);
  return row_R.length > 0 ? row_R : allRows(1);
}

/** Every fourth-float record of `table_N4` that is asked for: [R, 4]. */
export function chooseRecords(
  table_N4: Float32Array,
  row_R: Uint32Array,
): Float32Array<ArrayBuffer> {
  const table_R4 = new Float32Array(4 * row_R.length);
  row_R.forEach((row, place) => table_R4.set(table_N4.subarray(4 * row, 4 * row + 4), 4 * place));
  return table_R4;
}

/** Records of scored rows at the places of their rows, 0 elsewhere: [N, 4]. */
export function spreadRecords(
  table_R4: Float32Array,
  options: { readonly row_R: Uint32Array; readonly rowCount: number },
): Float32Array<ArrayBuffer> {
  const { row_R, rowCount } = options;
  const table_N4 = new Float32Array(4 * rowCount);
  row_R.forEach((row, place) => table_N4.set(table_R4.subarray(4 * place, 4 * place + 4), 4 * row));
  return table_N4;
}

/**
 * Writes a batch to its place on the device.
 * @param options.row_R The scored rows, ascending, at least one.
 * @param options.objective_N4 What the loss reads per row; left out where there is no loss.
 */
export function writeBatch(
  commands: Commands,
  inputs: BatchInputs,
  options: {
    readonly batch: LearnerBatch;
    readonly row_R: Uint32Array<ArrayBuffer>;
    readonly objective_N4?: Float32Array | undefined;
  },
): void {
  const { batch, row_R, objective_N4 } = options;
  const { rowCount } = batch;
  commands.write(inputs.token_N4, batch.token_N4);
  commands.write(inputs.order_N, batch.order_N);
  commands.write(inputs.start_V, batch.start_V);
  commands.write(inputs.row_R, row_R);
  commands.write(inputs.place_N, placesOf(row_R, { rowCount }));
  commands.write(inputs.target_R, row_R.map((row) => batch.target_N[row] ?? 0));
  commands.write(inputs.chunkStart_9, chunkStarts(rowCount));
  commands.write(inputs.scoredChunkStart_9, chunkStarts(rowCount, row_R));
  if (objective_N4) commands.write(inputs.objective_R4, chooseRecords(objective_N4, row_R));
}
