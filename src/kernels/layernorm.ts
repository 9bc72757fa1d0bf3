/** LayerNorm: the normalized rows, the gradient of its input and of gain and bias. */
import layernormShared from "#shaders/layernorm.wgsl" with { type: "text" };
import layernormBackward from "#shaders/layernorm_backward.wgsl" with { type: "text" };
import layernormForward from "#shaders/layernorm_forward.wgsl" with { type: "text" };
import layernormWeightBackward from "#shaders/layernorm_weight_backward.wgsl" with { type: "text" };
import sumOfParts from "#shaders/sum_of_parts.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import {
  CHUNK_ROWS,
  COLUMN_LANES,
  groupsOf,
  input,
  kernelOf,
  operandInput,
  operandOutput,
  output,
  ROW_CHUNKS,
  rowKernel,
  type RowSize,
} from "./operands.ts";

/** Iterations of one row: mean, variance, and what is written. */
export function layernormIterations(width4: number): number {
  return 3 * loop(width4);
}

export const LAYERNORM_FORWARD: KernelSpec = {
  name: "layernorm_forward",
  wgsl: layernormForward,
  shared: [layernormShared, sumOfParts],
  params: [
    ["row_count", "u32"],
    ["width4", "u32"],
    ["gain_offset4", "u32"],
    ["inverse_width", "f32"],
  ],
  bindings: [input("x_ND"), operandInput("w"), operandOutput("y_ND"), output("moments_N2")],
  overrides: ["LANES"],
  iterations: (of) => layernormIterations(of("width4")),
};

export const LAYERNORM_BACKWARD: KernelSpec = {
  name: "layernorm_backward",
  wgsl: layernormBackward,
  shared: [sumOfParts],
  params: [
    ["row_count", "u32"],
    ["width4", "u32"],
    ["gain_offset4", "u32"],
    ["has_residual", "u32"],
  ],
  bindings: [
    input("dy_ND"),
    input("x_ND"),
    input("moments_N2"),
    operandInput("w"),
    operandInput("dresidual_ND"),
    operandOutput("dx_ND"),
  ],
  overrides: ["LANES"],
  iterations: (of) => 2 * loop(of("width4")),
};

export const LAYERNORM_WEIGHT_BACKWARD: KernelSpec = {
  name: "layernorm_weight_backward",
  wgsl: layernormWeightBackward,
  shared: [],
  params: [
    ["width4", "u32"],
    ["gain_offset4", "u32"],
    ["chunk_stride4", "u32"],
  ],
  bindings: [
    input("dy_ND"),
    input("x_ND"),
    input("moments_N2"),
    input("chunk_start"),
    output("partials"),
  ],
  overrides: ["LANES"],
  iterations: (of) => loop(of(CHUNK_ROWS)),
};

/** Adds y_ND = layernorm(x_ND) to a plan; the bias lies right behind the gain. */
export function addLayernormForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly x_ND: Tensor;
    readonly w: Operand;
    readonly y_ND: Operand;
    readonly moments_N2: Tensor;
    readonly width: number;
    readonly gainOffset: number;
  },
): void {
  const { width, gainOffset, ...bindings } = options;
  plan.add(rowKernel(commands.gpu, LAYERNORM_FORWARD), {
    bindings,
    launch: ({ rowCount }) => ({
      params: {
        row_count: rowCount,
        width4: width / 4,
        gain_offset4: gainOffset / 4,
        inverse_width: 1 / width,
      },
      workgroups: [groupsOf(rowCount, commands.gpu.tuning.rowLanes)],
    }),
  });
}

/**
 * Adds both gradients of a LayerNorm to a plan: dx_ND = dresidual_ND + d layernorm, and dgain and dbias as partial sums.
 * `dresidual_ND` undefined means that nothing flows past the block; `spare_ND` is then bound in its place and not read.
 */
export function addLayernormBackward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly dy_ND: Tensor;
    readonly x_ND: Tensor;
    readonly moments_N2: Tensor;
    readonly w: Operand;
    readonly dresidual_ND: Operand | undefined;
    readonly spare_ND: Operand;
    readonly dx_ND: Operand;
    /** Where each chunk of rows starts: u32 [9] of `chunkStarts`. */
    readonly chunkStart_9: Tensor;
    readonly partials: Tensor;
    readonly width: number;
    readonly gainOffset: number;
    /** Where gain's partial sums lie in one chunk, and the distance of chunks, in floats. */
    readonly partialOffset: number;
    readonly chunkStride: number;
  },
): void {
  const { dy_ND, x_ND, moments_N2, w, dx_ND, partials, width, gainOffset } = options;
  const width4 = width / 4;
  plan.add(kernelOf(commands.gpu, LAYERNORM_WEIGHT_BACKWARD), {
    bindings: { dy_ND, x_ND, moments_N2, chunk_start: options.chunkStart_9, partials },
    launch: ({ rowCount }) => ({
      params: {
        width4,
        gain_offset4: options.partialOffset / 4,
        chunk_stride4: options.chunkStride / 4,
      },
      sizes: { [CHUNK_ROWS]: rowCount },
      workgroups: [groupsOf(width4, COLUMN_LANES), ROW_CHUNKS],
    }),
  });
  plan.add(rowKernel(commands.gpu, LAYERNORM_BACKWARD), {
    bindings: {
      dy_ND,
      x_ND,
      moments_N2,
      w,
      dresidual_ND: options.dresidual_ND ?? options.spare_ND,
      dx_ND,
    },
    launch: ({ rowCount }) => ({
      params: {
        row_count: rowCount,
        width4,
        gain_offset4: gainOffset / 4,
        has_residual: Number(options.dresidual_ND !== undefined),
      },
      workgroups: [groupsOf(rowCount, commands.gpu.tuning.rowLanes)],
    }),
  });
}
