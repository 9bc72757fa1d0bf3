/** A copy of the weights with each matrix transposed: lanes that lie over its outputs then load neighbouring entries. */
import rotary from "#shaders/rotary.wgsl" with { type: "text" };
import transposeWeights from "#shaders/transpose_weights.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import type { KernelSpec } from "../gpu/kernel.ts";
import type { Tensor } from "../gpu/tensor.ts";
import { GRID, gridGroups, input, kernelOf, output } from "./operands.ts";

export const TRANSPOSE_WEIGHTS: KernelSpec = {
  name: "transpose_weights",
  wgsl: transposeWeights,
  shared: [GRID, rotary],
  params: [
    ["width4", "u32"],
    ["output_count4", "u32"],
    ["offset4", "u32"],
    ["head_width", "u32"],
  ],
  bindings: [input("weights"), output("transposed")],
  overrides: ["LANES"],
  iterations: () => 0,
};

/** Adds transposed[k][o] = weights[o][k] of the matrix [outputCount, width] at `offset` floats to a plan. */
export function addTransposeWeights<Size>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly weights: Tensor;
    readonly transposed: Tensor;
    /** K, a multiple of 4. */
    readonly width: number;
    /** M, a multiple of 4. */
    readonly outputCount: number;
    readonly offset: number;
    /** Entries of a head whose pairs are interleaved; 0: none are. */
    readonly headWidth: number;
  },
): void {
  const { weights, transposed, width, outputCount, offset, headWidth } = options;
  const { flatLanes } = commands.gpu.tuning;
  plan.add(kernelOf(commands.gpu, TRANSPOSE_WEIGHTS, { LANES: flatLanes }), {
    bindings: { weights, transposed },
    launch: () => ({
      params: {
        width4: width / 4,
        output_count4: outputCount / 4,
        offset4: offset / 4,
        head_width: headWidth,
      },
      workgroups: gridGroups(width * outputCount / 4, flatLanes),
    }),
  });
}
