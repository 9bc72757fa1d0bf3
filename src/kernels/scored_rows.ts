/** Scored rows: behind the last attention only rows whose log-prob is asked for are computed. */
import scoredRowsBackward from "#shaders/scored_rows_backward.wgsl" with { type: "text" };
import scoredRowsForward from "#shaders/scored_rows_forward.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import type { KernelSpec } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
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

export const SCORED_ROWS_FORWARD: KernelSpec = {
  name: "scored_rows_forward",
  wgsl: scoredRowsForward,
  shared: [GRID],
  params: [["row_count", "u32"], ["width4", "u32"]],
  bindings: [
    input("row_R"),
    input("x_ND"),
    operandInput("o_ND"),
    output("x_RD"),
    operandOutput("o_RD"),
  ],
  overrides: ["LANES"],
  iterations: () => 0,
};

export const SCORED_ROWS_BACKWARD: KernelSpec = {
  name: "scored_rows_backward",
  wgsl: scoredRowsBackward,
  shared: [GRID],
  params: [["row_count", "u32"], ["width4", "u32"]],
  bindings: [
    input("place_N"),
    operandInput("dx_RD"),
    input("do_RD"),
    operandOutput("dx_ND"),
    output("do_ND"),
  ],
  overrides: ["LANES"],
  iterations: () => 0,
};

/** What a replay of passes over scored rows needs. */
export interface ScoredSize extends RowSize {
  /** R, the rows whose log-prob is asked for: from 1 to N. */
  readonly scoredCount: number;
}

/** The size of the part of a pass that only runs over scored rows. */
export function scoredPart<Size extends ScoredSize>(size: Size): Size {
  return { ...size, rowCount: size.scoredCount };
}

/** What `place_N` holds for a row that is not scored. */
export const NOT_SCORED = 0xffffffff;

/** The place of each of `rowCount` rows among the scored ones, or `NOT_SCORED`. */
export function placesOf(
  row_R: Uint32Array,
  { rowCount }: { readonly rowCount: number },
): Uint32Array<ArrayBuffer> {
  const place_N = new Uint32Array(rowCount).fill(NOT_SCORED);
  row_R.forEach((row, place) => place_N[row] = place);
  return place_N;
}

/** Adds x_RD = x_ND[row_R] and o_RD = o_ND[row_R]. */
export function addScoredRowsForward<Size extends ScoredSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    /** u32 [R], ascending. */
    readonly row_R: Tensor;
    readonly x_ND: Tensor;
    readonly o_ND: Operand;
    readonly x_RD: Tensor;
    readonly o_RD: Operand;
    readonly width: number;
  },
): void {
  const { width, ...bindings } = options;
  const width4 = width / 4;
  plan.add(rowKernel(commands.gpu, SCORED_ROWS_FORWARD), {
    bindings,
    launch: ({ scoredCount }) => ({
      params: { row_count: scoredCount, width4 },
      workgroups: gridGroups(scoredCount * width4, commands.gpu.tuning.rowLanes),
    }),
  });
}

/** Adds dx_ND and do_ND: the gradients of scored rows at their places, 0 elsewhere. */
export function addScoredRowsBackward<Size extends ScoredSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    /** u32 [N], see `placesOf`. */
    readonly place_N: Tensor;
    readonly dx_RD: Operand;
    readonly do_RD: Tensor;
    readonly dx_ND: Operand;
    readonly do_ND: Tensor;
    readonly width: number;
  },
): void {
  const { width, ...bindings } = options;
  const width4 = width / 4;
  plan.add(rowKernel(commands.gpu, SCORED_ROWS_BACKWARD), {
    bindings,
    launch: ({ rowCount }) => ({
      params: { row_count: rowCount, width4 },
      workgroups: gridGroups(rowCount * width4, commands.gpu.tuning.rowLanes),
    }),
  });
}
