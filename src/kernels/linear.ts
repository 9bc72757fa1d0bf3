/** Linear layers: y = x Wᵀ + b plain, with residual or with GELU; gradients of input, weight and bias. */
import gelu from "#shaders/gelu.wgsl" with { type: "text" };
import linearBackwardInput from "#shaders/linear_backward_input.wgsl" with { type: "text" };
import linearBackwardWeight from "#shaders/linear_backward_weight.wgsl" with { type: "text" };
import linearForward from "#shaders/linear_forward.wgsl" with { type: "text" };
import linearGeluBackwardInput from "#shaders/linear_gelu_backward_input.wgsl" with {
  type: "text",
};
import linearGeluForward from "#shaders/linear_gelu_forward.wgsl" with { type: "text" };
import linearResidualForward from "#shaders/linear_residual_forward.wgsl" with { type: "text" };
import productBlock from "#shaders/product_block.wgsl" with { type: "text" };
import productOutputs from "#shaders/product_outputs.wgsl" with { type: "text" };
import productRows from "#shaders/product_rows.wgsl" with { type: "text" };
import productWeights from "#shaders/product_weights.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import {
  CHUNK_ROWS,
  GRID,
  gridGroups,
  groupsOf,
  input,
  kernelOf,
  operandInput,
  operandOutput,
  output,
  outputProductIterations,
  PRODUCT_PARAMS,
  productGroups,
  productKernel,
  ROW_CHUNKS,
  rowProductIterations,
  type RowSize,
} from "./operands.ts";
import { rowProduct } from "./product_tiles.ts";

export const LINEAR_FORWARD: KernelSpec = {
  name: "linear_forward",
  wgsl: linearForward,
  shared: [productBlock, productRows],
  params: PRODUCT_PARAMS,
  bindings: [operandInput("x_NK"), operandInput("w"), output("y_NM")],
  overrides: ["LANES"],
  iterations: (of) => rowProductIterations(of("width4")),
};

export const LINEAR_RESIDUAL_FORWARD: KernelSpec = {
  name: "linear_residual_forward",
  wgsl: linearResidualForward,
  shared: [productBlock, productRows],
  params: PRODUCT_PARAMS,
  bindings: [operandInput("x_NK"), operandInput("w"), input("residual_NM"), output("y_NM")],
  overrides: ["LANES"],
  iterations: (of) => rowProductIterations(of("width4")),
};

export const LINEAR_GELU_FORWARD: KernelSpec = {
  name: "linear_gelu_forward",
  wgsl: linearGeluForward,
  shared: [productBlock, productRows, gelu],
  params: PRODUCT_PARAMS,
  bindings: [operandInput("x_NK"), operandInput("w"), output("z_NM"), operandOutput("y_NM")],
  overrides: ["LANES"],
  iterations: (of) => rowProductIterations(of("width4")),
};

export const LINEAR_BACKWARD_INPUT: KernelSpec = {
  name: "linear_backward_input",
  wgsl: linearBackwardInput,
  shared: [productBlock, productOutputs],
  params: [...PRODUCT_PARAMS, ["dy_width4", "u32"], ["accumulate", "u32"]],
  bindings: [operandInput("dy_NM"), operandInput("w"), output("dx_NK")],
  overrides: ["LANES"],
  iterations: (of) => outputProductIterations(of("column_count")),
};

export const LINEAR_GELU_BACKWARD_INPUT: KernelSpec = {
  name: "linear_gelu_backward_input",
  wgsl: linearGeluBackwardInput,
  shared: [productBlock, productOutputs, gelu],
  params: PRODUCT_PARAMS,
  bindings: [operandInput("dy_NM"), operandInput("w"), input("z_NK"), operandOutput("dz_NK")],
  overrides: ["LANES"],
  iterations: (of) => outputProductIterations(of("column_count")),
};

/** Rows of one iteration, `ROW_STEP` in product_weights.wgsl. */
const ROW_STEP = 2;

export const LINEAR_BACKWARD_WEIGHT: KernelSpec = {
  name: "linear_backward_weight",
  wgsl: linearBackwardWeight,
  shared: [productWeights, GRID],
  params: [
    ["width4", "u32"],
    ["column_count", "u32"],
    ["weight_offset4", "u32"],
    ["dy_width4", "u32"],
    ["chunk_stride4", "u32"],
    ["has_bias", "u32"],
  ],
  bindings: [
    operandInput("dy_NM"),
    operandInput("x_NK"),
    input("chunk_start"),
    output("partials"),
  ],
  overrides: ["LANES"],
  iterations: (of) => loop(Math.ceil(of(CHUNK_ROWS) / ROW_STEP)),
};

/** W [columnCount, width] at `weightOffset` floats in the flat parameters, its bias right after it. */
export interface LinearShape {
  readonly width: number;
  readonly columnCount: number;
  readonly weightOffset: number;
}

function productParams(shape: LinearShape, rowCount: number): Record<string, number> {
  return {
    row_count: rowCount,
    width4: shape.width / 4,
    column_count: shape.columnCount,
    weight_offset4: shape.weightOffset / 4,
  };
}

/** Products over rows that differ in their kernel and tensors alone: what each reads and writes. */
export interface LinearTensors {
  /** y_NM = x Wᵀ + b, as single floats. */
  readonly forward: { readonly x_NK: Operand; readonly w: Operand; readonly y_NM: Tensor };
  /** y_NM = residual + (x Wᵀ + b); columns a multiple of 16. */
  readonly residual_forward: LinearTensors["forward"] & { readonly residual_NM: Tensor };
  /** z_NM = x Wᵀ + b and y_NM = gelu(z); columns a multiple of 16. */
  readonly gelu_forward: {
    readonly x_NK: Operand;
    readonly w: Operand;
    readonly z_NM: Tensor;
    readonly y_NM: Operand;
  };
  /** dz_NK = (dy W) ⊙ gelu'(z). */
  readonly gelu_backward_input: {
    readonly dy_NM: Operand;
    readonly w: Operand;
    readonly z_NK: Tensor;
    readonly dz_NK: Operand;
  };
}

/** The kernel of each product, and which side of W its results have as columns. */
const PRODUCTS = {
  forward: { spec: LINEAR_FORWARD, columns: "columnCount" },
  residual_forward: { spec: LINEAR_RESIDUAL_FORWARD, columns: "columnCount" },
  gelu_forward: { spec: LINEAR_GELU_FORWARD, columns: "columnCount" },
  gelu_backward_input: { spec: LINEAR_GELU_BACKWARD_INPUT, columns: "width" },
} as const satisfies Record<
  keyof LinearTensors,
  { readonly spec: KernelSpec; readonly columns: "columnCount" | "width" }
>;

/** Adds a product over rows: `product` names which, and with it the tensors that it needs. */
export function addLinear<Size extends RowSize, Product extends keyof LinearTensors>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly product: Product;
    readonly tensors: LinearTensors[Product];
    readonly shape: LinearShape;
  },
): void {
  const { product, tensors, shape } = options;
  const { spec, columns } = PRODUCTS[product];
  const { kernel, groups } = rowProduct(commands.gpu, spec);
  plan.add(kernel, {
    bindings: { ...tensors },
    launch: ({ rowCount }) => ({
      params: productParams(shape, rowCount),
      workgroups: groups({ rowCount, columnCount: shape[columns] }),
    }),
  });
}

/** Adds dx_NK = dy W, or dx_NK += dy W when `accumulate` is set; width a multiple of 16. */
export function addLinearBackwardInput<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly dy_NM: Operand;
    readonly w: Operand;
    readonly dx_NK: Tensor;
    readonly shape: LinearShape;
    /** Columns that dy's rows hold, at least columnCount and padded with zeros (default columnCount). */
    readonly dyWidth?: number;
    readonly accumulate?: boolean;
  },
): void {
  const { dy_NM, w, dx_NK, shape, dyWidth = shape.columnCount, accumulate = false } = options;
  plan.add(productKernel(commands.gpu, LINEAR_BACKWARD_INPUT), {
    bindings: { dy_NM, w, dx_NK },
    launch: ({ rowCount }) => ({
      params: {
        ...productParams(shape, rowCount),
        dy_width4: dyWidth / 4,
        accumulate: Number(accumulate),
      },
      workgroups: productGroups(commands.gpu, { rowCount, columnCount: shape.width }),
    }),
  });
}

/** Adds dW and db as partial sums over 8 chunks of rows; `gradient_reduce` adds them up. */
export function addLinearBackwardWeight<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly dy_NM: Operand;
    readonly x_NK: Operand;
    /** Where each chunk of rows starts: u32 [9] of `chunkStarts`. */
    readonly chunkStart_9: Tensor;
    readonly partials: Tensor;
    readonly shape: LinearShape;
    readonly dyWidth?: number;
    readonly hasBias: boolean;
    /** Where dW's partial sums lie in one chunk, and the distance of chunks, in floats. */
    readonly partialOffset: number;
    readonly chunkStride: number;
  },
): void {
  const { dy_NM, x_NK, chunkStart_9, partials, shape, dyWidth = shape.columnCount } = options;
  const { weightOutputs, weightColumns, weightLanes } = commands.gpu.tuning;
  const columnBlocks = shape.width / weightColumns;
  const outputBlocks = Math.ceil(shape.columnCount / weightOutputs);
  const kernel = kernelOf(commands.gpu, LINEAR_BACKWARD_WEIGHT, {
    WEIGHT_OUTPUTS4: weightOutputs / 4,
    WEIGHT_COLUMNS4: weightColumns / 4,
    LANES: weightLanes,
    SPREAD_LANES: Number(weightLanes > columnBlocks),
  });
  const groups = weightLanes > columnBlocks
    ? gridGroups(columnBlocks * outputBlocks, weightLanes)
    : [groupsOf(columnBlocks, weightLanes), outputBlocks] as const;
  plan.add(kernel, {
    bindings: { dy_NM, x_NK, chunk_start: chunkStart_9, partials },
    launch: ({ rowCount }) => ({
      sizes: { [CHUNK_ROWS]: rowCount },
      params: {
        width4: shape.width / 4,
        column_count: shape.columnCount,
        weight_offset4: options.partialOffset / 4,
        dy_width4: dyWidth / 4,
        chunk_stride4: options.chunkStride / 4,
        has_bias: Number(options.hasBias),
      },
      workgroups: [...groups, ROW_CHUNKS],
    }),
  });
}
