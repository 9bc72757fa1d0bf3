/** The gated SiLU of a feed-forward: silu(gate) ⊙ up. */
import gatedSiluForward from "#shaders/gated_silu_forward.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import type { KernelSpec } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import { GRID, gridGroups, input, operandOutput, rowKernel, type RowSize } from "./operands.ts";

export const GATED_SILU_FORWARD: KernelSpec = {
  name: "gated_silu_forward",
  wgsl: gatedSiluForward,
  shared: [GRID],
  params: [["row_count", "u32"], ["width4", "u32"]],
  bindings: [input("gate_up_N2F"), operandOutput("y_NF")],
  overrides: ["LANES"],
  iterations: () => 0,
};

/** Adds y_NF = silu(gate) ⊙ up to a plan; width F a multiple of 4. */
export function addGatedSiluForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: { readonly gate_up_N2F: Tensor; readonly y_NF: Operand; readonly width: number },
): void {
  const { width, ...bindings } = options;
  plan.add(rowKernel(commands.gpu, GATED_SILU_FORWARD), {
    bindings,
    launch: ({ rowCount }) => ({
      params: { row_count: rowCount, width4: width / 4 },
      workgroups: gridGroups(rowCount * width / 4, commands.gpu.tuning.rowLanes),
    }),
  });
}
