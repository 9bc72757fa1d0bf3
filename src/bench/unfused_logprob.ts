/** The benchmark's baseline of the fused log-prob: logits and their gradient are stored as [N, V]. */
import logitGradient from "#shaders/logit_gradient.wgsl" with { type: "text" };
import onlineSoftmax from "#shaders/online_softmax.wgsl" with { type: "text" };
import unfusedLogprobBackward from "#shaders/unfused_logprob_backward.wgsl" with { type: "text" };
import unfusedLogprobForward from "#shaders/unfused_logprob_forward.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import { addGradientReduce } from "../kernels/clip_adam.ts";
import { addLinear, addLinearBackwardInput, addLinearBackwardWeight } from "../kernels/linear.ts";
import {
  addLogprobMerge,
  type HeadShape,
  SEGMENT_ENTRIES,
  segmentCount,
} from "../kernels/logprob.ts";
import {
  COLUMN_LANES,
  groupsOf,
  input,
  kernelOf,
  operandOutput,
  output,
  type RowSize,
} from "../kernels/operands.ts";

/** See shaders/unfused_logprob_forward.wgsl. */
export const UNFUSED_LOGPROB_FORWARD: KernelSpec = {
  name: "unfused_logprob_forward",
  wgsl: unfusedLogprobForward,
  shared: [onlineSoftmax],
  params: [["row_count", "u32"], ["vocab_size", "u32"]],
  bindings: [input("logits_NV"), input("target_N"), output("segments")],
  overrides: ["LANES"],
  iterations: () => loop(SEGMENT_ENTRIES),
};

/** See shaders/unfused_logprob_backward.wgsl. */
export const UNFUSED_LOGPROB_BACKWARD: KernelSpec = {
  name: "unfused_logprob_backward",
  wgsl: unfusedLogprobBackward,
  shared: [logitGradient],
  params: [["row_count", "u32"], ["vocab_size", "u32"], ["dz_width4", "u32"]],
  bindings: [
    input("logits_NV"),
    input("target_N"),
    input("result_N4"),
    input("dresult_N2"),
    operandOutput("dz_NC"),
  ],
  overrides: ["LANES"],
  iterations: () => 0,
};

/** C: the vocabulary in whole blocks of 16 columns. */
export function paddedVocabulary(vocabSize: number): number {
  return 16 * Math.ceil(vocabSize / 16);
}

/** Adds logits_NV = h Wᵀ + b and, from them, result_N4 = (log π(target), entropy, lse, 0) at temperature 1. */
export function addUnfusedForward<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly h_ND: Operand;
    readonly w: Operand;
    readonly target_N: Tensor;
    readonly logits_NV: Tensor;
    /** f32 [segments, N, 4]. */
    readonly segments: Tensor;
    readonly result_N4: Tensor;
    readonly shape: HeadShape;
  },
): void {
  const { h_ND, w, target_N, logits_NV, segments, result_N4, shape } = options;
  const { width, vocabSize, weightOffset } = shape;
  addLinear(commands, plan, {
    product: "forward",
    tensors: { x_NK: h_ND, w, y_NM: logits_NV },
    shape: { width, columnCount: vocabSize, weightOffset },
  });
  plan.add(kernelOf(commands.gpu, UNFUSED_LOGPROB_FORWARD), {
    bindings: { logits_NV, target_N, segments },
    launch: ({ rowCount }) => ({
      params: { row_count: rowCount, vocab_size: vocabSize },
      workgroups: [groupsOf(rowCount, COLUMN_LANES), segmentCount(vocabSize)],
    }),
  });
  addLogprobMerge(commands, plan, { segments, result_N4, vocabSize, temperature: () => 1 });
}

/** Adds the gradients of log-prob and entropy from stored logits: dh_ND is replaced, the head's goes to `gradient`. */
export function addUnfusedBackward<Size extends RowSize & { readonly accumulate: boolean }>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly h_ND: Operand;
    readonly w: Operand;
    readonly target_N: Tensor;
    readonly logits_NV: Tensor;
    readonly result_N4: Tensor;
    readonly dresult_N2: Tensor;
    /** [N, C]. */
    readonly dz_NC: Operand;
    /** f32 [8, C·(D + 1)]. */
    readonly partials: Tensor;
    readonly dh_ND: Tensor;
    /** Where each chunk of rows starts: u32 [9] of `chunkStarts`. */
    readonly chunkStart_9: Tensor;
    readonly gradient: Tensor;
    readonly shape: HeadShape;
  },
): void {
  const { h_ND, w, target_N, logits_NV, result_N4, dresult_N2, dz_NC, partials } = options;
  const { width, vocabSize, weightOffset } = options.shape;
  const dyWidth = paddedVocabulary(vocabSize);
  const shape = { width, columnCount: vocabSize, weightOffset };
  plan.add(kernelOf(commands.gpu, UNFUSED_LOGPROB_BACKWARD), {
    bindings: { logits_NV, target_N, result_N4, dresult_N2, dz_NC },
    launch: ({ rowCount }) => ({
      params: { row_count: rowCount, vocab_size: vocabSize, dz_width4: dyWidth / 4 },
      workgroups: [groupsOf(dyWidth / 4, COLUMN_LANES), rowCount],
    }),
  });
  addLinearBackwardInput(commands, plan, {
    dy_NM: dz_NC,
    w,
    dx_NK: options.dh_ND,
    shape,
    dyWidth,
  });
  const chunkStride = dyWidth * (width + 1);
  addLinearBackwardWeight(commands, plan, {
    dy_NM: dz_NC,
    x_NK: h_ND,
    chunkStart_9: options.chunkStart_9,
    partials,
    shape,
    dyWidth,
    hasBias: true,
    partialOffset: 0,
    chunkStride,
  });
  const weights = vocabSize * width;
  addGradientReduce(commands, plan, {
    partials,
    gradient: options.gradient,
    chunkStride,
    ranges: [
      { length: weights, partialOffset: 0, gradientOffset: weightOffset },
      { length: vocabSize, partialOffset: weights, gradientOffset: weightOffset + weights },
    ],
  });
}
