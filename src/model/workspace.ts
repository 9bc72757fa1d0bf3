/** Device memory of one model shape for up to `capacity` packed tokens: inputs, activations, gradients. */
import type { Commands } from "../gpu/commands.ts";
import { MAX_ITERATIONS } from "../gpu/kernel.ts";
import {
  createRowOperand,
  createTensor,
  destroy,
  type Operand,
  roundUp,
  type Tensor,
} from "../gpu/tensor.ts";
import { headPartialBytes, segmentCount, tileWidth } from "../kernels/logprob.ts";
import { normBlockCount } from "../kernels/clip_adam.ts";
import { ROW_CHUNKS } from "../kernels/operands.ts";
import { rotaryAngles } from "../kernels/attention.ts";
import { type ModelConfig, parameterLayout } from "./config.ts";
import { type BatchInputs, createBatchInputs } from "./batch_inputs.ts";
import { createFlat } from "./parameters.ts";

/** What one block's forward leaves for its backward. */
export interface BlockActivations {
  /** The block's input, hidden states [N, D]. */
  readonly x_ND: Tensor;
  /** Mean and 1/σ of the LayerNorm before attention. */
  readonly moments1_N2: Tensor;
  /** Its output. */
  readonly normed1_ND: Operand;
  /** Rotated queries and keys with interleaved pairs, and values. */
  readonly qkv_N3D: Operand;
  /** Output of attention, heads side by side. */
  readonly o_ND: Operand;
  /** Log-sum-exp of the attention scores. */
  readonly lse_NH: Tensor;
  /** Hidden states between attention and feed-forward. */
  readonly middle_ND: Tensor;
  /** Mean and 1/σ of the LayerNorm before the feed-forward. */
  readonly moments2_N2: Tensor;
  /** Its output. */
  readonly normed2_ND: Operand;
  /** Feed-forward before GELU. */
  readonly z_NF: Tensor;
  /** Feed-forward after GELU. */
  readonly gelu_NF: Operand;
}

/** All device memory that forward and backward need besides the weights. */
export interface Workspace {
  /** The model's sizes. */
  readonly config: ModelConfig;
  /** Rows of the largest batch. */
  readonly capacity: number;
  /** Tokens of the longest episode. */
  readonly maxPositions: number;
  /** What the host uploads. */
  readonly inputs: BatchInputs;
  /** (cos, sin) of each rotary pair at each position, f32 [T, K]. */
  readonly angles_TK: Tensor;
  /** One record per layer. In the last one all that comes after attention has R rows. */
  readonly blocks: readonly BlockActivations[];
  /** Input of the last block, of the scored rows. */
  readonly scoredX_RD: Tensor;
  /** Output of the last block's attention, of the scored rows. */
  readonly scoredO_RD: Operand;
  /** Hidden states after the last block. */
  readonly final_RD: Tensor;
  /** Mean and 1/σ of the last LayerNorm. */
  readonly momentsFinal_R2: Tensor;
  /** Hidden states after the last LayerNorm, which the head reads. */
  readonly hidden_RD: Operand;
  /** Partial log-sum-exps of the vocabulary's segments. */
  readonly segments: Tensor;
  /** (log-prob, entropy, lse, 0) per scored row. */
  readonly result_R4: Tensor;
  /** The same of the reference model, computed or uploaded. */
  readonly reference_R4: Tensor;
}

/** Device memory of the backward pass. */
export interface GradientWorkspace {
  /** d loss / d log-prob and d loss / d entropy. */
  readonly dresult_R2: Tensor;
  /** Gradient of one tile of logits. */
  readonly dz_RC: Operand;
  /** Partial sums of the head's gradient over a tile. */
  readonly headPartials: Tensor;
  /** Gradient that enters a LayerNorm backward, [N, D]. */
  readonly dnormed_ND: Tensor;
  /** Gradients of hidden states, used in turns. */
  readonly dx_ND: readonly [Operand, Operand];
  /** Gradient of the feed-forward before GELU. */
  readonly dz_NF: Operand;
  /** Gradient of attention's output. */
  readonly do_ND: Tensor;
  /** do·o per head, between the two kernels of attention's backward. */
  readonly delta_NH: Tensor;
  /** Gradient of queries, keys and values, in natural order. */
  readonly dqkv_N3D: Operand;
  /** [8, parameters between token table and head]. */
  readonly partials: Tensor;
  /** The flat gradient [W]. */
  readonly gradient: Tensor;
  /** Sums of squares of the gradient's blocks. */
  readonly block_squares: Tensor;
  /** (norm before clipping, clip factor). */
  readonly clip_2: Tensor;
  /** What was not finite in the gradient of the first refused step, u32 [W/4] (see `firstNotFinite`). */
  readonly refused: Tensor;
}

interface Allocator {
  rows(label: string, floats: number): Tensor;
  operand(label: string, floats: number): Operand;
}

function allocator(commands: Commands, capacity: number): Allocator {
  const { device, tuning: { operandMemory } } = commands.gpu;
  return {
    rows: (label, floats) => createTensor(device, { label, sizeBytes: capacity * floats * 4 }),
    operand: (label, floats) =>
      createRowOperand(device, {
        label,
        rowCount: capacity,
        width4: floats / 4,
        memory: operandMemory,
      }),
  };
}

function createBlock(make: Allocator, config: ModelConfig, layer: number): BlockActivations {
  const { width, feedForwardWidth, headCount } = config;
  const label = (name: string) => `${name} ${layer}`;
  return {
    x_ND: make.rows(label("x"), width),
    moments1_N2: make.rows(label("moments1"), 2),
    normed1_ND: make.operand(label("normed1"), width),
    qkv_N3D: make.operand(label("qkv"), 3 * width),
    o_ND: make.operand(label("attention output"), width),
    lse_NH: make.rows(label("attention lse"), headCount),
    middle_ND: make.rows(label("middle"), width),
    moments2_N2: make.rows(label("moments2"), 2),
    normed2_ND: make.operand(label("normed2"), width),
    z_NF: make.rows(label("z"), feedForwardWidth),
    gelu_NF: make.operand(label("gelu"), feedForwardWidth),
  };
}

/**
 * The most rows that one pass over the model can take on a device: what is larger must be cut. A tensor's rows must fit a
 * binding, and on software adapters the embedding's gradient adds up all rows of a token in one loop.
 */
export function maxBatchRows({ gpu }: Commands, config: ModelConfig): number {
  const { width, feedForwardWidth, vocabSize } = config;
  const widest = Math.max(
    3 * width,
    feedForwardWidth,
    tileWidth(vocabSize),
    4 * segmentCount(vocabSize),
  );
  const rows = Math.floor(gpu.device.limits.maxStorageBufferBindingSize / (4 * widest));
  return gpu.adapter.isSoftware ? Math.min(rows, MAX_ITERATIONS - 1) : rows;
}

/**
 * Allocates memory for batches of up to `capacity` tokens in episodes of up to `maxPositions`.
 * @param options.isTraining False shares one block's activations among all layers: enough for a forward.
 * @throws {UserError} When a tensor exceeds the device's limits.
 */
export function createWorkspace(
  commands: Commands,
  config: ModelConfig,
  options: {
    readonly capacity: number;
    readonly maxPositions: number;
    readonly isTraining: boolean;
  },
): Workspace {
  const { capacity, maxPositions, isTraining } = options;
  const { width, vocabSize, layerCount, headCount } = config;
  const make = allocator(commands, capacity);
  const angles = rotaryAngles(width / headCount, maxPositions);
  const angles_TK = createTensor(commands.gpu.device, {
    label: "rotary angles",
    sizeBytes: angles.byteLength,
  });
  commands.write(angles_TK, angles);
  const shared = isTraining ? undefined : createBlock(make, config, 0);
  const blocks = Array.from(
    { length: layerCount },
    (_, layer) => shared ?? createBlock(make, config, layer),
  );
  return {
    config,
    capacity,
    maxPositions,
    angles_TK,
    blocks,
    inputs: createBatchInputs(commands, config, { capacity, label: "inputs" }),
    scoredX_RD: make.rows("scored x", width),
    scoredO_RD: make.operand("scored attention output", width),
    final_RD: make.rows("final", width),
    momentsFinal_R2: make.rows("final moments", 2),
    hidden_RD: make.operand("hidden", width),
    segments: make.rows("log-prob segments", 4 * segmentCount(vocabSize)),
    result_R4: make.rows("log-probs", 4),
    reference_R4: make.rows("reference log-probs", 4),
  };
}

/**
 * Allocates memory for the backward pass.
 * @throws {UserError} When a tensor exceeds the device's limits.
 */
export function createGradientWorkspace(
  commands: Commands,
  config: ModelConfig,
  capacity: number,
): GradientWorkspace {
  const { width, feedForwardWidth, headCount, vocabSize } = config;
  const layout = parameterLayout(config);
  const make = allocator(commands, capacity);
  const tensor = (label: string, sizeBytes: number) =>
    createTensor(commands.gpu.device, { label, sizeBytes });
  const trunk = layout.head - (layout.blocks[0]?.ln1 ?? 0);
  const head = { width, vocabSize, weightOffset: layout.head };
  return {
    dresult_R2: make.rows("log-prob gradients", 2),
    dz_RC: make.operand("logit gradients", tileWidth(vocabSize)),
    headPartials: tensor("head partials", headPartialBytes(head)),
    dnormed_ND: make.rows("gradient of normed", width),
    dx_ND: [make.operand("gradient of x, even", width), make.operand("gradient of x, odd", width)],
    dz_NF: make.operand("gradient of z", feedForwardWidth),
    do_ND: make.rows("gradient of attention output", width),
    delta_NH: make.rows("attention delta", headCount),
    dqkv_N3D: make.operand("gradient of qkv", 3 * width),
    partials: tensor("gradient partials", ROW_CHUNKS * roundUp(trunk, 4) * 4),
    gradient: createFlat(commands, "gradient", layout.parameterCount),
    block_squares: tensor("squares", normBlockCount(layout.parameterCount) * 4),
    clip_2: tensor("clip", 8),
    refused: tensor("refused gradient", 4 * Math.ceil(layout.parameterCount / 4)),
  };
}

/** Frees every tensor and operand of a workspace, once. */
export function destroyWorkspace(workspace: Workspace | GradientWorkspace): void {
  const seen = new Set<Tensor | Operand>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if ("label" in value && "sizeBytes" in value) seen.add(value as Tensor | Operand);
    else Object.values(value).forEach(visit);
  };
  Object.entries(workspace).forEach(([name, value]) => name !== "config" && visit(value));
  seen.forEach(destroy);
}
