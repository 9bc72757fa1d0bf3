/** A whole Llama, Qwen2 or Qwen3 decoder in float64, from weights by their names in Hugging Face checkpoints. */
import { gatedSiluForward } from "./gated_silu.ts";
import { groupedAttentionForward } from "./grouped_attention.ts";
import { headRotaryForward, type RotaryOptions } from "./head_rotary.ts";
import type { LogprobResult } from "./logprob.ts";
import { rmsnormForward } from "./rmsnorm.ts";
import {
  storedEmbeddingForward,
  storedLinearForward,
  storedLogprobForward,
} from "./stored_weights.ts";

/** Sizes of a decoder. Biases, head norms and an untied head are there where their weights are. */
export interface DecoderShape extends RotaryOptions {
  /** V. */
  readonly vocabSize: number;
  /** D. */
  readonly width: number;
  /** H. */
  readonly headCount: number;
  /** G. */
  readonly groupCount: number;
  /** F. */
  readonly feedForwardWidth: number;
  /** L. */
  readonly layerCount: number;
  readonly epsilon: number;
}

/** Weights by name, for example `model.layers.0.mlp.up_proj.weight`. */
export type NamedWeights = ReadonlyMap<string, ArrayLike<number>>;

/** Takes weights by name. */
class Decoder {
  constructor(readonly shape: DecoderShape, readonly weights: NamedWeights) {}

  weight(name: string): ArrayLike<number> {
    const found = this.weights.get(name);
    if (found === undefined) throw new RangeError(`Cannot compute decoderForward: no ${name}`);
    return found;
  }

  norm(x: ArrayLike<number>, rowCount: number, name: string): Float64Array {
    const { width, epsilon } = this.shape;
    return rmsnormForward(x, { rowCount, width, gain_D: this.weight(`${name}.weight`), epsilon });
  }

  linear(x: ArrayLike<number>, rowCount: number, name: string): Float64Array {
    const weight_MK = this.weight(`${name}.weight`);
    const inputWidth = x.length / rowCount;
    const outputWidth = weight_MK.length / inputWidth;
    const bias_M = this.weights.get(`${name}.bias`);
    return storedLinearForward(x, { rowCount, inputWidth, outputWidth, weight_MK, bias_M });
  }

  /** Queries or keys of a layer. */
  heads(x: Float64Array, rowCount: number, part: { name: string; norm: string; count: number }) {
    const gain_K = this.weights.get(`${part.norm}.weight`);
    return headRotaryForward(this.linear(x, rowCount, part.name), {
      ...this.shape,
      rowCount,
      headCount: part.count,
      position_N: Array.from({ length: rowCount }, (_, n) => n),
      norm: gain_K === undefined ? undefined : { gain_K, epsilon: this.shape.epsilon },
    });
  }

  attention(x: Float64Array, rowCount: number, name: string): Float64Array {
    const { headCount, groupCount, headWidth } = this.shape;
    const part = (letter: string, count: number) => ({
      name: `${name}.${letter}_proj`,
      norm: `${name}.${letter}_norm`,
      count,
    });
    const o_NHK = groupedAttentionForward(this.heads(x, rowCount, part("q", headCount)), {
      rowCount,
      headCount,
      groupCount,
      headWidth,
      first_N: new Float64Array(rowCount),
      k_NGK: this.heads(x, rowCount, part("k", groupCount)),
      v_NGK: this.linear(x, rowCount, `${name}.v_proj`),
    });
    return this.linear(o_NHK, rowCount, `${name}.o_proj`);
  }

  feedForward(x: Float64Array, rowCount: number, name: string): Float64Array {
    const F = this.shape.feedForwardWidth;
    const gate = this.linear(x, rowCount, `${name}.gate_proj`);
    const up = this.linear(x, rowCount, `${name}.up_proj`);
    const gate_up_N2F = new Float64Array(2 * rowCount * F);
    for (let n = 0; n < rowCount; n++) {
      gate_up_N2F.set(gate.subarray(n * F, (n + 1) * F), 2 * n * F);
      gate_up_N2F.set(up.subarray(n * F, (n + 1) * F), (2 * n + 1) * F);
    }
    const y_NF = gatedSiluForward(gate_up_N2F, { rowCount, width: F });
    return this.linear(y_NF, rowCount, `${name}.down_proj`);
  }
}

function added(x: Float64Array, y: Float64Array): Float64Array {
  return x.map((value, i) => value + y[i]);
}

/**
 * Log-prob of each next token of one sequence, and the entropy of its distribution.
 *
 * @param id_T Token ids, at least two.
 * @param options.temperature Divides the logits.
 * @returns T − 1 rows: row t is about token t + 1.
 * @throws {RangeError} When a weight is missing or does not fit.
 */
export function decoderForward(
  id_T: ArrayLike<number>,
  options: {
    readonly shape: DecoderShape;
    readonly weights: NamedWeights;
    readonly temperature: number;
  },
): LogprobResult {
  const { shape, weights, temperature } = options;
  const { width, vocabSize: vocabularySize } = shape;
  const decoder = new Decoder(shape, weights);
  const rowCount = id_T.length - 1;
  const table = decoder.weight("model.embed_tokens.weight");
  const id_N = Array.from(id_T).slice(0, -1);
  let x = storedEmbeddingForward(id_N, { width, vocabularySize, weight_VD: table });
  for (let layer = 0; layer < shape.layerCount; layer++) {
    const name = `model.layers.${layer}`;
    const attended = decoder.norm(x, rowCount, `${name}.input_layernorm`);
    x = added(x, decoder.attention(attended, rowCount, `${name}.self_attn`));
    const fed = decoder.norm(x, rowCount, `${name}.post_attention_layernorm`);
    x = added(x, decoder.feedForward(fed, rowCount, `${name}.mlp`));
  }
  return storedLogprobForward(decoder.norm(x, rowCount, "model.norm"), {
    rowCount,
    width,
    vocabularySize,
    weight_VD: weights.get("lm_head.weight") ?? table,
    target_N: Array.from(id_T).slice(1),
    temperature,
  });
}
