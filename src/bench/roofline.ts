/** The roofline: operations and bytes that rollouts and updates cannot do without, and the least time that they take. */
import { largest } from "../core/statistics.ts";
import { type ModelConfig, parameterLayout } from "../model/config.ts";
import { type BatchFacts, type DispatchParams, kernelWork } from "./kernel_work.ts";
import type { Peak } from "./peak.ts";

/** Work whose time has two lower bounds. */
export interface Work {
  /** A multiply-add counts as two. */
  readonly flops: number;
  readonly bytes: number;
}

/** Sizes of a batch that decide its work. */
export interface EpisodeCounts {
  /** Tokens of each episode. */
  readonly length_B: readonly number[];
  /** Tokens that the policy sampled, in all episodes together: so many log-probs are asked for. */
  readonly sampledCount: number;
}

/**
 * Operations of the products with the weights for `rowCount` tokens, of which `scoredCount` have a log-prob: behind the last
 * attention, and in the head, only those are needed.
 */
function productFlops(
  { width, feedForwardWidth, layerCount, vocabSize }: ModelConfig,
  { rowCount, scoredCount }: { readonly rowCount: number; readonly scoredCount: number },
): number {
  const product = (rows: number, inputs: number, column_count: number) =>
    kernelWork("linear_forward", { width4: inputs / 4, column_count }, {
      rowCount: rows,
      pairCount: 0,
      vocabSize,
    }).flops;
  const behindAttention = (rows: number) =>
    product(rows, width, width) + product(rows, width, feedForwardWidth) +
    product(rows, feedForwardWidth, width);
  return layerCount * product(rowCount, width, 3 * width) +
    (layerCount - 1) * behindAttention(rowCount) + behindAttention(scoredCount) +
    product(scoredCount, width, vocabSize);
}

/** Operations of some kernels of attention in all layers. */
function attentionFlops(
  { width, headCount, layerCount }: ModelConfig,
  { kernels, pairCount }: { readonly kernels: readonly string[]; readonly pairCount: number },
): number {
  const params: DispatchParams = { width4: width / 4, head_count: headCount };
  const facts: BatchFacts = { rowCount: 0, vocabSize: 0, pairCount };
  return layerCount * kernels.reduce((sum, name) => sum + kernelWork(name, params, facts).flops, 0);
}

function sumOver(length_B: readonly number[], count: (length: number) => number): number {
  return length_B.reduce((sum, length) => sum + count(length), 0);
}

/**
 * The least work of a rollout.
 *
 * Operations: the blocks' products and attention over itself and all before it, for every token but an episode's last one,
 * which nothing is computed for; behind the last attention, and in the head, for sampled tokens. Bytes: at each position the weights (without the token
 * table), once for all episodes; for each token, keys and values of all before it are read and its own written. Small
 * operations (LayerNorm, GELU, rotary positions, softmax, sampling) are not counted. A cache may hold what is counted as
 * read: then only the operations bound the time.
 *
 * @param config The model.
 * @param counts The real lengths of the episodes.
 */
export function rolloutWork(
  config: ModelConfig,
  { length_B, sampledCount }: EpisodeCounts,
): Work {
  const { width, layerCount, vocabSize } = config;
  const rowCount = sumOver(length_B, (length) => length - 1);
  const pairCount = sumOver(length_B, (length) => (length - 1) * length / 2);
  const positions = largest(length_B) - 1;
  const weights = parameterLayout(config).parameterCount - vocabSize * width;
  // Reads pair a token with those before it, writes with itself: together one for each pair.
  const cacheBytes = layerCount * 2 * width * 4 * pairCount;
  return {
    flops: productFlops(config, { rowCount, scoredCount: sampledCount }) +
      attentionFlops(config, { kernels: ["attention_forward"], pairCount }),
    bytes: positions * weights * 4 + cacheBytes,
  };
}

/** The least work of an update's passes, one after the other. */
export interface UpdateWork {
  readonly forward: Work;
  readonly backward: Work;
  /** Of one optimizer step. */
  readonly optimizer: Work;
}

/**
 * The least work of one forward and backward of a batch, and of an optimizer step.
 *
 * Operations: products and attention of every token, forward, behind the last attention of scored ones; twice the products
 * backward (gradients of inputs and of weights) and both halves of attention's backward as the kernels compute it. Bytes: of norm, clip and Adam alone, which
 * are bound by memory. Small operations and the traffic of activations are not counted.
 *
 * @param config The model.
 * @param counts The real lengths of the episodes, and their tokens with a log-prob in the loss.
 */
export function updateWork(
  config: ModelConfig,
  { length_B, sampledCount }: EpisodeCounts,
): UpdateWork {
  const rowCount = sumOver(length_B, (length) => length);
  const pairCount = sumOver(length_B, (length) => length * (length + 1) / 2);
  const products = productFlops(config, { rowCount, scoredCount: sampledCount });
  const attention = (...kernels: string[]) => attentionFlops(config, { kernels, pairCount });
  const vec4_count = parameterLayout(config).parameterCount / 4;
  const optimizerBytes = ["gradient_norm", "clip_adam"].map((name) =>
    kernelWork(name, { vec4_count }, { rowCount, vocabSize: 0, pairCount }).bytes
  );
  return {
    forward: { flops: products + attention("attention_forward"), bytes: 0 },
    backward: {
      flops: 2 * products +
        attention("attention_backward_query", "attention_backward_key_value"),
      bytes: 0,
    },
    optimizer: { flops: 0, bytes: optimizerBytes.reduce((sum, bytes) => sum + bytes, 0) },
  };
}

/**
 * The least time of passes that follow each other: Σ max(operations / peak rate, bytes / peak bandwidth).
 *
 * @param passes Their work.
 * @param peak The measured rates.
 * @returns Milliseconds.
 */
export function boundMs(passes: readonly Work[], { gflops, gbPerSecond }: Peak): number {
  const boundNs = passes.map(({ flops, bytes }) => Math.max(flops / gflops, bytes / gbPerSecond));
  return boundNs.reduce((sum, ns) => sum + ns, 0) / 1e6;
}
