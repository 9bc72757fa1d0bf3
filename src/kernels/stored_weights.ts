/** Operations that read matrices as a checkpoint stores them, in slices below the limit of a binding: embedding, linear, log-probs. */
import onlineSoftmax from "#shaders/online_softmax.wgsl" with { type: "text" };
import productBlock from "#shaders/product_block.wgsl" with { type: "text" };
import storedEmbeddingForward from "#shaders/stored_embedding_forward.wgsl" with { type: "text" };
import storedLinearForward from "#shaders/stored_linear_forward.wgsl" with { type: "text" };
import storedLogprobForward from "#shaders/stored_logprob_forward.wgsl" with { type: "text" };
import storedRows from "#shaders/stored_rows.wgsl" with { type: "text" };
import storedWeights from "#shaders/stored_weights.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import type { Gpu } from "../gpu/device.ts";
import { type Kernel, type KernelSpec, loop, MAX_ITERATIONS, type SizeOf } from "../gpu/kernel.ts";
import { type Operand, type Tensor, TEXEL_BYTES } from "../gpu/tensor.ts";
import { addLogprobMerge, type LogprobSize, SEGMENT_ENTRIES, segmentCount } from "./logprob.ts";
import {
  blockConstants,
  GRID,
  gridGroups,
  groupsOf,
  input,
  kernelOf,
  operandInput,
  output,
  rowKernel,
  type RowSize,
  wordsInput,
} from "./operands.ts";

/** How values of weights are stored on the device; what they are worth is the same in all three. */
export type WeightStorage = "f32" | "bf16" | "f16";

/** `STORAGE` in stored_weights.wgsl. */
const STORAGE_CODE = { f32: 0, bf16: 1, f16: 2 } as const satisfies Record<WeightStorage, number>;

/** Bytes of one value. */
export const STORAGE_BYTES = { f32: 4, bf16: 2, f16: 2 } as const satisfies Record<
  WeightStorage,
  number
>;

/** Rows of a matrix that lie together on the device. */
export interface WeightSlice {
  /** Where they lie. */
  readonly words: Operand;
  /** The texel at which they begin. */
  readonly texel: number;
  /** The first of them. */
  readonly firstRow: number;
  /** How many there are. */
  readonly rowCount: number;
}

/** A matrix [rows, width] on the device. */
export interface StoredMatrix {
  /** How its values lie on the device. */
  readonly storage: WeightStorage;
  /** A multiple of 8. */
  readonly width: number;
  /** In ascending order, without gaps. */
  readonly slices: readonly WeightSlice[];
}

/** Texels of a row. */
export function rowTexels(width: number, storage: WeightStorage): number {
  return width * STORAGE_BYTES[storage] / TEXEL_BYTES;
}

/** Iterations of a product with a stored matrix: its columns, then the inner dimension. */
function productIterations(of: SizeOf, width8: number): number {
  return loop(4 * of("BLOCK_COLUMNS4")) + loop(2 * width8);
}

export const STORED_LINEAR_FORWARD: KernelSpec = {
  name: "stored_linear_forward",
  wgsl: storedLinearForward,
  shared: [productBlock, storedWeights, storedRows],
  params: [
    ["row_count", "u32"],
    ["width8", "u32"],
    ["column_count", "u32"],
    ["texel0", "u32"],
    ["y_width4", "u32"],
    ["y_column4", "u32"],
    ["has_bias", "u32"],
    ["bias4", "u32"],
    ["accumulate", "u32"],
  ],
  bindings: [operandInput("x_NK"), wordsInput("w"), input("vectors"), output("y_NM")],
  overrides: ["LANES"],
  iterations: (of) => productIterations(of, of("width8")),
};

export const STORED_EMBEDDING_FORWARD: KernelSpec = {
  name: "stored_embedding_forward",
  wgsl: storedEmbeddingForward,
  shared: [storedWeights, GRID],
  params: [
    ["row_count", "u32"],
    ["width8", "u32"],
    ["first_entry", "u32"],
    ["entry_count", "u32"],
    ["texel0", "u32"],
  ],
  bindings: [input("token_N4"), wordsInput("w"), output("x_ND")],
  overrides: ["LANES"],
  iterations: () => 0,
};

export const STORED_LOGPROB_FORWARD: KernelSpec = {
  name: "stored_logprob_forward",
  wgsl: storedLogprobForward,
  shared: [productBlock, storedWeights, storedRows, onlineSoftmax],
  params: [
    ["row_count", "u32"],
    ["width8", "u32"],
    ["slice_entry", "u32"],
    ["slice_count", "u32"],
    ["texel0", "u32"],
    ["inverse_temperature", "f32"],
    ["first_entry", "u32"],
    ["entry_count", "u32"],
  ],
  bindings: [operandInput("h_ND"), wordsInput("w"), input("target_N"), output("segments")],
  overrides: ["LANES"],
  iterations: (of) =>
    loop(of("entry_count") / (4 * of("BLOCK_COLUMNS4")), productIterations(of, of("width8"))),
};

/** A warp of the common GPUs; on software adapters what was measured. */
function storedLanes({ adapter, tuning }: Gpu): number {
  return adapter.isSoftware ? tuning.productLanes : Math.max(32, tuning.productLanes);
}

function storedKernel(gpu: Gpu, spec: KernelSpec, storage: WeightStorage): Kernel {
  return kernelOf(gpu, spec, {
    ...blockConstants(gpu),
    LANES: storedLanes(gpu),
    STORAGE: STORAGE_CODE[storage],
  });
}

/** Workgroups along the rows of a product. */
function rowGroups(gpu: Gpu, rowCount: number): number {
  return groupsOf(Math.ceil(rowCount / gpu.tuning.blockRows), storedLanes(gpu));
}

/** Adds y_NM = x Wᵀ + b to a plan, or y_NM += x Wᵀ + b. */
export function addStoredLinearForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly x_NK: Operand;
    /** W [M, K]; M a multiple of 4. */
    readonly matrix: StoredMatrix;
    readonly vectors: Tensor;
    readonly y_NM: Tensor;
    /** M. */
    readonly columnCount: number;
    /** Floats before the bias in `vectors`, a multiple of 4; undefined where there is none. */
    readonly biasOffset: number | undefined;
    readonly accumulate: boolean;
  },
): void {
  const { x_NK, matrix, vectors, y_NM, columnCount, biasOffset, accumulate } = options;
  for (const { words, texel, firstRow, rowCount: sliceRows } of matrix.slices) {
    plan.add(storedKernel(commands.gpu, STORED_LINEAR_FORWARD, matrix.storage), {
      bindings: { x_NK, w: words, vectors, y_NM },
      launch: ({ rowCount }) => ({
        params: {
          row_count: rowCount,
          width8: matrix.width / 8,
          column_count: sliceRows,
          texel0: texel,
          y_width4: columnCount / 4,
          y_column4: firstRow / 4,
          has_bias: Number(biasOffset !== undefined),
          bias4: ((biasOffset ?? 0) + firstRow) / 4,
          accumulate: Number(accumulate),
        },
        workgroups: [
          rowGroups(commands.gpu, rowCount),
          groupsOf(sliceRows, commands.gpu.tuning.blockColumns),
        ],
      }),
    });
  }
}

/** Adds x_ND = rows of the token table to a plan. */
export function addStoredEmbeddingForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly token_N4: Tensor;
    readonly matrix: StoredMatrix;
    readonly x_ND: Tensor;
  },
): void {
  const { token_N4, matrix, x_ND } = options;
  for (const { words, texel, firstRow, rowCount: sliceRows } of matrix.slices) {
    plan.add(
      rowKernel(commands.gpu, STORED_EMBEDDING_FORWARD, {
        STORAGE: STORAGE_CODE[matrix.storage],
      }),
      {
        bindings: { token_N4, w: words, x_ND },
        launch: ({ rowCount }) => ({
          params: {
            row_count: rowCount,
            width8: matrix.width / 8,
            first_entry: firstRow,
            entry_count: sliceRows,
            texel0: texel,
          },
          workgroups: gridGroups(rowCount * matrix.width / 8, commands.gpu.tuning.rowLanes),
        }),
      },
    );
  }
}

/**
 * Entries of a segment that one dispatch takes, a multiple of the columns of a block: as few dispatches as loops allow. An online
 * softmax is serial, so that cuts change no bit.
 *
 * @param columns Columns of a block (`blockColumns` of the tuning).
 */
export function storedEntriesPerDispatch(width: number, columns: number): number {
  const blocks = SEGMENT_ENTRIES / columns;
  const iterations = productIterations(() => columns / 4, width / 8);
  const most = Math.max(1, Math.floor((MAX_ITERATIONS - 1) / (1 + iterations)));
  return columns * Math.ceil(blocks / Math.ceil(blocks / most));
}

/**
 * Adds result_N4 = (log π(target), entropy, lse, 0) per row to a plan. Slices of the head must begin with whole segments of
 * `SEGMENT_ENTRIES`.
 */
export function addStoredLogprobForward<Size extends LogprobSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly h_ND: Operand;
    readonly matrix: StoredMatrix;
    readonly target_N: Tensor;
    /** f32 [segments, N, 4]. */
    readonly segments: Tensor;
    readonly result_N4: Tensor;
    readonly vocabSize: number;
  },
): void {
  const { h_ND, matrix, target_N, segments, result_N4, vocabSize } = options;
  const entryCount = storedEntriesPerDispatch(matrix.width, commands.gpu.tuning.blockColumns);
  const kernel = storedKernel(commands.gpu, STORED_LOGPROB_FORWARD, matrix.storage);
  for (const { words, texel, firstRow, rowCount: sliceRows } of matrix.slices) {
    for (let first = 0; first < Math.min(sliceRows, SEGMENT_ENTRIES); first += entryCount) {
      plan.add(kernel, {
        bindings: { h_ND, w: words, target_N, segments },
        launch: ({ rowCount, temperature }) => ({
          params: {
            row_count: rowCount,
            width8: matrix.width / 8,
            slice_entry: firstRow,
            slice_count: sliceRows,
            texel0: texel,
            inverse_temperature: 1 / temperature,
            first_entry: first,
            entry_count: entryCount,
          },
          workgroups: [rowGroups(commands.gpu, rowCount), segmentCount(sliceRows)],
        }),
      });
    }
  }
  addLogprobMerge(commands, plan, {
    segments,
    result_N4,
    vocabSize,
    temperature: (size) => size.temperature,
  });
}
