/** The benchmark of scoring: log-probs and entropies of one sequence under random weights in the shape of a real model. */
import process from "node:process";
import { UserError } from "../core/errors.ts";
import { largest, median } from "../core/statistics.ts";
import type { Commands } from "../gpu/commands.ts";
import { availableBytes } from "../files/memory.ts";
import { decoderLayout } from "../model/architectures.ts";
import type { DecoderConfig } from "../model/decoder_config.ts";
import { destroyDecoderWeights, inGigabytes, weightBytes } from "../model/decoder_weights.ts";
import { scoreSequences } from "../model/score_sequences.ts";
import type { Peak } from "./peak.ts";
import { createRandomDecoder } from "./random_decoder.ts";
import { boundMs, type Work } from "./roofline.ts";

const QWEN2 = {
  architecture: "qwen2",
  epsilon: 1e-6,
  theta: 1e6,
  scaling: { kind: "none" },
  biases: { qkv: true, attentionOutput: false, feedForward: false },
  hasHeadNorm: false,
  isTied: true,
} as const;

/** Shapes by name: that of Qwen2.5-0.5B, and one to try things with. */
export const SCORE_SHAPES = {
  "qwen2.5-0.5b": {
    ...QWEN2,
    vocabSize: 151_936,
    width: 896,
    layerCount: 24,
    headCount: 14,
    groupCount: 2,
    headWidth: 64,
    feedForwardWidth: 4864,
  },
  small: {
    ...QWEN2,
    vocabSize: 4096,
    width: 64,
    layerCount: 2,
    headCount: 4,
    groupCount: 2,
    headWidth: 16,
    feedForwardWidth: 128,
  },
} as const satisfies Record<string, DecoderConfig>;

/** A shape's name. */
export type ScoreShape = keyof typeof SCORE_SHAPES;

/** Bytes beyond the weights that a pass over 512 tokens may need. */
export const SCORE_BYTES_BAR = 600e6;

/**
 * How far f32 engines may lie apart in a token's log-prob, in nats. Under random weights log-probs go below −80, and 24 layers of
 * f32 were 1.4e-4 apart; other weights or ids are apart by nats.
 */
export const SCORE_TOLERANCE = 1e-3;

/** The ids that are scored: one more than there are log-probs. */
export function benchIds(tokens: number, vocabSize: number): number[] {
  return Array.from({ length: tokens + 1 }, (_, t) => (7919 * (t + 3) ** 2) % vocabSize);
}

/**
 * The least work of a pass: products with every matrix once (of the table only where it is the head), attention of every token
 * over itself and those before it, and each weight read once. Small operations and the traffic of activations are not counted.
 */
export function scoreWork(
  config: DecoderConfig,
  options: { readonly tokens: number; readonly weightBytes: number },
): Work {
  const { tokens } = options;
  const { matrices, table, head } = decoderLayout(config);
  const products = matrices.reduce(
    (sum, { rowCount, width }, m) => m === table && head !== table ? sum : sum + rowCount * width,
    0,
  );
  const pairs = tokens * (tokens + 1) / 2;
  const attention = config.layerCount * config.headCount * config.headWidth * pairs;
  return { flops: 2 * tokens * products + 4 * attention, bytes: options.weightBytes };
}

/** A model that is ready to be timed. */
export interface ScoreBench {
  readonly weightBytes: number;
  /** Bytes on the device beyond the weights. */
  readonly workspaceBytes: number;
  /** Log-probs of the first pass, in nats. */
  readonly logp: Float32Array;
  readonly work: Work;
  /**
   * At most so many bytes did the process need beyond the weights, its own code included; null where the adapter has memory of
   * its own.
   */
  readonly processBytes: number | null;
  /** Scores the sequence once. @returns Milliseconds from ids to numbers on the host. */
  readonly measure: () => Promise<number>;
  /** Frees the model. */
  readonly free: () => void;
}

/**
 * Makes the model and scores once, which compiles what it needs.
 * @throws {UserError} When the model does not fit.
 */
export async function prepareScoreBench(
  commands: Commands,
  options: {
    readonly shape: ScoreShape;
    readonly tokens: number;
    readonly storage: "f32" | "bf16";
  },
): Promise<ScoreBench> {
  const { shape, tokens, storage } = options;
  const config: DecoderConfig = SCORE_SHAPES[shape];
  const layout = decoderLayout(config);
  const { isSoftware } = commands.gpu.adapter;
  const needed = weightBytes(layout, layout.matrices.map(() => storage));
  const free = isSoftware ? availableBytes() ?? Infinity : Infinity;
  if (needed > free) {
    throw new UserError(
      `Cannot make ${shape}: its weights need ${inGigabytes(needed)}, but ${
        inGigabytes(free)
      } are free`,
    );
  }
  const weights = await createRandomDecoder(commands, { config, storage });
  const ids_B = [benchIds(tokens, config.vocabSize)];
  const score = () => scoreSequences(commands, weights, { ids_B, temperature: 1 });
  const { scores_B, workspaceBytes } = await score();
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  return {
    weightBytes: weights.sizeBytes,
    workspaceBytes,
    logp: scores_B[0].logp,
    work: scoreWork(config, { tokens, weightBytes: weights.sizeBytes }),
    processBytes: isSoftware ? peakBytes - weights.sizeBytes : null,
    measure: async () => {
      const startMs = performance.now();
      await score();
      return performance.now() - startMs;
    },
    free: () => destroyDecoderWeights(weights),
  };
}

/** Medians over rounds. */
export interface ScoreRow {
  readonly ms: number;
  readonly tokensPerSecond: number;
  /** Operations per nanosecond. */
  readonly gflops: number;
  /** The least time by the adapter's peaks, as a share of the measured one. */
  readonly rooflineShare: number;
}

/** Summarizes the times of rounds. @throws {RangeError} When there is none. */
export function summarizeScores(
  ms_R: readonly number[],
  { tokens, work, peak }: {
    readonly tokens: number;
    readonly work: Work;
    readonly peak: Peak;
  },
): ScoreRow {
  const ms = median(ms_R);
  return {
    ms,
    tokensPerSecond: 1000 * tokens / ms,
    gflops: work.flops / ms / 1e6,
    rooflineShare: boundMs([work], peak) / ms,
  };
}

/** Largest difference of two engines' log-probs, in nats. */
export function farthestApart(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) {
    throw new UserError(`The peer scored ${b.length} tokens, not ${a.length}`);
  }
  return largest(Array.from(a, (value, t) => Math.abs(value - b[t])));
}
