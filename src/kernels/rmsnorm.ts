/** RMSNorm: rows divided by the root of their mean square, times a gain. */
import rmsnormForward from "#shaders/rmsnorm_forward.wgsl" with { type: "text" };
import rmsnormShared from "#shaders/rmsnorm.wgsl" with { type: "text" };
import sumOfParts from "#shaders/sum_of_parts.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import { groupsOf, input, operandOutput, rowKernel, type RowSize } from "./operands.ts";

export const RMSNORM_FORWARD: KernelSpec = {
  name: "rmsnorm_forward",
  wgsl: rmsnormForward,
  shared: [rmsnormShared, sumOfParts],
  params: [["row_count", "u32"], ["width4", "u32"], ["gain4", "u32"], ["epsilon", "f32"]],
  bindings: [input("x_ND"), input("vectors"), operandOutput("y_ND")],
  overrides: ["LANES"],
  iterations: (of) => 2 * loop(of("width4")),
};

/** Adds y_ND = rmsnorm(x_ND) to a plan. */
export function addRmsnormForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly x_ND: Tensor;
    /** Gains and biases of the model. */
    readonly vectors: Tensor;
    readonly y_ND: Operand;
    /** A multiple of 4. */
    readonly width: number;
    /** Floats before the gain in `vectors`, a multiple of 4. */
    readonly gainOffset: number;
    readonly epsilon: number;
  },
): void {
  const { width, gainOffset, epsilon, ...bindings } = options;
  plan.add(rowKernel(commands.gpu, RMSNORM_FORWARD), {
    bindings,
    launch: ({ rowCount }) => ({
      params: { row_count: rowCount, width4: width / 4, gain4: gainOffset / 4, epsilon },
      workgroups: [groupsOf(rowCount, commands.gpu.tuning.rowLanes)],
    }),
  });
}
