/** Causal attention with grouped queries over a cache of keys and values, in segments of keys that are merged in order. */
import attention from "#shaders/attention.wgsl" with { type: "text" };
import groupedAttentionForward from "#shaders/grouped_attention_forward.wgsl" with { type: "text" };
import sumOfParts from "#shaders/sum_of_parts.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import { headIterations, keyIterations } from "./attention.ts";
import type { GroupedShape } from "./head_rotary.ts";
import {
  GRID,
  gridGroups,
  input,
  kernelOf,
  operandOutput,
  output,
  ROW_LANES,
  type RowSize,
} from "./operands.ts";

/** Positions of one segment of keys, `KEY_SEGMENT` in grouped_attention_forward.wgsl: it decides the bits of attention. */
export const KEY_SEGMENT = 512;

export const GROUPED_ATTENTION_FORWARD: KernelSpec = {
  name: "grouped_attention_forward",
  wgsl: groupedAttentionForward,
  shared: [attention, sumOfParts, GRID],
  params: [
    ["row_count", "u32"],
    ["head_count", "u32"],
    ["group_count", "u32"],
    ["width4", "u32"],
    ["segment", "u32"],
    ["scale", "f32"],
  ],
  bindings: [
    input("q_NHK"),
    input("key_cache"),
    input("value_cache"),
    input("token_N4"),
    output("state_NHK"),
    output("sums_NH"),
    operandOutput("o_NHK"),
  ],
  overrides: ["LANES"],
  iterations: (of) =>
    3 * loop(of("HEAD_WIDTH4")) + headIterations(of) + keyIterations(of, KEY_SEGMENT),
};

/** Rows, and the positions that any of them may have. */
export interface PositionSize extends RowSize {
  /** One more than the last position of any row. */
  readonly positionCount: number;
}

/** Adds o_NHK = attention to a plan: a dispatch a segment, of which those that no row reaches are left out. */
export function addGroupedAttentionForward<Size extends PositionSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly q_NHK: Tensor;
    readonly key_cache: Tensor;
    readonly value_cache: Tensor;
    readonly token_N4: Tensor;
    readonly state_NHK: Tensor;
    readonly sums_NH: Tensor;
    readonly o_NHK: Operand;
    readonly shape: GroupedShape;
    /** Positions of the longest sequence at most. */
    readonly maxPositions: number;
  },
): void {
  const { shape, maxPositions, ...bindings } = options;
  const { headCount, groupCount, headWidth } = shape;
  const kernel = kernelOf(commands.gpu, GROUPED_ATTENTION_FORWARD, {
    HEAD_WIDTH4: headWidth / 4,
  });
  for (let segment = 0; segment * KEY_SEGMENT < maxPositions; segment++) {
    plan.add(kernel, {
      bindings,
      launch: ({ rowCount, positionCount }) => ({
        params: {
          row_count: rowCount,
          head_count: headCount,
          group_count: groupCount,
          width4: headWidth / 4,
          segment,
          scale: 1 / Math.sqrt(headWidth),
        },
        workgroups: gridGroups(rowCount * headCount, ROW_LANES),
        times: Number(segment * KEY_SEGMENT < positionCount),
      }),
    });
  }
}
