/** The forward of a decoder over rows of one or more sequences, from token ids to log-probs and entropies. */
import { at } from "../core/element.ts";
import type { Commands, Plan } from "../gpu/commands.ts";
import {
  createRowOperand,
  createTensor,
  destroy,
  type Operand,
  type Tensor,
} from "../gpu/tensor.ts";
import { addGatedSiluForward } from "../kernels/gated_silu.ts";
import { addGroupedAttentionForward, type PositionSize } from "../kernels/grouped_attention.ts";
import { addHeadRotaryForward } from "../kernels/head_rotary.ts";
import { type LogprobSize, segmentCount } from "../kernels/logprob.ts";
import { addRmsnormForward } from "../kernels/rmsnorm.ts";
import {
  addStoredEmbeddingForward,
  addStoredLinearForward,
  addStoredLogprobForward,
} from "../kernels/stored_weights.ts";
import type { LayerLayout } from "./architectures.ts";
import { type DecoderConfig, ropeAngles } from "./decoder_config.ts";
import type { DecoderWeights } from "./decoder_weights.ts";

/** Keys and values of earlier rows. */
interface KeyValueCache {
  readonly key_cache: Operand;
  readonly value_cache: Operand;
}

/** Device memory of a forward beyond the weights. */
export interface DecoderWorkspace {
  /** u32 [N, 4]: id, position, cache row of the sequence's first token, cache row. */
  readonly token_N4: Tensor;
  /** u32 [N]: the token whose log-prob is asked for. */
  readonly target_N: Tensor;
  /** (log-prob, entropy, log-sum-exp, 0) of each row. */
  readonly result_N4: Tensor;
  readonly angles: Tensor;
  readonly x_ND: Tensor;
  readonly normed_ND: Operand;
  /** Queries, keys and values, and gates: what products write and no later product reads. */
  readonly wide_NM: Tensor;
  readonly q_NHK: Operand;
  readonly state_NHK: Tensor;
  readonly sums_NH: Tensor;
  readonly o_NHK: Operand;
  readonly gated_NF: Operand;
  readonly segments: Tensor;
  /** One a layer, or one for all where no sequence is cut. */
  readonly caches: readonly KeyValueCache[];
  /** Positions that angles and attention reach. */
  readonly maxPositions: number;
  /** Bytes of all of them. */
  readonly sizeBytes: number;
}

/** What a replay of the forward is given. */
export interface DecoderSize extends PositionSize, LogprobSize {}

/** Columns of the widest rows that products write. */
export function widestRow(
  { headCount, groupCount, headWidth, feedForwardWidth }: DecoderConfig,
): number {
  return Math.max((headCount + 2 * groupCount) * headWidth, 2 * feedForwardWidth);
}

/**
 * Allocates what a forward needs.
 * @param options.capacity Rows at once, N.
 * @param options.maxPositions Positions of the longest sequence.
 * @param options.cacheRows Rows of a cache.
 * @param options.isCut Whether a sequence is longer than `capacity`, so that every layer keeps its own keys.
 * @throws {UserError} When something exceeds what one binding may hold.
 */
export function createDecoderWorkspace(
  commands: Commands,
  config: DecoderConfig,
  options: {
    readonly capacity: number;
    readonly maxPositions: number;
    readonly cacheRows: number;
    readonly isCut: boolean;
  },
): DecoderWorkspace {
  const { gpu: { device, tuning: { operandMemory: memory } } } = commands;
  const { capacity, maxPositions, cacheRows, isCut } = options;
  const { width, headCount, groupCount, headWidth, feedForwardWidth, vocabSize } = config;
  const owned: (Tensor | Operand)[] = [];
  const keep = <T extends Tensor | Operand>(made: T): T => {
    owned.push(made);
    return made;
  };
  const floats = (label: string, count: number) =>
    keep(createTensor(device, { label, sizeBytes: 4 * count }));
  const rows = (label: string, columns: number, rowCount = capacity) =>
    keep(createRowOperand(device, { label, rowCount, width4: columns / 4, memory }));
  try {
    const heads = capacity * headCount;
    const cache = (label: string) => rows(label, groupCount * headWidth, cacheRows);
    const workspace = {
      token_N4: floats("tokens", 4 * capacity),
      target_N: floats("targets", capacity),
      result_N4: floats("results", 4 * capacity),
      angles: floats("angles", maxPositions * headWidth),
      x_ND: floats("hidden states", capacity * width),
      normed_ND: rows("normalized rows", width),
      wide_NM: floats("wide rows", capacity * widestRow(config)),
      q_NHK: rows("queries", headCount * headWidth),
      state_NHK: floats("attention so far", heads * headWidth),
      sums_NH: floats("sums of attention", 2 * heads),
      o_NHK: rows("attention", headCount * headWidth),
      gated_NF: rows("gated rows", feedForwardWidth),
      segments: floats("segments of the head", 4 * capacity * segmentCount(vocabSize)),
      caches: Array.from({ length: isCut ? config.layerCount : 1 }, () => ({
        key_cache: cache("cached keys"),
        value_cache: cache("cached values"),
      })),
      maxPositions,
    };
    commands.write(workspace.angles, ropeAngles(config, maxPositions));
    return { ...workspace, sizeBytes: owned.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) };
  } catch (error) {
    owned.forEach(destroy);
    throw error;
  }
}

/** Frees a workspace. */
export function destroyDecoderWorkspace(workspace: DecoderWorkspace): void {
  const { caches, maxPositions: _positions, sizeBytes: _bytes, ...memory } = workspace;
  Object.values(memory).forEach(destroy);
  for (const { key_cache, value_cache } of caches) [key_cache, value_cache].forEach(destroy);
}

/** What the parts of the forward share. */
interface Forward {
  readonly commands: Commands;
  readonly plan: Plan<DecoderSize>;
  readonly weights: DecoderWeights;
  readonly workspace: DecoderWorkspace;
}

function addNorm({ commands, plan, weights, workspace }: Forward, gainOffset: number): void {
  addRmsnormForward(commands, plan, {
    x_ND: workspace.x_ND,
    vectors: weights.vectors,
    y_ND: workspace.normed_ND,
    width: weights.config.width,
    gainOffset,
    epsilon: weights.config.epsilon,
  });
}

function addProduct(
  { commands, plan, weights }: Forward,
  options: {
    readonly x_NK: Operand;
    readonly y_NM: Tensor;
    /** Its place in the layout. */
    readonly matrix: number;
    readonly biasOffset: number | undefined;
    readonly accumulate: boolean;
  },
): void {
  const { matrix, ...rest } = options;
  addStoredLinearForward(commands, plan, {
    ...rest,
    matrix: at(weights.matrices, matrix),
    vectors: weights.vectors,
    columnCount: at(weights.layout.matrices, matrix).rowCount,
  });
}

function addAttention(forward: Forward, layer: LayerLayout, cache: KeyValueCache): void {
  const { commands, plan, weights: { config, vectors }, workspace } = forward;
  const { token_N4, angles, q_NHK, wide_NM, normed_ND, o_NHK, x_ND } = workspace;
  const { queryGain, keyGain } = layer;
  addNorm(forward, layer.attentionGain);
  addProduct(forward, {
    x_NK: normed_ND,
    y_NM: wide_NM,
    matrix: layer.qkv,
    biasOffset: layer.qkvBias,
    accumulate: false,
  });
  addHeadRotaryForward(commands, plan, {
    qkv_NM: wide_NM,
    token_N4,
    angles,
    vectors,
    q_NHK,
    ...cache,
    shape: config,
    norm: queryGain === undefined || keyGain === undefined
      ? undefined
      : { queryGain, keyGain, epsilon: config.epsilon },
  });
  addGroupedAttentionForward(commands, plan, {
    q_NHK,
    ...cache,
    token_N4,
    state_NHK: workspace.state_NHK,
    sums_NH: workspace.sums_NH,
    o_NHK,
    shape: config,
    maxPositions: workspace.maxPositions,
  });
  addProduct(forward, {
    x_NK: o_NHK,
    y_NM: x_ND,
    matrix: layer.attentionOutput,
    biasOffset: layer.attentionOutputBias,
    accumulate: true,
  });
}

function addFeedForward(forward: Forward, layer: LayerLayout): void {
  const { commands, plan, weights: { config }, workspace } = forward;
  const { wide_NM, normed_ND, gated_NF, x_ND } = workspace;
  addNorm(forward, layer.feedForwardGain);
  addProduct(forward, {
    x_NK: normed_ND,
    y_NM: wide_NM,
    matrix: layer.gateUp,
    biasOffset: layer.gateUpBias,
    accumulate: false,
  });
  addGatedSiluForward(commands, plan, {
    gate_up_N2F: wide_NM,
    y_NF: gated_NF,
    width: config.feedForwardWidth,
  });
  addProduct(forward, {
    x_NK: gated_NF,
    y_NM: x_ND,
    matrix: layer.down,
    biasOffset: layer.downBias,
    accumulate: true,
  });
}

/** The forward as a plan: tokens and targets of the workspace to its results. */
export function decoderPlan(
  commands: Commands,
  { weights, workspace }: {
    readonly weights: DecoderWeights;
    readonly workspace: DecoderWorkspace;
  },
): Plan<DecoderSize> {
  const plan = commands.plan<DecoderSize>();
  const { layout, matrices, config } = weights;
  const forward: Forward = { commands, plan, weights, workspace };
  const { token_N4, x_ND, normed_ND, target_N, segments, result_N4, caches } = workspace;
  addStoredEmbeddingForward(commands, plan, { token_N4, matrix: at(matrices, layout.table), x_ND });
  layout.layers.forEach((layer, l) => {
    addAttention(forward, layer, at(caches, l % caches.length));
    addFeedForward(forward, layer);
  });
  addNorm(forward, layout.finalGain);
  addStoredLogprobForward(commands, plan, {
    h_ND: normed_ND,
    matrix: at(matrices, layout.head),
    target_N,
    segments,
    result_N4,
    vocabSize: config.vocabSize,
  });
  return plan;
}
