/**
 * Random models as Hugging Face folders, by seed: the fixtures of decoder tests.
 *
 * deno run -A tests/model/random_decoder.ts FOLDER [VARIANT …]
 */
import { roundToBf16, widenBf16 } from "../../src/model/weight_values.ts";

/** What config.json says, as far as the sizes of weights follow from it. */
export interface RandomConfig {
  readonly model_type: "llama" | "qwen2" | "qwen3";
  readonly architectures: readonly string[];
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly intermediate_size: number;
  readonly rms_norm_eps: number;
  readonly hidden_act: string;
  readonly rope_theta: number;
  readonly rope_scaling?: Readonly<Record<string, string | number>>;
  readonly attention_bias?: boolean;
  readonly mlp_bias?: boolean;
  readonly tie_word_embeddings: boolean;
}

const SMALL = {
  vocab_size: 300,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 56,
  rms_norm_eps: 1e-6,
  hidden_act: "silu",
} as const;

/** One of each difference between models. */
export const VARIANTS = {
  llama: {
    ...SMALL,
    model_type: "llama",
    architectures: ["LlamaForCausalLM"],
    num_key_value_heads: 1,
    head_dim: 8,
    rope_theta: 1e4,
    rope_scaling: { type: "linear", factor: 4 },
    attention_bias: true,
    mlp_bias: true,
    tie_word_embeddings: false,
  },
  llama3_scaled: {
    ...SMALL,
    model_type: "llama",
    architectures: ["LlamaForCausalLM"],
    num_key_value_heads: 2,
    head_dim: 16,
    rope_theta: 5e5,
    rope_scaling: {
      rope_type: "llama3",
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 16,
    },
    tie_word_embeddings: true,
  },
  qwen2: {
    ...SMALL,
    model_type: "qwen2",
    architectures: ["Qwen2ForCausalLM"],
    num_key_value_heads: 2,
    head_dim: 8,
    rope_theta: 1e6,
    tie_word_embeddings: true,
  },
  qwen3: {
    ...SMALL,
    model_type: "qwen3",
    architectures: ["Qwen3ForCausalLM"],
    num_key_value_heads: 2,
    head_dim: 24,
    rope_theta: 1e6,
    tie_word_embeddings: false,
  },
  "large-vocabulary": {
    ...SMALL,
    model_type: "qwen3",
    architectures: ["Qwen3ForCausalLM"],
    vocab_size: 151_936,
    hidden_size: 128,
    num_hidden_layers: 1,
    num_key_value_heads: 2,
    head_dim: 16,
    rope_theta: 1e6,
    tie_word_embeddings: true,
  },
} as const satisfies Record<string, RandomConfig>;

/** The small variants, of which goldens are kept. */
export const SMALL_VARIANTS = ["llama", "llama3_scaled", "qwen2", "qwen3"] as const;

/** A weight: its shape, and how far its values spread around what. */
interface RandomWeight {
  readonly shape: readonly number[];
  readonly scale: number;
  readonly offset: number;
}

/** Every weight of a model by name. */
export function weightsOf(config: RandomConfig): Map<string, RandomWeight> {
  const { hidden_size: D, head_dim: K, intermediate_size: F, vocab_size: V } = config;
  const queries = config.num_attention_heads * K, keys = config.num_key_value_heads * K;
  const { model_type, attention_bias = false, mlp_bias = false } = config;
  const weights = new Map<string, RandomWeight>();
  const linear = (name: string, shape: [number, number], hasBias: boolean, scale = 1) => {
    weights.set(`${name}.weight`, { shape, scale: scale / Math.sqrt(shape[1]), offset: 0 });
    if (hasBias) weights.set(`${name}.bias`, { shape: [shape[0]], scale: 0.3, offset: 0 });
  };
  const norm = (name: string, width: number) =>
    weights.set(`${name}.weight`, { shape: [width], scale: 0.2, offset: 1 });
  weights.set("model.embed_tokens.weight", { shape: [V, D], scale: 0.7, offset: 0 });
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const name = `model.layers.${layer}`;
    norm(`${name}.input_layernorm`, D);
    const hasBias = model_type === "qwen2" || attention_bias;
    linear(`${name}.self_attn.q_proj`, [queries, D], hasBias, 1.7);
    linear(`${name}.self_attn.k_proj`, [keys, D], hasBias, 1.7);
    linear(`${name}.self_attn.v_proj`, [keys, D], hasBias);
    linear(`${name}.self_attn.o_proj`, [D, queries], attention_bias);
    if (model_type === "qwen3") {
      norm(`${name}.self_attn.q_norm`, K);
      norm(`${name}.self_attn.k_norm`, K);
    }
    norm(`${name}.post_attention_layernorm`, D);
    linear(`${name}.mlp.gate_proj`, [F, D], mlp_bias);
    linear(`${name}.mlp.up_proj`, [F, D], mlp_bias);
    linear(`${name}.mlp.down_proj`, [D, F], mlp_bias);
  }
  norm("model.norm", D);
  if (!config.tie_word_embeddings) linear("lm_head", [V, D], false);
  return weights;
}

/** The values of one weight, all exact in bf16 and in f16. */
export function randomValues(
  name: string,
  { shape, scale, offset }: RandomWeight,
): Float32Array<ArrayBuffer> {
  // xorshift32 from a hash of the name, so that a weight does not depend on those before it.
  let state = 2166136261;
  for (const character of name) state = Math.imul(state ^ character.charCodeAt(0), 16777619);
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
  const spread = scale * Math.sqrt(3); // Uniform numbers spread by 1 reach √3 to either side.
  for (let i = 0; i < values.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const value = offset + spread * ((state >>> 0) / 2 ** 31 - 1);
    values[i] = Math.round(value * 2 ** 16) / 2 ** 16; // Which f16 holds however small it is.
  }
  return widenBf16(roundToBf16(values));
}

/** Dtypes that a folder can be written in. */
export type FileDtype = "BF16" | "F16" | "F32";

/** f32 that f16 holds exactly, as its bits. */
function f16Bits(value: number): number {
  const sign = Object.is(Math.sign(value), -0) || value < 0 ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude < 2 ** -14) return sign | Math.round(magnitude * 2 ** 24);
  const exponent = Math.floor(Math.log2(magnitude));
  return sign | ((exponent + 14) << 10) + Math.round(magnitude / 2 ** exponent * 1024);
}

/** Values as a file holds them. */
export function encode(
  values: Float32Array<ArrayBuffer>,
  dtype: FileDtype,
): Uint8Array<ArrayBuffer> {
  if (dtype === "F32") return new Uint8Array(values.buffer);
  if (dtype === "BF16") return new Uint8Array(roundToBf16(values).buffer);
  return new Uint8Array(Uint16Array.from(values, f16Bits).buffer);
}

/** A tensor of a file: its data is made when it is written. */
export interface FileTensor {
  readonly shape: readonly number[];
  readonly dtype: FileDtype;
  readonly values: () => Float32Array<ArrayBuffer>;
}

/** Writes a safetensors file of weights, one tensor in memory at a time. */
export function writeWeights(path: string, tensors: ReadonlyMap<string, FileTensor>): void {
  let offset = 0;
  const header = Object.fromEntries(Array.from(tensors, ([name, { shape, dtype }]) => {
    const begin = offset;
    offset += shape.reduce((product, size) => product * size, dtype === "F32" ? 4 : 2);
    return [name, { dtype, shape, data_offsets: [begin, offset] }];
  }));
  const json = new TextEncoder().encode(JSON.stringify(header));
  using file = Deno.openSync(path, { write: true, create: true, truncate: true });
  const write = (bytes: Uint8Array) => {
    for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
  };
  write(new Uint8Array(BigUint64Array.of(BigInt(json.length)).buffer));
  write(json);
  for (const { dtype, values } of tensors.values()) write(encode(values(), dtype));
}

/** Writes a model's folder, in one file or in shards with an index. */
export function writeDecoder(
  folder: string,
  config: RandomConfig,
  options: { readonly dtype?: FileDtype; readonly shards?: number } = {},
): void {
  const { dtype = "BF16", shards = 1 } = options;
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(`${folder}/config.json`, JSON.stringify(config, null, 1));
  const tensors = Array.from(
    weightsOf(config),
    ([name, weight]): [string, FileTensor] => [
      name,
      { shape: weight.shape, dtype, values: () => randomValues(name, weight) },
    ],
  );
  if (shards === 1) return writeWeights(`${folder}/model.safetensors`, new Map(tensors));
  const weight_map: Record<string, string> = {};
  for (let shard = 0; shard < shards; shard++) {
    const file = `model-0000${shard + 1}-of-0000${shards}.safetensors`;
    const part = tensors.filter((_, i) => i % shards === shard);
    for (const [name] of part) weight_map[name] = file;
    writeWeights(`${folder}/${file}`, new Map(part));
  }
  Deno.writeTextFileSync(`${folder}/model.safetensors.index.json`, JSON.stringify({ weight_map }));
}

/** Sequences of a model's ids: of different lengths, one of them of a single token. */
export function sequencesOf({ vocab_size }: RandomConfig): number[][] {
  return [23, 9, 1, 40, 2].map((length, b) =>
    Array.from({ length }, (_, t) => (7919 * (b + 1) * (t + 3) ** 2 + 31 * t) % vocab_size)
  );
}

if (import.meta.main) {
  const [folder, ...names] = Deno.args;
  for (const name of names.length > 0 ? names : SMALL_VARIANTS) {
    writeDecoder(`${folder}/${name}`, VARIANTS[name as keyof typeof VARIANTS]);
  }
}
