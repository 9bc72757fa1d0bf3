/** The whole model over packed tokens, forward and backward, composed of the reference ops: read it top to bottom. */
import { attentionBackward, attentionForward, type AttentionOptions } from "./attention.ts";
import { embeddingBackward, embeddingForward } from "./embedding.ts";
import { layernormBackward, layernormForward, type LayernormResult } from "./layernorm.ts";
import { linearBackward, linearForward, type LinearResult } from "./linear.ts";

/** Sizes of a decoder of this kind. */
export interface TinyAgentShape {
  /** L. */
  readonly layerCount: number;
  /** D, width of the residual stream; a multiple of `headCount`. */
  readonly width: number;
  /** H. */
  readonly headCount: number;
  /** F, 4 D in TinyAgent. */
  readonly feedForwardWidth: number;
  /** V. */
  readonly vocabularySize: number;
}

/** Named parameters or gradients, e.g. `blocks.0.qkv.weight`. */
export type NamedArrays = Readonly<Record<string, ArrayLike<number>>>;

/** N packed tokens: episodes one after another, without pad rows. */
export interface PackedTokens {
  /** Token ids in [0, V). */
  readonly ids_N: ArrayLike<number>;
  /** Row at which the episode of each row begins. */
  readonly startOfEpisode_N: ArrayLike<number>;
  /** Index of each row's token in its episode. */
  readonly position_N: ArrayLike<number>;
}

/** What one block stores for its backward, in the order of computation. */
export interface BlockActivations {
  /** The residual stream before the block. */
  readonly x_ND: ArrayLike<number>;
  /** Normalization before the attention. */
  readonly ln1: LayernormResult;
  /** Queries, keys and values before the rotary turn. */
  readonly qkv_N3D: Float64Array;
  /** Output of the attention before its projection. */
  readonly o_ND: Float64Array;
  /** The residual stream between attention and feed-forward. */
  readonly mid_ND: Float64Array;
  /** Normalization before the feed-forward. */
  readonly ln2: LayernormResult;
  /** The widened layer, before and after its GELU. */
  readonly fc: LinearResult;
}

/** What {@link tinyAgentForward} returns; `blocks`, `x_ND` and `ln` are for its backward. */
export interface TinyAgentActivations {
  /** One entry per block, in order. */
  readonly blocks: readonly BlockActivations[];
  /** The residual stream after the last block. */
  readonly x_ND: Float64Array;
  /** The final layer normalization. */
  readonly ln: LayernormResult;
  /** Hidden states after the final layer normalization, the input of the head. */
  readonly hidden_ND: Float64Array;
  /** Row n holds the logits of the token that follows token n. */
  readonly logits_NV: Float64Array;
}

/** The model's sizes and the tokens it runs over. */
export interface ModelOptions {
  /** Sizes of the model. */
  readonly shape: TinyAgentShape;
  /** Packed episodes. */
  readonly tokens: PackedTokens;
}

/**
 * x = embedding(ids); per block x += proj(attention(qkv(ln1(x)))), x += out(gelu(fc(ln2(x)))); logits = head(ln(x)).
 *
 * @param parameters Every array under the name that checkpoints use.
 * @throws {RangeError} When a parameter is missing or has another size, or an id is not in [0, V).
 */
export function tinyAgentForward(
  parameters: NamedArrays,
  { shape, tokens }: ModelOptions,
): TinyAgentActivations {
  const { width, vocabularySize } = shape;
  const rowCount = tokens.ids_N.length;
  const get = (name: string) => namedArray(parameters, name);
  let x_ND = embeddingForward(tokens.ids_N, get("tok_emb.weight"), {
    rowCount,
    width,
    vocabularySize,
  });
  const blocks: BlockActivations[] = [];
  for (let layer = 0; layer < shape.layerCount; layer++) {
    const block = blockForward(x_ND, {
      get: (name) => get(`blocks.${layer}.${name}`),
      shape,
      tokens,
    });
    blocks.push(block.activations);
    x_ND = block.y_ND;
  }
  const ln = layernormForward(x_ND, {
    rowCount,
    width,
    gain_D: get("ln.weight"),
    bias_D: get("ln.bias"),
  });
  const hidden_ND = ln.y_ND;
  const head = linearForward(hidden_ND, {
    rowCount,
    inputWidth: width,
    outputWidth: vocabularySize,
    weight_OI: get("head.weight"),
    bias_O: get("head.bias"),
  });
  return { blocks, x_ND, ln, hidden_ND, logits_NV: head.y_NO };
}

/**
 * Gradient of every parameter of {@link tinyAgentForward}, under the parameters' names.
 *
 * @param parameters The forward's parameters.
 * @param options The forward's options, what it returned, and the gradient of its logits (where a log-prob is the
 *   output, `logprobFromLogitsBackward` gives that gradient).
 * @throws {RangeError} When an array does not fit the shape.
 */
export function tinyAgentBackward(
  parameters: NamedArrays,
  options: ModelOptions & {
    readonly activations: TinyAgentActivations;
    readonly dlogits_NV: ArrayLike<number>;
  },
): Record<string, Float64Array> {
  const { shape, tokens, activations, dlogits_NV } = options;
  const { width, vocabularySize } = shape;
  const rowCount = tokens.ids_N.length;
  const get = (name: string) => namedArray(parameters, name);
  const gradient: Record<string, Float64Array> = {};
  // Forward: logits = head(hidden)
  const head = linearBackward(dlogits_NV, {
    rowCount,
    inputWidth: width,
    outputWidth: vocabularySize,
    x_NI: activations.hidden_ND,
    weight_OI: get("head.weight"),
  });
  gradient["head.weight"] = head.dweight_OI;
  gradient["head.bias"] = head.dbias_O;
  // Forward: hidden = ln(x)
  const ln = layernormBackward(head.dx_NI, {
    rowCount,
    width,
    x_ND: activations.x_ND,
    gain_D: get("ln.weight"),
    ...activations.ln,
  });
  gradient["ln.weight"] = ln.dgain_D;
  gradient["ln.bias"] = ln.dbias_D;
  let dx_ND = ln.dx_ND;
  for (let layer = shape.layerCount - 1; layer >= 0; layer--) {
    const block = blockBackward(dx_ND, {
      get: (name) => get(`blocks.${layer}.${name}`),
      shape,
      tokens,
      activations: activations.blocks[layer],
    });
    for (const [name, array] of Object.entries(block.gradient)) {
      gradient[`blocks.${layer}.${name}`] = array;
    }
    dx_ND = block.dx_ND;
  }
  // Forward: x = embedding(ids)
  gradient["tok_emb.weight"] = embeddingBackward(dx_ND, tokens.ids_N, {
    rowCount,
    width,
    vocabularySize,
  });
  return gradient;
}

interface BlockOptions extends ModelOptions {
  /** A parameter of this block by its name within the block. */
  readonly get: (name: string) => ArrayLike<number>;
}

function blockForward(x_ND: Float64Array, { get, shape, tokens }: BlockOptions) {
  const { width: D, feedForwardWidth: F } = shape;
  const rowCount = tokens.ids_N.length;
  const ln1 = layernormForward(x_ND, {
    rowCount,
    width: D,
    gain_D: get("ln1.weight"),
    bias_D: get("ln1.bias"),
  });
  const qkv_N3D = linearForward(ln1.y_ND, {
    rowCount,
    inputWidth: D,
    outputWidth: 3 * D,
    weight_OI: get("qkv.weight"),
  }).y_NO;
  const o_ND = attentionForward(qkv_N3D, attentionOptions(shape, tokens));
  const mid_ND = linearForward(o_ND, {
    rowCount,
    inputWidth: D,
    outputWidth: D,
    weight_OI: get("proj.weight"),
    bias_O: get("proj.bias"),
    epilogue: "residual",
    residual_NO: x_ND,
  }).y_NO;
  const ln2 = layernormForward(mid_ND, {
    rowCount,
    width: D,
    gain_D: get("ln2.weight"),
    bias_D: get("ln2.bias"),
  });
  const fc = linearForward(ln2.y_ND, {
    rowCount,
    inputWidth: D,
    outputWidth: F,
    weight_OI: get("fc.weight"),
    bias_O: get("fc.bias"),
    epilogue: "gelu",
  });
  const y_ND = linearForward(fc.y_NO, {
    rowCount,
    inputWidth: F,
    outputWidth: D,
    weight_OI: get("out.weight"),
    bias_O: get("out.bias"),
    epilogue: "residual",
    residual_NO: mid_ND,
  }).y_NO;
  return { y_ND, activations: { x_ND, ln1, qkv_N3D, o_ND, mid_ND, ln2, fc } };
}

type BlockBackwardOptions = BlockOptions & { readonly activations: BlockActivations };

interface BlockGradient {
  readonly dx_ND: Float64Array;
  readonly gradient: Readonly<Record<string, Float64Array>>;
}

function blockBackward(dy_ND: Float64Array, options: BlockBackwardOptions): BlockGradient {
  // Forward: mid = x + proj(attention(qkv(ln1(x)))), y = mid + out(gelu(fc(ln2(mid))))
  const feedForward = feedForwardBackward(dy_ND, options);
  const attention = attentionBranchBackward(feedForward.dx_ND, options);
  return {
    dx_ND: attention.dx_ND,
    gradient: { ...attention.gradient, ...feedForward.gradient },
  };
}

function feedForwardBackward(dy_ND: Float64Array, options: BlockBackwardOptions): BlockGradient {
  const { get, shape: { width: D, feedForwardWidth: F } } = options;
  const { mid_ND, ln2, fc } = options.activations;
  const rowCount = options.tokens.ids_N.length;
  // Forward: y = mid + out(fc)
  const out = linearBackward(dy_ND, {
    rowCount,
    inputWidth: F,
    outputWidth: D,
    x_NI: fc.y_NO,
    weight_OI: get("out.weight"),
  });
  // Forward: fc = gelu(ln2 Wᵀ + b)
  const dfc = linearBackward(out.dx_NI, {
    rowCount,
    inputWidth: D,
    outputWidth: F,
    x_NI: ln2.y_ND,
    weight_OI: get("fc.weight"),
    geluPreActivation_NO: fc.preActivation_NO,
  });
  // Forward: ln2 = layernorm(mid)
  const dln2 = layernormBackward(dfc.dx_NI, {
    rowCount,
    width: D,
    x_ND: mid_ND,
    gain_D: get("ln2.weight"),
    ...ln2,
  });
  return {
    dx_ND: dy_ND.map((dy, i) => dy + dln2.dx_ND[i]),
    gradient: {
      "ln2.weight": dln2.dgain_D,
      "ln2.bias": dln2.dbias_D,
      "fc.weight": dfc.dweight_OI,
      "fc.bias": dfc.dbias_O,
      "out.weight": out.dweight_OI,
      "out.bias": out.dbias_O,
    },
  };
}

function attentionBranchBackward(
  dmid_ND: Float64Array,
  options: BlockBackwardOptions,
): BlockGradient {
  const { get, shape, tokens } = options;
  const { x_ND, ln1, qkv_N3D, o_ND } = options.activations;
  const { width: D } = shape;
  const rowCount = tokens.ids_N.length;
  // Forward: mid = x + proj(o)
  const proj = linearBackward(dmid_ND, {
    rowCount,
    inputWidth: D,
    outputWidth: D,
    x_NI: o_ND,
    weight_OI: get("proj.weight"),
  });
  // Forward: o = attention(qkv)
  const dqkv_N3D = attentionBackward(proj.dx_NI, {
    ...attentionOptions(shape, tokens),
    qkv_N3D,
  });
  // Forward: qkv = ln1 Wᵀ
  const qkv = linearBackward(dqkv_N3D, {
    rowCount,
    inputWidth: D,
    outputWidth: 3 * D,
    x_NI: ln1.y_ND,
    weight_OI: get("qkv.weight"),
  });
  // Forward: ln1 = layernorm(x)
  const dln1 = layernormBackward(qkv.dx_NI, {
    rowCount,
    width: D,
    x_ND,
    gain_D: get("ln1.weight"),
    ...ln1,
  });
  return {
    dx_ND: dmid_ND.map((dmid, i) => dmid + dln1.dx_ND[i]),
    gradient: {
      "ln1.weight": dln1.dgain_D,
      "ln1.bias": dln1.dbias_D,
      "qkv.weight": qkv.dweight_OI,
      "proj.weight": proj.dweight_OI,
      "proj.bias": proj.dbias_O,
    },
  };
}

function attentionOptions(shape: TinyAgentShape, tokens: PackedTokens): AttentionOptions {
  return {
    rowCount: tokens.ids_N.length,
    headCount: shape.headCount,
    headWidth: shape.width / shape.headCount,
    startOfEpisode_N: tokens.startOfEpisode_N,
    position_N: tokens.position_N,
  };
}

function namedArray(arrays: NamedArrays, name: string): ArrayLike<number> {
  if (!Object.hasOwn(arrays, name)) {
    throw new RangeError(
      `Cannot run the reference model: parameter ${name} is missing among ${
        Object.keys(arrays).length
      } names`,
    );
  }
  return arrays[name];
}
