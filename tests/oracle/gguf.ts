/** Random decoders and vocabularies as GGUF files, the format of llama.cpp, by its specification: version 3, all tensors F32. */
import { type RandomConfig, randomValues, weightsOf } from "../model/random_decoder.ts";

/** Types of metadata values by their number in the file. */
const UINT32 = 4, INT32 = 5, FLOAT32 = 6, BOOL = 7, STRING = 8, ARRAY = 9;

/** Tensor data begins at multiples of this many bytes. */
const ALIGNMENT = 32;

/** A vocabulary of byte-level BPE. */
export interface GgufVocabulary {
  readonly tokens: readonly string[];
  /** 1 normal, 3 control, 4 of the user, 5 unused. */
  readonly types: readonly number[];
  /** `a b`: two tokens that become one. */
  readonly merges: readonly string[];
}

interface GgufTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: () => Float32Array<ArrayBuffer>;
}

/** Bytes, little-endian, that grow. */
class Bytes {
  #bytes = new Uint8Array(2 ** 16);
  length = 0;

  #room(count: number): DataView {
    if (this.length + count > this.#bytes.length) {
      const larger = new Uint8Array(2 * (this.length + count));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    const view = new DataView(this.#bytes.buffer, this.length, count);
    this.length += count;
    return view;
  }

  u32 = (value: number) => this.#room(4).setUint32(0, value, true);
  f32 = (value: number) => this.#room(4).setFloat32(0, value, true);
  u8 = (value: number) => this.#room(1).setUint8(0, value);
  u64 = (value: number) => this.#room(8).setBigUint64(0, BigInt(value), true);
  text = (value: string) => {
    const bytes = new TextEncoder().encode(value);
    this.u64(bytes.length);
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.length - bytes.length);
  };
  all = () => this.#bytes.subarray(0, this.length);
}

/** Metadata: each entry writes its type and its value. */
type Metadata = Map<string, (bytes: Bytes) => void>;

const count = (value: number) => (bytes: Bytes) => (bytes.u32(UINT32), bytes.u32(value));
const real = (value: number) => (bytes: Bytes) => (bytes.u32(FLOAT32), bytes.f32(value));
const text = (value: string) => (bytes: Bytes) => (bytes.u32(STRING), bytes.text(value));
const flag = (value: boolean) => (bytes: Bytes) => (bytes.u32(BOOL), bytes.u8(Number(value)));
const list = <T>(type: number, values: readonly T[], write: (bytes: Bytes, value: T) => void) =>
(
  bytes: Bytes,
) => {
  bytes.u32(ARRAY);
  bytes.u32(type);
  bytes.u64(values.length);
  for (const value of values) write(bytes, value);
};

/** A vocabulary of names alone: ids need no texts. */
export function namelessVocabulary(size: number): GgufVocabulary {
  const tokens = Array.from({ length: size }, (_, id) => `t${id}`);
  return { tokens, types: tokens.map(() => 1), merges: ["t 0"] };
}

function metadataOf(config: RandomConfig, { tokens, types, merges }: GgufVocabulary): Metadata {
  const a = config.model_type, { rope_scaling: scaling } = config;
  const metadata: Metadata = new Map([
    ["general.architecture", text(a)],
    [`${a}.context_length`, count(4096)],
    [`${a}.embedding_length`, count(config.hidden_size)],
    [`${a}.block_count`, count(config.num_hidden_layers)],
    [`${a}.feed_forward_length`, count(config.intermediate_size)],
    [`${a}.attention.head_count`, count(config.num_attention_heads)],
    [`${a}.attention.head_count_kv`, count(config.num_key_value_heads)],
    [`${a}.attention.key_length`, count(config.head_dim)],
    [`${a}.attention.value_length`, count(config.head_dim)],
    [`${a}.attention.layer_norm_rms_epsilon`, real(config.rms_norm_eps)],
    [`${a}.rope.dimension_count`, count(config.head_dim)],
    [`${a}.rope.freq_base`, real(config.rope_theta)],
    [`${a}.vocab_size`, count(config.vocab_size)],
    ["tokenizer.ggml.model", text("gpt2")],
    ["tokenizer.ggml.pre", text("qwen2")],
    ["tokenizer.ggml.tokens", list(STRING, tokens, (bytes, token) => bytes.text(token))],
    ["tokenizer.ggml.token_type", list(INT32, types, (bytes, type) => bytes.u32(type))],
    ["tokenizer.ggml.merges", list(STRING, merges, (bytes, merge) => bytes.text(merge))],
    ["tokenizer.ggml.add_bos_token", flag(false)],
    ["tokenizer.ggml.eos_token_id", count(tokens.length - 1)],
  ]);
  if (scaling?.type === "linear") {
    metadata.set(`${a}.rope.scaling.type`, text("linear"));
    metadata.set(`${a}.rope.scaling.factor`, real(Number(scaling.factor)));
  }
  return metadata;
}

/** Names by what a checkpoint calls them. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^model\.embed_tokens\./, "token_embd."],
  [/^model\.norm\./, "output_norm."],
  [/^lm_head\./, "output."],
  [/^model\.layers\./, "blk."],
  [/\.input_layernorm\./, ".attn_norm."],
  [/\.self_attn\.([qkv])_proj\./, ".attn_$1."],
  [/\.self_attn\.o_proj\./, ".attn_output."],
  [/\.self_attn\.([qk])_norm\./, ".attn_$1_norm."],
  [/\.post_attention_layernorm\./, ".ffn_norm."],
  [/\.mlp\.(gate|up|down)_proj\./, ".ffn_$1."],
];

/**
 * Rows of q and k of a Llama, as llama.cpp rotates them: it turns neighbours, where the checkpoint's halves of a head belong
 * together.
 */
function interleaveHalves(
  values: Float32Array<ArrayBuffer>,
  { rowCount, headWidth }: { readonly rowCount: number; readonly headWidth: number },
): Float32Array<ArrayBuffer> {
  const width = values.length / rowCount, permuted = new Float32Array(values.length);
  for (let row = 0; row < rowCount; row++) {
    const head = Math.floor(row / headWidth), i = row % headWidth;
    const source = head * headWidth + (i % 2) * headWidth / 2 + Math.floor(i / 2);
    permuted.set(values.subarray(source * width, (source + 1) * width), row * width);
  }
  return permuted;
}

/** What the angle of each pair is divided by, where a Llama 3 is stretched: long waves by the factor, short ones not. */
function llama3Divisors({ rope_scaling, rope_theta, head_dim }: RandomConfig): Float32Array<
  ArrayBuffer
> {
  const number = (name: string) => Number(rope_scaling?.[name]);
  const factor = number("factor"), low = number("low_freq_factor");
  const high = number("high_freq_factor"), length = number("original_max_position_embeddings");
  return Float32Array.from({ length: head_dim / 2 }, (_, i) => {
    const turns = length / (2 * Math.PI * rope_theta ** (2 * i / head_dim));
    if (turns > high) return 1;
    if (turns < low) return factor;
    const share = (turns - low) / (high - low);
    return 1 / ((1 - share) / factor + share);
  });
}

function tensorsOf(config: RandomConfig): GgufTensor[] {
  const tensors: GgufTensor[] = Array.from(weightsOf(config), ([name, weight]) => {
    const isTurned = config.model_type === "llama" && /\.[qk]_proj\./.test(name);
    const rowCount = weight.shape[0] ?? 0;
    return {
      name: NAMES.reduce((text, [pattern, ours]) => text.replace(pattern, ours), name),
      shape: weight.shape,
      values: () => {
        const values = randomValues(name, weight);
        if (!isTurned) return values;
        return interleaveHalves(values, { rowCount, headWidth: config.head_dim });
      },
    };
  });
  if (config.rope_scaling?.rope_type !== "llama3") return tensors;
  const shape = [config.head_dim / 2];
  return [...tensors, { name: "rope_freqs.weight", shape, values: () => llama3Divisors(config) }];
}

/** Writes a random decoder, the same weights as `writeDecoder()` gives it. */
export function writeGguf(path: string, config: RandomConfig, vocabulary: GgufVocabulary): void {
  const metadata = metadataOf(config, vocabulary), tensors = tensorsOf(config);
  const header = new Bytes();
  header.u32(0x46554747); // GGUF
  header.u32(3);
  header.u64(tensors.length);
  header.u64(metadata.size);
  for (const [key, write] of metadata) {
    header.text(key);
    write(header);
  }
  const padded = (size: number) => Math.ceil(size / ALIGNMENT) * ALIGNMENT;
  let offset = 0;
  for (const { name, shape } of tensors) {
    header.text(name);
    header.u32(shape.length);
    for (const size of shape.toReversed()) header.u64(size);
    header.u32(0); // F32
    header.u64(offset);
    offset += padded(shape.reduce((product, size) => product * size, 4));
  }
  using file = Deno.openSync(path, { write: true, create: true, truncate: true });
  const write = (bytes: Uint8Array) => {
    for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
    const rest = padded(bytes.length) - bytes.length;
    if (rest > 0) file.writeSync(new Uint8Array(rest));
  };
  write(header.all());
  for (const { values } of tensors) write(new Uint8Array(values().buffer));
}
