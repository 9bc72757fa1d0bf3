/** What a checkpoint of a pre-norm decoder is: its sizes, its rotary positions, and which architecture orders them. */
import { UserError } from "../core/errors.ts";

/** How the turns of pairs are slowed for long contexts. */
export type RopeScaling =
  | { readonly kind: "none" }
  | { readonly kind: "linear"; readonly factor: number }
  | {
    readonly kind: "llama3";
    readonly factor: number;
    readonly lowFactor: number;
    readonly highFactor: number;
    /** Positions of the first training. */
    readonly originalPositions: number;
  };

/** Names of the architectures that are read, as `model_type` in config.json. */
export type ArchitectureName = "llama" | "qwen2" | "qwen3";

/** A decoder with RMSNorm, gated SiLU, grouped queries and rotary positions. */
export interface DecoderConfig {
  /** Which architecture orders its layers. */
  readonly architecture: ArchitectureName;
  /** V. */
  readonly vocabSize: number;
  /** D. */
  readonly width: number;
  /** H. */
  readonly headCount: number;
  /** G, heads of keys and values; H is a multiple of it. */
  readonly groupCount: number;
  /** K, which need not be D/H. */
  readonly headWidth: number;
  /** F. */
  readonly feedForwardWidth: number;
  /** L. */
  readonly layerCount: number;
  /** Added to the mean square in norms. */
  readonly epsilon: number;
  /** Base of the rotary angles. */
  readonly theta: number;
  /** How they are scaled. */
  readonly scaling: RopeScaling;
  /** Which products have biases. */
  readonly biases: {
    readonly qkv: boolean;
    readonly attentionOutput: boolean;
    readonly feedForward: boolean;
  };
  /** Whether queries and keys are normalized by head. */
  readonly hasHeadNorm: boolean;
  /** Whether the token table is the head. */
  readonly isTied: boolean;
}

/** The widest head that attention is tried with: it is written out, and takes seconds to compile. */
const MAX_HEAD_WIDTH = 256;

/**
 * Refuses sizes that the kernels cannot compute.
 * @param source What error sentences call the place that they come from.
 * @throws {UserError} With the size found and what is allowed.
 */
export function checkDecoderConfig(config: DecoderConfig, source: string): void {
  const refuse = (reason: string) => new UserError(`Cannot use ${source}: ${reason}`);
  const { headCount, groupCount, headWidth } = config;
  const widths = {
    hidden_size: config.width,
    intermediate_size: config.feedForwardWidth,
    head_dim: headWidth,
  };
  for (const [name, width] of Object.entries(widths)) {
    if (width % 8 !== 0) throw refuse(`${name} is ${width}, but must be a multiple of 8`);
  }
  if (headWidth > MAX_HEAD_WIDTH) {
    throw refuse(`head_dim is ${headWidth}, but at most ${MAX_HEAD_WIDTH} are allowed`);
  }
  if (headCount % groupCount !== 0) {
    throw refuse(
      `num_attention_heads is ${headCount}, but must be a multiple of num_key_value_heads, ${groupCount}`,
    );
  }
}

/** Radians that pair p of a head turns by from one position to the next. */
function ropeFrequency(pair: number, { headWidth, theta, scaling }: DecoderConfig): number {
  const frequency = theta ** (-2 * pair / headWidth);
  switch (scaling.kind) {
    case "none":
      return frequency;
    case "linear":
      return frequency / scaling.factor;
    case "llama3": {
      const { factor, lowFactor, highFactor, originalPositions } = scaling;
      const turns = originalPositions * frequency / (2 * Math.PI);
      const kept = Math.min(1, Math.max(0, (turns - lowFactor) / (highFactor - lowFactor)));
      return kept * frequency + (1 - kept) * frequency / factor;
    }
    default:
      return scaling satisfies never;
  }
}

/**
 * Cosines and sines of every position and pair, computed in float64 so that they are the same on every adapter.
 * @returns f32 [T, 2, K/2].
 */
export function ropeAngles(
  config: DecoderConfig,
  maxPositions: number,
): Float32Array<ArrayBuffer> {
  const { headWidth } = config;
  const half = headWidth / 2;
  const frequencies = Array.from({ length: half }, (_, pair) => ropeFrequency(pair, config));
  const angles = new Float32Array(maxPositions * headWidth);
  for (let position = 0; position < maxPositions; position++) {
    frequencies.forEach((frequency, pair) => {
      angles[position * headWidth + pair] = Math.cos(position * frequency);
      angles[position * headWidth + half + pair] = Math.sin(position * frequency);
    });
  }
  return angles;
}
