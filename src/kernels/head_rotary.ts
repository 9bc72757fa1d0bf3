/** Heads of queries and keys: normalized where a model does so, turned by their position; keys and values into the cache. */
import headRotaryForward from "#shaders/head_rotary_forward.wgsl" with { type: "text" };
import rmsnormShared from "#shaders/rmsnorm.wgsl" with { type: "text" };
import sumOfParts from "#shaders/sum_of_parts.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import { GRID, gridGroups, input, operandOutput, rowKernel, type RowSize } from "./operands.ts";

export const HEAD_ROTARY_FORWARD: KernelSpec = {
  name: "head_rotary_forward",
  wgsl: headRotaryForward,
  shared: [rmsnormShared, sumOfParts, GRID],
  params: [
    ["row_count", "u32"],
    ["head_count", "u32"],
    ["group_count", "u32"],
    ["half4", "u32"],
    ["has_norm", "u32"],
    ["query_gain4", "u32"],
    ["key_gain4", "u32"],
    ["epsilon", "f32"],
  ],
  bindings: [
    input("qkv_NM"),
    input("token_N4"),
    input("angles"),
    input("vectors"),
    operandOutput("q_NHK"),
    operandOutput("key_cache"),
    operandOutput("value_cache"),
  ],
  overrides: ["LANES"],
  iterations: (of) => 2 * loop(2 * of("half4")),
};

/** Heads of a model with grouped queries. */
export interface GroupedShape {
  /** H, a multiple of G. */
  readonly headCount: number;
  /** G, heads of keys and values. */
  readonly groupCount: number;
  /** K, a multiple of 8. */
  readonly headWidth: number;
}

/** Where the gains of the head norms lie, in floats, multiples of 4. */
export interface HeadNorm {
  readonly queryGain: number;
  readonly keyGain: number;
  readonly epsilon: number;
}

/** Adds the heads of queries, keys and values to a plan. */
export function addHeadRotaryForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    /** f32 [N, (H + 2G)·K]. */
    readonly qkv_NM: Tensor;
    /** u32 [N, 4]: (id, position, first, cache row). */
    readonly token_N4: Tensor;
    /** f32 [T, 2, K/2] of cosines and sines. */
    readonly angles: Tensor;
    readonly vectors: Tensor;
    readonly q_NHK: Operand;
    /** f32 [C, G·K]. */
    readonly key_cache: Operand;
    /** f32 [C, G·K]. */
    readonly value_cache: Operand;
    readonly shape: GroupedShape;
    /** Undefined where the model has none. */
    readonly norm: HeadNorm | undefined;
  },
): void {
  const { shape, norm, ...bindings } = options;
  const { headCount, groupCount, headWidth } = shape;
  plan.add(rowKernel(commands.gpu, HEAD_ROTARY_FORWARD), {
    bindings,
    launch: ({ rowCount }) => ({
      params: {
        row_count: rowCount,
        head_count: headCount,
        group_count: groupCount,
        half4: headWidth / 8,
        has_norm: Number(norm !== undefined),
        query_gain4: (norm?.queryGain ?? 0) / 4,
        key_gain4: (norm?.keyGain ?? 0) / 4,
        epsilon: norm?.epsilon ?? 0,
      },
      workgroups: gridGroups(rowCount * (headCount + 2 * groupCount), commands.gpu.tuning.rowLanes),
    }),
  });
}
