/** The shape of a TinyAgent and the layout of its parameters in one flat buffer. */

/** Sizes of a decoder-only transformer (pre-LayerNorm, rotary positions, GELU, untied head). */
export interface ModelConfig {
  /** V, tokens of the vocabulary. */
  readonly vocabSize: number;
  /** D, a multiple of 16. */
  readonly width: number;
  /** H; the head width D/H is a multiple of 4 and at most 128. */
  readonly headCount: number;
  /** F, a multiple of 16. */
  readonly feedForwardWidth: number;
  /** L. */
  readonly layerCount: number;
}

/** The model of the gym: 157,244 parameters. */
export const TINY_AGENT: ModelConfig = {
  vocabSize: 60,
  width: 64,
  headCount: 4,
  feedForwardWidth: 256,
  layerCount: 3,
};

/** What a parameter is to the model; its initial values follow from it. */
export type ParameterRole = "embedding" | "linear" | "norm_gain" | "norm_bias";

/** One named parameter and where it lies in the flat buffer, in floats. */
export interface ParameterRange {
  /** As in checkpoints, for example `blocks.0.qkv.weight`. */
  readonly name: string;
  /** Weight and bias of a linear layer are both `linear`. */
  readonly role: ParameterRole;
  /** Inputs that each output of its layer adds up; of a norm or a table 1. */
  readonly fanIn: number;
  /** Outermost axis first. */
  readonly shape: readonly number[];
  /** Floats before it. */
  readonly offset: number;
  /** Floats in it. */
  readonly length: number;
}

/** Where one transformer block's parameters start, in floats of the flat buffer. */
export interface BlockOffsets {
  /** Gain of the LayerNorm before attention; its bias follows. */
  readonly ln1: number;
  /** Gain of the LayerNorm before the feed-forward; its bias follows. */
  readonly ln2: number;
  /** Weight [3D, D], rows [q | k | v][head][K]. */
  readonly qkv: number;
  /** Weight [D, D]; its bias follows. */
  readonly proj: number;
  /** Weight [F, D]; its bias follows. */
  readonly fc: number;
  /** Weight [D, F]; its bias follows. */
  readonly out: number;
}

/** The whole layout: W floats, in the order and with the names of the checkpoints. */
export interface ParameterLayout {
  /** Every parameter, in order. */
  readonly ranges: readonly ParameterRange[];
  /** W. */
  readonly parameterCount: number;
  /** The token table [V, D]. */
  readonly embedding: number;
  /** One record per layer. */
  readonly blocks: readonly BlockOffsets[];
  /** Gain of the last LayerNorm; its bias follows. */
  readonly finalNorm: number;
  /** Weight [V, D]; its bias follows. */
  readonly head: number;
}

/** Refuses sizes that the kernels cannot compute. @throws {RangeError} With the size found and what is allowed. */
export function checkConfig(config: ModelConfig): void {
  const { vocabSize, width, headCount, feedForwardWidth, layerCount } = config;
  for (const [name, value] of Object.entries(config)) {
    if (!(Number.isInteger(value) && value > 0)) {
      throw new RangeError(
        `Cannot build a model: ${name} is ${value}, but must be a positive integer`,
      );
    }
  }
  if (vocabSize < 2) {
    throw new RangeError("Cannot build a model: vocabSize is 1, but must be at least 2");
  }
  if (width % 16 !== 0 || feedForwardWidth % 16 !== 0) {
    throw new RangeError(
      `Cannot build a model: width ${width} and feedForwardWidth ${feedForwardWidth} must be multiples of 16`,
    );
  }
  const headWidth = width / headCount;
  if (headWidth % 4 !== 0 || headWidth > 128) {
    throw new RangeError(
      `Cannot build a model: width ${width} over ${headCount} heads gives ${headWidth}, ` +
        "but a head is a multiple of 4 wide and at most 128",
    );
  }
  if (layerCount > 256) {
    throw new RangeError(
      `Cannot build a model: layerCount is ${layerCount}, at most 256 are allowed`,
    );
  }
}

/**
 * Lays out the parameters: token table, blocks, last LayerNorm, head. A bias lies right after its weight, which the
 * kernels rely on.
 * @throws {RangeError} When the config is not allowed.
 */
export function parameterLayout(config: ModelConfig): ParameterLayout {
  checkConfig(config);
  const { vocabSize, width, feedForwardWidth, layerCount } = config;
  const ranges: ParameterRange[] = [];
  let offset = 0;
  const add = (name: string, { role, shape, fanIn = 1 }: {
    readonly role: ParameterRole;
    readonly shape: readonly number[];
    readonly fanIn?: number;
  }): number => {
    const length = shape.reduce((a, b) => a * b, 1);
    ranges.push({ name, role, fanIn, shape, offset, length });
    offset += length;
    return offset - length;
  };
  const addNorm = (name: string): number => {
    const start = add(`${name}.weight`, { role: "norm_gain", shape: [width] });
    add(`${name}.bias`, { role: "norm_bias", shape: [width] });
    return start;
  };
  const addWeight = (name: string, [outputs, fanIn]: readonly [number, number]): number =>
    add(`${name}.weight`, { role: "linear", shape: [outputs, fanIn], fanIn });
  const addLinear = (name: string, [outputs, fanIn]: readonly [number, number]): number => {
    const start = addWeight(name, [outputs, fanIn]);
    add(`${name}.bias`, { role: "linear", shape: [outputs], fanIn });
    return start;
  };
  const embedding = add("tok_emb.weight", { role: "embedding", shape: [vocabSize, width] });
  const blocks = Array.from({ length: layerCount }, (_, layer): BlockOffsets => ({
    ln1: addNorm(`blocks.${layer}.ln1`),
    ln2: addNorm(`blocks.${layer}.ln2`),
    qkv: addWeight(`blocks.${layer}.qkv`, [3 * width, width]),
    proj: addLinear(`blocks.${layer}.proj`, [width, width]),
    fc: addLinear(`blocks.${layer}.fc`, [feedForwardWidth, width]),
    out: addLinear(`blocks.${layer}.out`, [width, feedForwardWidth]),
  }));
  const finalNorm = addNorm("ln");
  const head = addLinear("head", [vocabSize, width]);
  return { ranges, parameterCount: offset, embedding, blocks, finalNorm, head };
}
