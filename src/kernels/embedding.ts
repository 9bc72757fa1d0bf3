/** Embedding: the lookup of token vectors and the gradient of the table. */
import embeddingBackward from "#shaders/embedding_backward.wgsl" with { type: "text" };
import embeddingForward from "#shaders/embedding_forward.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import {
  COLUMN_LANES,
  GRID,
  gridGroups,
  groupsOf,
  input,
  kernelOf,
  operandInput,
  output,
  rowKernel,
  type RowSize,
} from "./operands.ts";

export const EMBEDDING_FORWARD: KernelSpec = {
  name: "embedding_forward",
  wgsl: embeddingForward,
  shared: [GRID],
  params: [["row_count", "u32"], ["width4", "u32"], ["weight_offset4", "u32"]],
  bindings: [input("token_N4"), operandInput("w"), output("x_ND")],
  overrides: ["LANES"],
  iterations: () => 0,
};

/** Rows of one token at most, which a launch states: all rows may be of the same. */
const TOKEN_ROWS = "token_rows";

export const EMBEDDING_BACKWARD: KernelSpec = {
  name: "embedding_backward",
  wgsl: embeddingBackward,
  shared: [],
  params: [
    ["vocab_size", "u32"],
    ["width4", "u32"],
    ["weight_offset4", "u32"],
    ["accumulate", "u32"],
  ],
  bindings: [input("order"), input("start_V"), operandInput("dx_ND"), output("gradient")],
  overrides: ["LANES"],
  iterations: (of) => loop(of(TOKEN_ROWS)),
};

/** Adds x_ND = weight[id of each token] to a plan. */
export function addEmbeddingForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    /** (id, position, first, end) of each token, u32 [N, 4]. */
    readonly token_N4: Tensor;
    readonly w: Operand;
    readonly x_ND: Tensor;
    readonly width: number;
    readonly weightOffset: number;
  },
): void {
  const { token_N4, w, x_ND, width, weightOffset } = options;
  const width4 = width / 4;
  plan.add(rowKernel(commands.gpu, EMBEDDING_FORWARD), {
    bindings: { token_N4, w, x_ND },
    launch: ({ rowCount }) => ({
      params: { row_count: rowCount, width4, weight_offset4: weightOffset / 4 },
      workgroups: gridGroups(rowCount * width4, commands.gpu.tuning.rowLanes),
    }),
  });
}

/** Vocabulary entries in one layer of the dispatch grid, see embedding_backward.wgsl. */
const GRID_ENTRIES = 32768;

/** Adds the gradient of the table to a plan. */
export function addEmbeddingBackward<Size extends RowSize & { readonly accumulate: boolean }>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    /** Rows sorted by token, ascending inside a token, u32 [N]. */
    readonly order: Tensor;
    /** Where each token's rows start in `order`, u32 [V + 1]. */
    readonly start_V: Tensor;
    readonly dx_ND: Operand;
    readonly gradient: Tensor;
    readonly width: number;
    readonly vocabSize: number;
    readonly weightOffset: number;
  },
): void {
  const { order, start_V, dx_ND, gradient, width, vocabSize, weightOffset } = options;
  const width4 = width / 4;
  plan.add(kernelOf(commands.gpu, EMBEDDING_BACKWARD), {
    bindings: { order, start_V, dx_ND, gradient },
    launch: ({ rowCount, accumulate }) => ({
      params: {
        vocab_size: vocabSize,
        width4,
        weight_offset4: weightOffset / 4,
        accumulate: Number(accumulate),
      },
      sizes: { [TOKEN_ROWS]: rowCount },
      workgroups: [
        groupsOf(width4, COLUMN_LANES),
        Math.min(vocabSize, GRID_ENTRIES),
        groupsOf(vocabSize, GRID_ENTRIES),
      ],
    }),
  });
}
