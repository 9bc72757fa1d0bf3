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

/** One named parameter and where it lies in the flat buffer, in floats. */
export interface ParameterRange {
  /** As in checkpoints, for example `blocks.0.qkv.weight`. */
  readonly name: string;
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
  /** One record a layer. */
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
 * Lays out the parameters: token table, blocks, last LayerNorm, head. A bias lies right behind its weight, which the
 * kernels rely on.
 * @throws {RangeError} When the config is not allowed.
 */
export function parameterLayout(config: ModelConfig): ParameterLayout {
  checkConfig(config);
  const { vocabSize, width, feedForwardWidth, layerCount } = config;
  const ranges: ParameterRange[] = [];
  let offset = 0;
  const add = (name: string, shape: readonly number[]): number => {
    const length = shape.reduce((a, b) => a * b, 1);
    ranges.push({ name, shape, offset, length });
    offset += length;
    return offset - length;
  };
  const addPair = (name: string, shape: readonly number[]): number => {
    const start = add(`${name}.weight`, shape);
    add(`${name}.bias`, shape.slice(0, 1));
    return start;
  };
  const embedding = add("tok_emb.weight", [vocabSize, width]);
  const blocks = Array.from({ length: layerCount }, (_, layer): BlockOffsets => ({
    ln1: addPair(`blocks.${layer}.ln1`, [width]),
    ln2: addPair(`blocks.${layer}.ln2`, [width]),
    qkv: add(`blocks.${layer}.qkv.weight`, [3 * width, width]),
    proj: addPair(`blocks.${layer}.proj`, [width, width]),
    fc: addPair(`blocks.${layer}.fc`, [feedForwardWidth, width]),
    out: addPair(`blocks.${layer}.out`, [width, feedForwardWidth]),
  }));
  const finalNorm = addPair("ln", [width]);
  const head = addPair("head", [vocabSize, width]);
  return { ranges, parameterCount: offset, embedding, blocks, finalNorm, head };
}
