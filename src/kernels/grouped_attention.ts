/** Causal attention with grouped queries over a cache of keys and values, in segments of keys that are merged in order. */
import groupedAttentionForward from "#shaders/grouped_attention_forward.wgsl" with { type: "text" };
import sumOfParts from "#shaders/sum_of_parts.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop } from "../gpu/kernel.ts";
import type { Gpu } from "../gpu/device.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import type { GroupedShape } from "./head_rotary.ts";
import {
  GRID,
  gridGroups,
  input,
  operandInput,
  operandOutput,
  output,
  rowKernel,
  type RowSize,
} from "./operands.ts";

/** Positions of one segment of keys, `KEY_SEGMENT` in grouped_attention_forward.wgsl: it decides the bits of attention. */
export const KEY_SEGMENT = 512;

export const GROUPED_ATTENTION_FORWARD: KernelSpec = {
  name: "grouped_attention_forward",
  wgsl: groupedAttentionForward,
  shared: [sumOfParts, GRID],
  params: [
    ["row_count", "u32"],
    ["head_count", "u32"],
    ["group_count", "u32"],
    ["segment", "u32"],
    ["scale", "f32"],
  ],
  bindings: [
    operandInput("q_NHK"),
    operandInput("key_cache"),
    operandInput("value_cache"),
    input("token_N4"),
    output("state_NHK"),
    output("sums_NH"),
    operandOutput("o_NHK"),
  ],
  overrides: ["LANES"],
  iterations: () => loop(KEY_SEGMENT),
};

/**
 * Vec4 of all heads that one invocation owns on a CPU: a key is fetched once for all of them, but the time to compile them
 * grows faster than they save.
 */
const SHARED_WIDTH4 = 32;

/** Heads of a group that one invocation owns: a GPU has the registers of one. */
function sharedHeads(
  { adapter }: Gpu,
  { groupHeads, width4 }: { readonly groupHeads: number; readonly width4: number },
): number {
  const most = adapter.isSoftware ? Math.max(1, Math.floor(SHARED_WIDTH4 / width4)) : 1;
  return Math.ceil(groupHeads / Math.ceil(groupHeads / most));
}

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
    readonly q_NHK: Operand;
    readonly key_cache: Operand;
    readonly value_cache: Operand;
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
  const groupHeads = headCount / groupCount;
  const shared = sharedHeads(commands.gpu, { groupHeads, width4: headWidth / 4 });
  const runs = Math.ceil(groupHeads / shared);
  const kernel = rowKernel(commands.gpu, GROUPED_ATTENTION_FORWARD, {
    HEAD_WIDTH4: headWidth / 4,
    SHARED_HEADS: shared,
  });
  for (let segment = 0; segment * KEY_SEGMENT < maxPositions; segment++) {
    plan.add(kernel, {
      bindings,
      launch: ({ rowCount, positionCount }) => ({
        params: {
          row_count: rowCount,
          head_count: headCount,
          group_count: groupCount,
          segment,
          scale: 1 / Math.sqrt(headWidth),
        },
        workgroups: gridGroups(rowCount * groupCount * runs, commands.gpu.tuning.rowLanes),
        times: Number(segment * KEY_SEGMENT < positionCount),
      }),
    });
  }
}
