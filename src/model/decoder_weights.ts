/** The weights of a decoder on the device, in parts below the limit of a binding: a layer, a matrix, or slices of one. */
import { at } from "../core/element.ts";
import { UserError } from "../core/errors.ts";
import type { Commands } from "../gpu/commands.ts";
import { checkDevice, type Gpu } from "../gpu/device.ts";
import {
  createTensor,
  createWordOperand,
  destroy,
  FLAT_TEXTURE_WIDTH,
  maxWordTexels,
  type Operand,
  roundUp,
  type Tensor,
  TEXEL_BYTES,
  writeTexels,
} from "../gpu/tensor.ts";
import { SEGMENT_ENTRIES } from "../kernels/logprob.ts";
import {
  rowTexels,
  type StoredMatrix,
  type WeightSlice,
  type WeightStorage,
} from "../kernels/stored_weights.ts";
import { type DecoderLayout, decoderLayout, type MatrixLayout } from "./architectures.ts";
import type { DecoderConfig } from "./decoder_config.ts";

/** Rows of a slice are a multiple of this, so that vec4 and blocks of columns stay whole. */
const SLICE_ROWS = 16;

/** A run of rows of a matrix in a part. */
export interface PlannedSlice extends Omit<WeightSlice, "words"> {
  /** The part's place. */
  readonly part: number;
}

/** Where matrices go, before anything is allocated. */
export interface PartPlan {
  /** Texels of each part. */
  readonly partTexels: readonly number[];
  /** Slices of each matrix. */
  readonly slices: readonly (readonly PlannedSlice[])[];
}

function cutMatrix(
  { rowCount, isVocabulary, sources }: MatrixLayout,
  { texels, maxTexels }: { readonly texels: number; readonly maxTexels: number },
): readonly number[] {
  const step = isVocabulary ? SEGMENT_ENTRIES : SLICE_ROWS;
  const most = rowCount * texels <= maxTexels
    ? rowCount
    : Math.floor(maxTexels / texels / step) * step;
  if (most === 0) {
    throw new UserError(
      `Cannot place ${at(sources, 0).name}: ${step} of its rows take ${
        step * texels * TEXEL_BYTES
      } bytes, but one binding holds at most ${maxTexels * TEXEL_BYTES}`,
    );
  }
  const counts: number[] = [];
  for (let left = rowCount; left > 0; left -= most) counts.push(Math.min(left, most));
  return counts;
}

/**
 * Plans parts: a group of matrices is one where it fits, larger ones are cut by matrix, larger matrices between rows.
 * @param options.storages How each matrix is stored.
 * @param options.maxTexels Texels of a part at most.
 * @throws {UserError} When not even the fewest rows of a slice fit.
 */
export function planParts(
  { matrices }: Pick<DecoderLayout, "matrices">,
  options: { readonly storages: readonly WeightStorage[]; readonly maxTexels: number },
): PartPlan {
  const { storages, maxTexels } = options;
  const partTexels: number[] = [];
  const slices: PlannedSlice[][] = [];
  let group: string | undefined;
  matrices.forEach((matrix, m) => {
    const texels = rowTexels(matrix.width, at(storages, m));
    const total = matrices.reduce(
      (sum, other, i) =>
        other.group === matrix.group
          ? sum +
            roundUp(other.rowCount * rowTexels(other.width, at(storages, i)), FLAT_TEXTURE_WIDTH)
          : sum,
      0,
    );
    let firstRow = 0;
    slices.push(
      cutMatrix(matrix, { texels, maxTexels }).map((rowCount) => {
        if (group !== matrix.group || total > maxTexels) partTexels.push(0);
        group = matrix.group;
        const part = partTexels.length - 1;
        const slice = { part, texel: at(partTexels, part), firstRow, rowCount };
        partTexels[part] = slice.texel + roundUp(rowCount * texels, FLAT_TEXTURE_WIDTH);
        firstRow += rowCount;
        return slice;
      }),
    );
  });
  return { partTexels, slices };
}

/** The weights of a decoder on a device. */
export interface DecoderWeights {
  /** What they are of. */
  readonly config: DecoderConfig;
  /** Where each of them goes. */
  readonly layout: DecoderLayout;
  /** In the order of the layout. */
  readonly matrices: readonly StoredMatrix[];
  /** All gains and biases, f32. */
  readonly vectors: Tensor;
  /** What is to be freed. */
  readonly parts: readonly Operand[];
  /** Bytes of parts and vectors. */
  readonly sizeBytes: number;
}

/** Bytes that the weights take. */
export function weightBytes(
  layout: DecoderLayout,
  storages: readonly WeightStorage[],
): number {
  const texels = layout.matrices.reduce(
    (sum, { width, rowCount }, m) => sum + rowCount * rowTexels(width, at(storages, m)),
    0,
  );
  return texels * TEXEL_BYTES + layout.vectorLength * 4;
}

/** `1.98 GB`. */
export function inGigabytes(sizeBytes: number): string {
  return `${(sizeBytes / 1e9).toPrecision(3)} GB`;
}

/** Runs an allocation, whose failure for want of memory the device reports behind the call. */
async function withinMemory<T>(gpu: Gpu, allocate: () => T): Promise<T | undefined> {
  gpu.device.pushErrorScope("out-of-memory");
  const made = allocate();
  return await gpu.device.popErrorScope() === null ? made : undefined;
}

/**
 * Allocates the weights of a decoder; what they hold is not defined until they are written.
 * @param options.storages How each matrix of `decoderLayout(config)` is stored.
 * @param options.maxTexels Texels of a part (default: what the device can bind).
 * @throws {UserError} When the device has not the memory; the sentence says how many GB it needs.
 */
export async function createDecoderWeights(
  commands: Commands,
  config: DecoderConfig,
  options: { readonly storages: readonly WeightStorage[]; readonly maxTexels?: number },
): Promise<DecoderWeights> {
  const { gpu } = commands;
  const layout = decoderLayout(config);
  const { storages } = options;
  const memory = gpu.tuning.operandMemory;
  const plan = planParts(layout, {
    storages,
    maxTexels: Math.min(options.maxTexels ?? Infinity, maxWordTexels(gpu.device, memory)),
  });
  const sizeBytes = weightBytes(layout, storages);
  const parts: Operand[] = [];
  const vectors = await withinMemory(gpu, () => {
    plan.partTexels.forEach((texelCount, i) => {
      parts.push(
        createWordOperand(gpu.device, { label: `weights, part ${i}`, texelCount, memory }),
      );
    });
    return createTensor(gpu.device, {
      label: "gains and biases",
      sizeBytes: layout.vectorLength * 4,
    });
  });
  if (vectors === undefined) {
    parts.forEach(destroy);
    throw new UserError(
      `Cannot load the model: its weights need ${
        inGigabytes(sizeBytes)
      }, which the adapter has not free; use a smaller model, or bf16 weights where they are f32`,
    );
  }
  checkDevice(gpu);
  const matrices = layout.matrices.map(({ width }, m): StoredMatrix => ({
    storage: at(storages, m),
    width,
    slices: at(plan.slices, m).map(({ part, ...slice }) => ({ ...slice, words: at(parts, part) })),
  }));
  return { config, layout, matrices, vectors, parts, sizeBytes };
}

/**
 * Writes rows of a matrix, in its storage.
 * @param options.matrix Its place in the layout.
 * @param options.firstRow The first row that is written.
 * @param options.bytes Whole rows.
 */
export function writeMatrixRows(
  commands: Commands,
  weights: DecoderWeights,
  options: {
    readonly matrix: number;
    readonly firstRow: number;
    readonly bytes: Uint8Array<ArrayBuffer>;
  },
): void {
  const { firstRow, bytes } = options;
  const { width, storage, slices } = at(weights.matrices, options.matrix);
  const texels = rowTexels(width, storage);
  const rowBytes = texels * TEXEL_BYTES;
  const endRow = firstRow + bytes.length / rowBytes;
  for (const slice of slices) {
    const begin = Math.max(firstRow, slice.firstRow);
    const end = Math.min(endRow, slice.firstRow + slice.rowCount);
    if (begin >= end) continue;
    writeTexels(commands.gpu.device, slice.words, {
      texel: slice.texel + (begin - slice.firstRow) * texels,
      bytes: bytes.subarray((begin - firstRow) * rowBytes, (end - firstRow) * rowBytes),
    });
  }
}

/** Frees the weights. */
export function destroyDecoderWeights(weights: DecoderWeights): void {
  weights.parts.forEach(destroy);
  destroy(weights.vectors);
}
