/** Log-prob and entropy of chosen tokens from hidden states and the head, without storing [N, V]; their gradients. */
import logitGradient from "#shaders/logit_gradient.wgsl" with { type: "text" };
import logprobBackward from "#shaders/logprob_backward.wgsl" with { type: "text" };
import logprobForward from "#shaders/logprob_forward.wgsl" with { type: "text" };
import logprobMerge from "#shaders/logprob_merge.wgsl" with { type: "text" };
import onlineSoftmax from "#shaders/online_softmax.wgsl" with { type: "text" };
import productBlock from "#shaders/product_block.wgsl" with { type: "text" };
import productRows from "#shaders/product_rows.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop, MAX_ITERATIONS } from "../gpu/kernel.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import { addGradientReduce } from "./clip_adam.ts";
import { addLinearBackwardInput, addLinearBackwardWeight } from "./linear.ts";
import {
  groupsOf,
  input,
  operandInput,
  operandOutput,
  output,
  productGroups,
  productKernel,
  productRowGroups,
  ROW_CHUNKS,
  rowKernel,
  rowProductIterations,
  type RowSize,
} from "./operands.ts";

const HEAD_PARAMS = [
  ["row_count", "u32"],
  ["width4", "u32"],
  ["vocab_size", "u32"],
  ["weight_offset4", "u32"],
  ["inverse_temperature", "f32"],
] as const;

export const LOGPROB_FORWARD: KernelSpec = {
  name: "logprob_forward",
  wgsl: logprobForward,
  shared: [productBlock, productRows, onlineSoftmax],
  params: [...HEAD_PARAMS, ["first_entry", "u32"], ["entry_count", "u32"]],
  bindings: [operandInput("h_ND"), operandInput("w"), input("target_N"), output("segments")],
  overrides: ["LANES"],
  iterations: (of) =>
    loop(of("entry_count") / (4 * of("BLOCK_COLUMNS4")), rowProductIterations(of("width4"))),
};

export const LOGPROB_MERGE: KernelSpec = {
  name: "logprob_merge",
  wgsl: logprobMerge,
  shared: [onlineSoftmax],
  params: [["row_count", "u32"], ["segment_count", "u32"], ["inverse_temperature", "f32"]],
  bindings: [input("segments"), output("result_N4")],
  overrides: ["LANES"],
  iterations: (of) => loop(of("segment_count") - 1),
};

export const LOGPROB_BACKWARD: KernelSpec = {
  name: "logprob_backward",
  wgsl: logprobBackward,
  shared: [productBlock, productRows, logitGradient],
  params: [...HEAD_PARAMS, ["first_entry", "u32"], ["tile_width4", "u32"]],
  bindings: [
    operandInput("h_ND"),
    operandInput("w"),
    input("target_N"),
    input("result_N4"),
    input("dresult_N2"),
    operandOutput("dz_NC"),
  ],
  overrides: ["LANES"],
  iterations: (of) => rowProductIterations(of("width4")),
};

/** Vocabulary entries of one segment, `SEGMENT` in logprob_forward.wgsl: it decides the bits of log-probs. */
export const SEGMENT_ENTRIES = 2048;
/** Vocabulary entries of one backward tile: [N, 512] is all that is ever stored of [N, V]. It does not decide any bits. */
export const TILE_ENTRIES = 512;

/** The head: weight [V, D] at `weightOffset` floats in the flat parameters, bias [V] right after it. */
export interface HeadShape {
  readonly width: number;
  readonly vocabSize: number;
  readonly weightOffset: number;
}

/** What a replay of log-prob kernels needs: rows, and the temperature that divides the logits. */
export interface LogprobSize extends RowSize {
  /** Above 0. */
  readonly temperature: number;
}

/** Segments that a vocabulary takes. */
export function segmentCount(vocabSize: number): number {
  return Math.ceil(vocabSize / SEGMENT_ENTRIES);
}

/** Columns of the widest backward tile, padded to whole blocks of 16. */
export function tileWidth(vocabSize: number): number {
  return 16 * Math.ceil(Math.min(vocabSize, TILE_ENTRIES) / 16);
}

function headParams(shape: HeadShape, size: LogprobSize): Record<string, number> {
  return {
    row_count: size.rowCount,
    width4: shape.width / 4,
    vocab_size: shape.vocabSize,
    weight_offset4: shape.weightOffset / 4,
    inverse_temperature: 1 / size.temperature,
  };
}

/**
 * Entries of a segment that one dispatch of logprob_forward takes, a multiple of the columns of a block: as few dispatches as
 * loops allow, of equal shares. An online softmax is serial, so that cuts change no bit.
 *
 * @param columns Columns of a block (`blockColumns` of the tuning).
 */
export function entriesPerDispatch(
  { width, vocabSize }: Omit<HeadShape, "weightOffset">,
  columns: number,
): number {
  const blocks = Math.ceil(Math.min(vocabSize, SEGMENT_ENTRIES) / columns);
  const ofBlock = rowProductIterations(width / 4);
  const most = Math.max(1, Math.floor((MAX_ITERATIONS - 1) / (1 + ofBlock)));
  return columns * Math.ceil(blocks / Math.ceil(blocks / most));
}

/** Adds result_N4 = (log π(target), entropy, lse, 0) per row to a plan. */
export function addLogprobForward<Size extends LogprobSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly h_ND: Operand;
    readonly w: Operand;
    readonly target_N: Tensor;
    /** f32 [segments, N, 4]. */
    readonly segments: Tensor;
    readonly result_N4: Tensor;
    readonly shape: HeadShape;
  },
): void {
  const { h_ND, w, target_N, segments, result_N4, shape } = options;
  const entryCount = entriesPerDispatch(shape, commands.gpu.tuning.blockColumns);
  const segmentEnd = Math.min(shape.vocabSize, SEGMENT_ENTRIES);
  for (let first = 0; first < segmentEnd; first += entryCount) {
    plan.add(productKernel(commands.gpu, LOGPROB_FORWARD), {
      bindings: { h_ND, w, target_N, segments },
      launch: (size) => ({
        params: { ...headParams(shape, size), first_entry: first, entry_count: entryCount },
        workgroups: [
          productRowGroups(commands.gpu, size.rowCount),
          segmentCount(shape.vocabSize),
        ],
      }),
    });
  }
  addLogprobMerge(commands, plan, {
    segments,
    result_N4,
    vocabSize: shape.vocabSize,
    temperature: (size) => size.temperature,
  });
}

/** Adds result_N4 = (log π(target), entropy, lse, 0) from what was summed over each segment of the vocabulary. */
export function addLogprobMerge<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly segments: Tensor;
    readonly result_N4: Tensor;
    readonly vocabSize: number;
    /** The temperature of a replay, that which the segments were summed with. */
    readonly temperature: (size: Size) => number;
  },
): void {
  const { segments, result_N4, vocabSize, temperature } = options;
  plan.add(rowKernel(commands.gpu, LOGPROB_MERGE), {
    bindings: { segments, result_N4 },
    launch: (size) => ({
      params: {
        row_count: size.rowCount,
        segment_count: segmentCount(vocabSize),
        inverse_temperature: 1 / temperature(size),
      },
      workgroups: [groupsOf(size.rowCount, commands.gpu.tuning.rowLanes)],
    }),
  });
}

/**
 * Adds the gradients of log-prob and entropy to a plan, tile by tile over the vocabulary: dh_ND is replaced, the head's
 * gradient goes to `gradient`.
 */
export function addLogprobBackward<Size extends LogprobSize & { readonly accumulate: boolean }>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly h_ND: Operand;
    readonly w: Operand;
    readonly target_N: Tensor;
    readonly result_N4: Tensor;
    readonly dresult_N2: Tensor;
    /** Workspace [N, tileWidth(V)]. */
    readonly dz_NC: Operand;
    /** Where each chunk of rows starts: u32 [9] of `chunkStarts`. */
    readonly chunkStart_9: Tensor;
    /** Workspace f32 [8, tileWidth(V)·(D + 1)]. */
    readonly partials: Tensor;
    readonly dh_ND: Tensor;
    readonly gradient: Tensor;
    readonly shape: HeadShape;
  },
): void {
  const { h_ND, w, target_N, result_N4, dresult_N2, dz_NC, partials, dh_ND, gradient, shape } =
    options;
  const dyWidth = tileWidth(shape.vocabSize);
  const chunkStride = dyWidth * (shape.width + 1);
  for (let first = 0; first < shape.vocabSize; first += TILE_ENTRIES) {
    const entries = Math.min(TILE_ENTRIES, shape.vocabSize - first);
    const tile = {
      width: shape.width,
      columnCount: entries,
      weightOffset: shape.weightOffset + first * shape.width,
    };
    plan.add(productKernel(commands.gpu, LOGPROB_BACKWARD), {
      bindings: { h_ND, w, target_N, result_N4, dresult_N2, dz_NC },
      launch: (size) => ({
        params: { ...headParams(shape, size), first_entry: first, tile_width4: dyWidth / 4 },
        workgroups: productGroups(commands.gpu, { rowCount: size.rowCount, columnCount: entries }),
      }),
    });
    addLinearBackwardInput(commands, plan, {
      dy_NM: dz_NC,
      w,
      dx_NK: dh_ND,
      shape: tile,
      dyWidth,
      accumulate: first > 0,
    });
    addLinearBackwardWeight(commands, plan, {
      dy_NM: dz_NC,
      x_NK: h_ND,
      chunkStart_9: options.chunkStart_9,
      partials,
      shape: tile,
      dyWidth,
      hasBias: true,
      partialOffset: 0,
      chunkStride,
    });
    addGradientReduce(commands, plan, {
      partials,
      gradient,
      chunkStride,
      ranges: [
        { length: entries * shape.width, partialOffset: 0, gradientOffset: tile.weightOffset },
        {
          length: entries,
          partialOffset: entries * shape.width,
          gradientOffset: shape.weightOffset + shape.vocabSize * shape.width + first,
        },
      ],
    });
  }
}

/** Bytes of the workspace of chunks that `addLogprobBackward` needs. */
export function headPartialBytes(shape: HeadShape): number {
  return ROW_CHUNKS * tileWidth(shape.vocabSize) * (shape.width + 1) * 4;
}
