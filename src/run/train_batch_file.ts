/** Training batches as files in the format that `agentrl score` and `agentrl grad` read. */
import { OWNER } from "../core/owner.ts";
import type { Tensor } from "../model/safetensors.ts";
import type { TrainBatch } from "../rl/train_batch.ts";
import { writeTensorFile } from "../files/tensor_file.ts";

/**
 * Writes a batch: ids, owner, action_mask, advantages, rewards and sample_logp. An array that holds a number that is none is left
 * out, since readers refuse it.
 *
 * @param path The file; its folder must exist.
 * @param batch The batch, collated without pad columns.
 * @param options.mask_BC Which tokens were trained.
 * @throws {UserError} When it cannot be written.
 */
export function writeTrainBatch(
  path: string,
  batch: TrainBatch,
  options: { readonly mask_BC: Float32Array; readonly advantage_B: Float64Array },
): void {
  const { trajectories, packed: { columnCount: C, episodeCount: B } } = batch;
  const T = C + 1;
  const ids_BT = new Int32Array(B * T);
  const owner_BT = new Int32Array(B * T).fill(OWNER.pad);
  trajectories.forEach(({ ids, owners }, b) => {
    ids_BT.set(ids, b * T);
    owner_BT.set(owners, b * T);
  });
  const f32 = (shape: readonly number[], data: ArrayLike<number>): Tensor => (
    { dtype: "F32", shape, data: Float32Array.from(data) }
  );
  const tensors: readonly (readonly [string, Tensor])[] = [
    ["ids", { dtype: "I32", shape: [B, T], data: ids_BT }],
    ["owner", { dtype: "I32", shape: [B, T], data: owner_BT }],
    ["action_mask", f32([B, C], options.mask_BC)],
    ["advantages", f32([B], options.advantage_B)],
    ["rewards", f32([B], batch.rewards_B)],
    ["sample_logp", f32([B, C], batch.sampleLogp_BC)],
  ];
  const readable = tensors.filter(([, { data }]) => data.every((value) => Number.isFinite(value)));
  writeTensorFile(path, { tensors: new Map(readable), metadata: {} });
}
