/** From partial sums to a step: gradient reduction, global norm, clip and Adam over the flat parameters. */
import clipAdam from "#shaders/clip_adam.wgsl" with { type: "text" };
import clipScale from "#shaders/clip_scale.wgsl" with { type: "text" };
import gradientNorm from "#shaders/gradient_norm.wgsl" with { type: "text" };
import gradientReduce from "#shaders/gradient_reduce.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import type { Gpu } from "../gpu/device.ts";
import { type Kernel, type KernelSpec, loop, MAX_ITERATIONS } from "../gpu/kernel.ts";
import type { Tensor } from "../gpu/tensor.ts";
import { GRID, gridGroups, groupsOf, input, kernelOf, output, ROW_CHUNKS } from "./operands.ts";

export const GRADIENT_REDUCE: KernelSpec = {
  name: "gradient_reduce",
  wgsl: gradientReduce,
  shared: [GRID],
  params: [
    ["range_length", "u32"],
    ["partial_offset4", "u32"],
    ["gradient_offset4", "u32"],
    ["chunk_stride4", "u32"],
    ["accumulate", "u32"],
  ],
  bindings: [input("partials"), output("gradient")],
  overrides: ["LANES"],
  iterations: () => loop(ROW_CHUNKS),
};

export const GRADIENT_NORM: KernelSpec = {
  name: "gradient_norm",
  wgsl: gradientNorm,
  shared: [],
  params: [["vec4_count", "u32"]],
  bindings: [input("gradient"), output("block_squares")],
  overrides: ["LANES"],
  iterations: () => loop(NORM_BLOCK / 4),
};

export const CLIP_SCALE: KernelSpec = {
  name: "clip_scale",
  wgsl: clipScale,
  shared: [],
  params: [
    ["first_block", "u32"],
    ["end_block", "u32"],
    ["block_count", "u32"],
    ["max_norm", "f32"],
  ],
  bindings: [input("block_squares"), output("clip_2")],
  overrides: [],
  iterations: (of) => loop(of("end_block") - of("first_block")),
};

export const CLIP_ADAM: KernelSpec = {
  name: "clip_adam",
  wgsl: clipAdam,
  shared: [GRID],
  params: [
    ["vec4_count", "u32"],
    ["beta1", "f32"],
    ["beta2", "f32"],
    ["epsilon", "f32"],
    ["step_size", "f32"],
    ["correction", "f32"],
    ["one_minus_beta1", "f32"],
    ["one_minus_beta2", "f32"],
  ],
  bindings: [
    input("gradient"),
    input("clip_2"),
    output("first"),
    output("second"),
    output("weights"),
    output("refused"),
  ],
  overrides: ["LANES"],
  iterations: () => 0,
};

/** Entries of one block of gradient_norm, four times its `BLOCK4`: it decides the bits of the norm. */
export const NORM_BLOCK = 4096;

/** A kernel over the flat parameters, with the adapter's lanes. */
function flatKernel(gpu: Gpu, spec: KernelSpec): Kernel {
  return kernelOf(gpu, spec, { LANES: gpu.tuning.flatLanes });
}

/** A range of parameters, in floats. */
export interface GradientRange {
  readonly length: number;
  /** Where it lies in one chunk of the partial sums. */
  readonly partialOffset: number;
  readonly gradientOffset: number;
}

/** Adds gradient[range] = Σ over chunks of partials[range] (or += when the size says `accumulate`) to a plan. */
export function addGradientReduce<Size extends { readonly accumulate: boolean }>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly partials: Tensor;
    readonly gradient: Tensor;
    readonly chunkStride: number;
    readonly ranges: readonly GradientRange[];
  },
): void {
  const { partials, gradient, chunkStride, ranges } = options;
  for (const { length, partialOffset, gradientOffset } of ranges) {
    plan.add(flatKernel(commands.gpu, GRADIENT_REDUCE), {
      bindings: { partials, gradient },
      launch: ({ accumulate }) => ({
        params: {
          range_length: length,
          partial_offset4: partialOffset / 4,
          gradient_offset4: gradientOffset / 4,
          chunk_stride4: chunkStride / 4,
          accumulate: Number(accumulate),
        },
        workgroups: gridGroups(Math.ceil(length / 4), commands.gpu.tuning.flatLanes),
      }),
    });
  }
}

/** Adds clip_2 = (norm of the gradient, clip factor) to a plan. */
export function addGradientNorm<Size extends { readonly maxNorm: number }>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly gradient: Tensor;
    /** f32 [ceil(W / 4096)]. */
    readonly block_squares: Tensor;
    readonly clip_2: Tensor;
    readonly parameterCount: number;
  },
): void {
  const { gradient, block_squares, clip_2, parameterCount } = options;
  const { sumLanes } = commands.gpu.tuning;
  const blocks = Math.ceil(parameterCount / NORM_BLOCK);
  plan.add(kernelOf(commands.gpu, GRADIENT_NORM, { LANES: sumLanes }), {
    bindings: { gradient, block_squares },
    launch: () => ({
      params: { vec4_count: Math.ceil(parameterCount / 4) },
      workgroups: [groupsOf(blocks, sumLanes)],
    }),
  });
  addClipScale(commands, plan, { block_squares, clip_2, blockCount: blocks });
}

/** Blocks that one dispatch of clip_scale adds up. */
const SCALE_BLOCKS = MAX_ITERATIONS - 1;

/** Adds clip_2 = (norm, clip factor) from the blocks' sums of squares to a plan: in one invocation, block after block. */
export function addClipScale<Size extends { readonly maxNorm: number }>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly block_squares: Tensor;
    readonly clip_2: Tensor;
    readonly blockCount: number;
  },
): void {
  const { blockCount, ...bindings } = options;
  for (let first = 0; first < blockCount; first += SCALE_BLOCKS) {
    plan.add(kernelOf(commands.gpu, CLIP_SCALE), {
      bindings,
      launch: ({ maxNorm }) => ({
        params: {
          first_block: first,
          end_block: Math.min(first + SCALE_BLOCKS, blockCount),
          block_count: blockCount,
          max_norm: Math.min(maxNorm, 3e38),
        },
        workgroups: [1],
      }),
    });
  }
}

/** Blocks of `gradient_norm`. */
export function normBlockCount(parameterCount: number): number {
  return Math.ceil(parameterCount / NORM_BLOCK);
}

/** One Adam step's settings. */
export interface AdamArguments {
  /** Step size, decays, ε and the number of the step. */
  readonly adam: {
    readonly learningRate: number;
    readonly beta1: number;
    readonly beta2: number;
    readonly epsilon: number;
    /** t, 1 for the first step. */
    readonly step: number;
  };
}

/** Adds one clipped Adam step on the flat parameters to a plan. */
export function addClipAdam<Size extends AdamArguments>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly gradient: Tensor;
    readonly clip_2: Tensor;
    readonly first: Tensor;
    readonly second: Tensor;
    readonly weights: Tensor;
    /** u32 [W/4], zeros until a step is refused: what of its gradient was not finite (see `firstNotFinite`). */
    readonly refused: Tensor;
    readonly parameterCount: number;
  },
): void {
  const { parameterCount, ...bindings } = options;
  plan.add(flatKernel(commands.gpu, CLIP_ADAM), {
    bindings,
    launch: ({ adam: { learningRate, beta1, beta2, epsilon, step } }) => ({
      params: {
        vec4_count: Math.ceil(parameterCount / 4),
        beta1,
        beta2,
        epsilon,
        step_size: learningRate / (1 - beta1 ** step),
        correction: 1 / Math.sqrt(1 - beta2 ** step),
        one_minus_beta1: 1 - beta1,
        one_minus_beta2: 1 - beta2,
      },
      workgroups: gridGroups(Math.ceil(parameterCount / 4), commands.gpu.tuning.flatLanes),
    }),
  });
}

/** The first entry of a gradient that is not finite. */
export interface RefusedEntry {
  /** Its place in the flat gradient. */
  readonly index: number;
  /** NaN, or an infinity of unknown sign. */
  readonly value: "NaN" | "an infinity";
}

/** Reads `refused` of {@linkcode addClipAdam}; undefined where no step was refused or every entry is finite. */
export function firstNotFinite(refused: Uint32Array): RefusedEntry | undefined {
  const at = refused.findIndex((bits) => (bits & 15) !== 0);
  if (at < 0) return undefined;
  const bits = refused[at] ?? 0;
  const lane = [0, 1, 2, 3].find((lane) => (bits >> lane & 1) === 1) ?? 0;
  return { index: 4 * at + lane, value: (bits >> (4 + lane) & 1) === 1 ? "NaN" : "an infinity" };
}
