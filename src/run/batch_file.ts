/** Batch files: episodes with the numbers that a loss needs, as padded safetensors arrays, checked before anything uses them. */
import { largest } from "../core/statistics.ts";
import { UserError } from "../core/errors.ts";
import { OWNER } from "../core/owner.ts";
import { requireTensor, type Tensor, type TensorFile } from "../model/safetensors.ts";
import type { LossGrids, OptionalGrid } from "../rl/named_losses.ts";
import { findMaskFault, type PackedBatch, packEpisodes } from "../rollout/batch.ts";
import { readTensorFile } from "../files/tensor_file.ts";

/**
 * A batch of B episodes on padded grids. Column t of a [B, T−1] array is about the token in column t + 1 of `ids_BT`.
 * What is optional is undefined where the file does not hold it.
 */
export interface BatchFile extends LossGrids {
  /** What error sentences call it. */
  readonly path: string;
  /** True where its SHA-256 was right, false where it carries none. */
  readonly isVerified: boolean;
  /** B. */
  readonly episodeCount: number;
  /** T. */
  readonly columnCount: number;
  /** Token ids in [0, V). */
  readonly ids_BT: Int32Array;
  /** 0 pad, 1 prompt, 2 policy, 3 tool; pads follow the episode only. */
  readonly owner_BT: Int32Array;
  /** Token ids of each episode, without pads; at least one each. */
  readonly ids_B: readonly Int32Array[];
  /** 1 where the loss trains, else 0, and 0 on pads. Where the file has no `action_mask`: the targets of the policy. */
  readonly actionMask_BC: Float32Array;
  readonly advantages_B: Float32Array | undefined;
  readonly oldLogp_BC: Float32Array | undefined;
  readonly refLogp_BC: Float32Array | undefined;
  readonly sampleLogp_BC: Float32Array | undefined;
  readonly rewards_B: Float32Array | undefined;
}

/** Shape of `ids`, the file, and its name: what every check needs. */
interface Frame {
  readonly file: TensorFile;
  readonly fileName: string;
  readonly B: number;
  readonly T: number;
}

/**
 * Reads a batch file: `ids` and `owner` (I32 [B, T]) are required; `action_mask`, `old_logp`, `ref_logp`, `sample_logp` (F32
 * [B, T−1]), `advantages` and `rewards` (F32 [B]) may be there, other tensors are ignored.
 *
 * @param path The file.
 * @param options.vocabSize V of the model that should read the ids.
 * @returns The batch; an episode's length is its count of owners above 0.
 * @throws {UserError} When the file cannot be read or holds no episode, a shape disagrees, an id is not in [0, V), an owner is
 *   unknown, an episode is empty or has a pad inside, the mask is neither 0 nor 1 or trains on a pad, or a number is not finite.
 */
export function readBatchFile(path: string, { vocabSize }: { vocabSize: number }): BatchFile {
  const file = readTensorFile(path);
  const { shape, data: ids_BT } = requireTensor(file, "ids", {
    dtype: "I32",
    shape: [null, null],
    fileName: path,
  });
  const [B = 0, T = 0] = shape;
  const frame: Frame = { file, fileName: path, B, T };
  if (B === 0 || T === 0) {
    throw new UserError(`Cannot use ${path}: the batch is empty (ids has shape [${B}, ${T}])`);
  }
  const { data: owner_BT } = requireTensor(file, "owner", {
    dtype: "I32",
    shape: [B, T],
    fileName: path,
  });
  checkOwners(owner_BT, frame);
  checkIds(ids_BT, vocabSize, frame);
  const length_B = Array.from({ length: B }, (_, b) => countPrefix(owner_BT, b, frame));
  return {
    path,
    isVerified: file.isVerified,
    episodeCount: B,
    columnCount: T,
    ids_BT,
    owner_BT,
    ids_B: length_B.map((length, b) => ids_BT.subarray(b * T, b * T + length)),
    actionMask_BC: actionMask(owner_BT, { ...frame, length_B }),
    advantages_B: optional("advantages", [B], frame),
    oldLogp_BC: optional("old_logp", [B, T - 1], frame),
    refLogp_BC: optional("ref_logp", [B, T - 1], frame),
    sampleLogp_BC: optional("sample_logp", [B, T - 1], frame),
    rewards_B: optional("rewards", [B], frame),
  };
}

/**
 * Packs the episodes of a batch file, so that its [B, T−1] arrays are the packed batch's grids.
 *
 * @param batch The batch file.
 * @param options.vocabSize V.
 * @returns The packed batch, with T − 1 columns.
 */
export function packBatchFile(
  { ids_B, columnCount }: BatchFile,
  { vocabSize }: { vocabSize: number },
): PackedBatch {
  const longest = largest(ids_B.map((ids) => ids.length));
  return packEpisodes(ids_B, { vocabSize, padColumns: columnCount - longest });
}

/** What a file calls the arrays that losses read. */
const GRID_TENSORS = {
  advantages_B: "advantages",
  oldLogp_BC: "old_logp",
  refLogp_BC: "ref_logp",
} as const satisfies Record<OptionalGrid, string>;

/**
 * Checks that a batch file holds what a loss reads: its arrays, and a token to train on.
 *
 * @param batch The batch file.
 * @param options.grids What the loss reads.
 * @param options.lossName What the user calls it.
 * @throws {UserError} When one is missing, or no token is trained.
 */
export function requireGrids(
  batch: BatchFile,
  { grids, lossName }: { grids: readonly OptionalGrid[]; lossName: string },
): void {
  if (!Array.from(batch.actionMask_BC).some((weight) => weight > 0)) {
    throw new UserError(
      `Cannot use ${batch.path}: the loss ${lossName} has no token to train on (the mask is 0 everywhere)`,
    );
  }
  const missing = grids.find((grid) => batch[grid] === undefined);
  if (missing === undefined) return;
  throw new UserError(
    `Cannot use ${batch.path}: the loss ${lossName} needs the tensor "${
      GRID_TENSORS[missing]
    }", which it does not hold`,
  );
}

/** `episode 3, position 7` of an entry of a grid. */
function place(index: number, columnCount: number): string {
  return `episode ${Math.floor(index / columnCount)}, position ${index % columnCount}`;
}

function checkOwners(owner_BT: Int32Array, { fileName, T }: Frame): void {
  const bad = owner_BT.findIndex((owner) => owner < OWNER.pad || owner > OWNER.tool);
  if (bad < 0) return;
  throw new UserError(
    `Cannot use ${fileName}: the owner at ${place(bad, T)} is ${owner_BT[bad]}, ` +
      "allowed values are 0 pad, 1 prompt, 2 policy and 3 tool",
  );
}

function checkIds(ids_BT: Int32Array, vocabSize: number, { fileName, T }: Frame): void {
  const bad = ids_BT.findIndex((id) => id < 0 || id >= vocabSize);
  if (bad < 0) return;
  throw new UserError(
    `Cannot use ${fileName}: the token id at ${place(bad, T)} is ${ids_BT[bad]}, ` +
      `but the model's vocabulary has ids from 0 to ${vocabSize - 1}`,
  );
}

/** Length of episode b. A pad inside would leave open which tokens the model sees. */
function countPrefix(owner_BT: Int32Array, b: number, { fileName, T }: Frame): number {
  const owner_T = owner_BT.subarray(b * T, (b + 1) * T);
  const firstPad = owner_T.indexOf(OWNER.pad);
  const length = firstPad < 0 ? T : firstPad;
  if (length === 0) {
    throw new UserError(`Cannot use ${fileName}: episode ${b} is empty (its first owner is 0)`);
  }
  const after = owner_T.findIndex((owner, t) => t > length && owner !== OWNER.pad);
  if (after < 0) return length;
  throw new UserError(
    `Cannot use ${fileName}: episode ${b} has a hole (owner 0 at position ${length}, ` +
      `${owner_T[after]} at position ${after}); padding may only follow an episode`,
  );
}

function actionMask(
  owner_BT: Int32Array,
  { length_B, ...frame }: Frame & { readonly length_B: readonly number[] },
): Float32Array {
  const { fileName, B, T } = frame;
  const C = T - 1;
  const mask_BC = optional("action_mask", [B, C], frame) ??
    Float32Array.from(
      { length: B * C },
      (_, i) => Number(owner_BT[Math.floor(i / C) * T + i % C + 1] === OWNER.policy),
    );
  const fault = findMaskFault(mask_BC, { length_B, columnCount: C });
  if (fault === undefined) return mask_BC;
  const { cell, kind } = fault;
  const found = `action_mask at ${place(cell, C)} is ${mask_BC[cell]}`;
  throw new UserError(
    kind === "value"
      ? `Cannot use ${fileName}: ${found}, but must be 0 or 1`
      : `Cannot use ${fileName}: ${found}, but must be 0 there, since the owner of the token ` +
        `that it refers to (position ${cell % C + 1}) is 0, a pad`,
  );
}

/** A tensor of f32 that may be missing, and whose numbers must be finite. */
function optional(
  name: string,
  shape: readonly number[],
  { file, fileName }: Frame,
): Float32Array | undefined {
  if (!file.tensors.has(name)) return undefined;
  const { data }: Tensor = requireTensor(file, name, { dtype: "F32", shape, fileName });
  const bad = data.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) {
    const [, columnCount] = shape;
    const where = columnCount === undefined ? `episode ${bad}` : place(bad, columnCount);
    throw new UserError(`Cannot use ${fileName}: ${name} at ${where} is ${data[bad]}`);
  }
  return data;
}
