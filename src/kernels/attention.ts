/** Causal multi-head attention over packed episodes, with its rotated queries and keys; forward, backward and one-token decode. */
import attention from "#shaders/attention.wgsl" with { type: "text" };
import attentionBackward from "#shaders/attention_backward.wgsl" with { type: "text" };
import attentionBackwardKeyValue from "#shaders/attention_backward_key_value.wgsl" with {
  type: "text",
};
import attentionBackwardQuery from "#shaders/attention_backward_query.wgsl" with { type: "text" };
import attentionDecode from "#shaders/attention_decode.wgsl" with { type: "text" };
import attentionForward from "#shaders/attention_forward.wgsl" with { type: "text" };
import productBlock from "#shaders/product_block.wgsl" with { type: "text" };
import productRows from "#shaders/product_rows.wgsl" with { type: "text" };
import qkvForward from "#shaders/qkv_forward.wgsl" with { type: "text" };
import rotary from "#shaders/rotary.wgsl" with { type: "text" };
import sumOfParts from "#shaders/sum_of_parts.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop, type SizeOf } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import {
  GRID,
  gridGroups,
  groupsOf,
  input,
  kernelOf,
  operandInput,
  operandOutput,
  output,
  rowKernel,
  rowProductIterations,
  type RowSize,
} from "./operands.ts";
import { rowProduct } from "./product_tiles.ts";

export const QKV_FORWARD: KernelSpec = {
  name: "qkv_forward",
  wgsl: qkvForward,
  shared: [productBlock, productRows, rotary],
  params: [
    ["row_count", "u32"],
    ["width4", "u32"],
    ["weight_offset4", "u32"],
    ["head_width", "u32"],
  ],
  bindings: [
    operandInput("x_ND"),
    operandInput("w"),
    input("token_N4"),
    input("angles_TK"),
    operandOutput("qkv_N3D"),
  ],
  overrides: ["LANES"],
  iterations: (of) => rowProductIterations(of("width4")),
};

/** Iterations of one loop over a head's vec4: none where the head is written out. */
export function headIterations(of: SizeOf): number {
  const width4 = of("HEAD_WIDTH4");
  return width4 === 4 ? 0 : loop(width4);
}

/** Iterations over `keys` tokens, twice over the head at each of them. */
export function keyIterations(of: SizeOf, keys: number): number {
  return loop(keys, 2 * headIterations(of));
}

/** Tokens of the longest episode, which a launch states. */
const LONGEST = "longest_episode";

const ATTENTION_PARAMS = [
  ["row_count", "u32"],
  ["width4", "u32"],
  ["head_count", "u32"],
  ["scale", "f32"],
] as const;

export const ATTENTION_FORWARD: KernelSpec = {
  name: "attention_forward",
  wgsl: attentionForward,
  shared: [attention, sumOfParts, GRID],
  params: ATTENTION_PARAMS,
  bindings: [operandInput("qkv_N3D"), input("token_N4"), operandOutput("o_ND"), output("lse_NH")],
  overrides: ["LANES"],
  iterations: (of) => 2 * headIterations(of) + keyIterations(of, of(LONGEST)),
};

export const ATTENTION_DECODE: KernelSpec = {
  name: "attention_decode",
  wgsl: attentionDecode,
  shared: [attention, sumOfParts],
  params: [...ATTENTION_PARAMS, ["max_positions", "u32"]],
  bindings: [operandInput("qkv_B3D"), input("token_B4"), output("cache"), operandOutput("o_BD")],
  overrides: ["LANES"],
  iterations: (of) =>
    loop(of("HEAD_WIDTH4")) + 2 * headIterations(of) + keyIterations(of, of("max_positions")),
};

export const ATTENTION_BACKWARD_QUERY: KernelSpec = {
  name: "attention_backward_query",
  wgsl: attentionBackwardQuery,
  shared: [attentionBackward, rotary, sumOfParts, GRID],
  params: ATTENTION_PARAMS,
  bindings: [
    operandInput("qkv_N3D"),
    input("do_ND"),
    operandInput("o_ND"),
    input("lse_NH"),
    input("token_N4"),
    input("angles_TK"),
    output("delta_NH"),
    operandOutput("dqkv_N3D"),
  ],
  overrides: ["LANES"],
  iterations: (of) => 3 * headIterations(of) + keyIterations(of, of(LONGEST)),
};

export const ATTENTION_BACKWARD_KEY_VALUE: KernelSpec = {
  name: "attention_backward_key_value",
  wgsl: attentionBackwardKeyValue,
  shared: [attentionBackward, rotary, sumOfParts, GRID],
  params: ATTENTION_PARAMS,
  bindings: [
    operandInput("qkv_N3D"),
    input("do_ND"),
    input("lse_NH"),
    input("delta_NH"),
    input("token_N4"),
    input("angles_TK"),
    operandOutput("dqkv_N3D"),
  ],
  overrides: ["LANES"],
  iterations: (of) => 3 * headIterations(of) + keyIterations(of, of(LONGEST)),
};

/** D and H; the head width D/H is a multiple of 4, at most 128. */
export interface AttentionShape {
  readonly width: number;
  readonly headCount: number;
}

/**
 * The angles of rotary positions: for every position and pair p the cosine and sine of position·10000^(−2p/K), computed in
 * float64 so that they are the same on every adapter (Su et al. 2021, equation 15).
 * @returns f32 [T, K], (cos, sin) per pair.
 */
export function rotaryAngles(headWidth: number, maxPositions: number): Float32Array<ArrayBuffer> {
  const angles = new Float32Array(maxPositions * headWidth);
  for (let position = 0; position < maxPositions; position++) {
    for (let pair = 0; pair < headWidth / 2; pair++) {
      const angle = position * 10000 ** (-2 * pair / headWidth);
      angles[position * headWidth + 2 * pair] = Math.cos(angle);
      angles[position * headWidth + 2 * pair + 1] = Math.sin(angle);
    }
  }
  return angles;
}

/** Adds qkv_N3D = x Wᵀ with rotated queries and keys to a plan. */
export function addQkvForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly x_ND: Operand;
    readonly w: Operand;
    readonly token_N4: Tensor;
    readonly angles_TK: Tensor;
    readonly qkv_N3D: Operand;
    readonly shape: AttentionShape;
    readonly weightOffset: number;
  },
): void {
  const { shape, weightOffset, ...bindings } = options;
  const { kernel, groups } = rowProduct(commands.gpu, QKV_FORWARD);
  plan.add(kernel, {
    bindings,
    launch: ({ rowCount }) => ({
      params: {
        row_count: rowCount,
        width4: shape.width / 4,
        weight_offset4: weightOffset / 4,
        head_width: shape.width / shape.headCount,
      },
      workgroups: groups({ rowCount, columnCount: 3 * shape.width }),
    }),
  });
}

/** The head width is in the text, so that a head of 16 is written out: it is TinyAgent's. Other widths keep their loops. */
function headConstants(shape: AttentionShape): Record<string, number> {
  return { HEAD_WIDTH4: shape.width / shape.headCount / 4 };
}

function attentionParams(shape: AttentionShape, rowCount: number): Record<string, number> {
  return {
    row_count: rowCount,
    width4: shape.width / 4,
    head_count: shape.headCount,
    scale: 1 / Math.sqrt(shape.width / shape.headCount),
  };
}

/** Adds o_ND = attention(qkv_N3D) to a plan. */
export function addAttentionForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly qkv_N3D: Operand;
    readonly token_N4: Tensor;
    readonly o_ND: Operand;
    readonly lse_NH: Tensor;
    readonly shape: AttentionShape;
    /** Tokens of the longest episode at most. */
    readonly maxPositions: number;
  },
): void {
  const { shape, maxPositions, ...bindings } = options;
  plan.add(rowKernel(commands.gpu, ATTENTION_FORWARD, headConstants(shape)), {
    bindings,
    launch: ({ rowCount }) => ({
      params: attentionParams(shape, rowCount),
      sizes: { [LONGEST]: Math.min(rowCount, maxPositions) },
      workgroups: gridGroups(rowCount * shape.headCount, commands.gpu.tuning.rowLanes),
    }),
  });
}

/** Adds the attention of one new token per slot against the slot's cache to a plan. */
export function addAttentionDecode<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly qkv_B3D: Operand;
    readonly token_B4: Tensor;
    /** f32 [B, T, 2, D]. */
    readonly cache: Tensor;
    readonly o_BD: Operand;
    readonly shape: AttentionShape;
    readonly maxPositions: number;
  },
): void {
  const { shape, maxPositions, ...bindings } = options;
  const { stepLanes } = commands.gpu.tuning;
  const constants = { ...headConstants(shape), LANES: stepLanes };
  plan.add(kernelOf(commands.gpu, ATTENTION_DECODE, constants), {
    bindings,
    launch: ({ rowCount }) => ({
      params: { ...attentionParams(shape, rowCount), max_positions: maxPositions },
      workgroups: [groupsOf(rowCount * shape.headCount, stepLanes)],
    }),
  });
}

/** Adds dqkv_N3D, in natural order and rotated back, to a plan. */
export function addAttentionBackward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly qkv_N3D: Operand;
    readonly do_ND: Tensor;
    readonly o_ND: Operand;
    readonly lse_NH: Tensor;
    readonly delta_NH: Tensor;
    readonly token_N4: Tensor;
    readonly angles_TK: Tensor;
    readonly dqkv_N3D: Operand;
    readonly shape: AttentionShape;
    /** Tokens of the longest episode at most. */
    readonly maxPositions: number;
  },
): void {
  const { shape, maxPositions, ...bindings } = options;
  for (const spec of [ATTENTION_BACKWARD_QUERY, ATTENTION_BACKWARD_KEY_VALUE]) {
    plan.add(rowKernel(commands.gpu, spec, headConstants(shape)), {
      bindings,
      launch: ({ rowCount }) => ({
        params: attentionParams(shape, rowCount),
        sizes: { [LONGEST]: Math.min(rowCount, maxPositions) },
        workgroups: gridGroups(rowCount * shape.headCount, commands.gpu.tuning.rowLanes),
      }),
    });
  }
}
