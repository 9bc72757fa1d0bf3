/** A decoder in float64, token after token, whose logits and arithmetic can be changed at will: what engines do wrong is planted in it. */
import { type RandomConfig, randomValues, weightsOf } from "./random_decoder.ts";

/** Weights by name, as Hugging Face names them; matrices by rows. */
export type Weights64 = ReadonlyMap<string, Float64Array>;

/** The weights of a random model by seed, exact in bf16. */
export function seededWeights(config: RandomConfig, seed: number): Map<string, Float64Array> {
  return new Map(Array.from(
    weightsOf(config),
    ([name, weight]) => [name, Float64Array.from(randomValues(`${seed}/${name}`, weight))],
  ));
}

/** What of a forward is not as the model's definition has it. */
export interface Change64 {
  /** Of every value that an engine stores: results of products, norms, residuals (default: float64). */
  readonly round?: (value: number) => number;
  /** Of the position of a token (default: its index). */
  readonly positionOf?: (index: number) => number;
}

function frequencies({ head_dim, rope_theta, rope_scaling: scaling }: RandomConfig): number[] {
  return Array.from({ length: head_dim / 2 }, (_, i) => {
    const plain = rope_theta ** (-2 * i / head_dim);
    const kind = scaling?.rope_type ?? scaling?.type;
    if (scaling === undefined || kind === undefined) return plain;
    const of = (key: string) => Number(scaling[key]);
    if (kind === "linear") return plain / of("factor");
    const turns = of("original_max_position_embeddings") * plain / (2 * Math.PI);
    const share = (turns - of("low_freq_factor")) /
      (of("high_freq_factor") - of("low_freq_factor"));
    const kept = Math.min(1, Math.max(0, share));
    return plain * (kept + (1 - kept) / of("factor"));
  });
}

/** Starts a sequence. @returns Takes the next id and answers the logits after it. */
export function begin64(
  config: RandomConfig,
  weights: Weights64,
  { round = (value) => value, positionOf = (index) => index }: Change64 = {},
): (id: number) => Float64Array {
  const { hidden_size: D, head_dim: K, num_attention_heads: H, rms_norm_eps: epsilon } = config;
  const group = H / config.num_key_value_heads;
  const turns = frequencies(config);
  const cache = Array.from({ length: config.num_hidden_layers }, () => ({
    keys: [] as Float64Array[],
    values: [] as Float64Array[],
  }));
  const linear = (x: Float64Array, name: string) => {
    const weight = weights.get(`${name}.weight`)!, bias = weights.get(`${name}.bias`);
    const y = new Float64Array(weight.length / x.length);
    for (let n = 0; n < y.length; n++) {
      let sum = bias?.[n] ?? 0;
      const at = n * x.length;
      for (let k = 0; k < x.length; k++) sum += x[k]! * weight[at + k]!;
      y[n] = round(sum);
    }
    return y;
  };
  const norm = (x: Float64Array, name: string) => {
    const gain = weights.get(`${name}.weight`)!;
    const squares = x.reduce((sum, value) => sum + value * value, 0);
    const scale = 1 / Math.sqrt(squares / x.length + epsilon);
    return x.map((value, i) => round(value * scale * gain[i]!));
  };
  const heads = (x: Float64Array, name: string, position: number) => {
    const gain = name.replace(/_proj$/, "_norm");
    for (let head = 0; head < x.length; head += K) {
      const part = x.subarray(head, head + K);
      if (weights.has(`${gain}.weight`)) part.set(norm(part, gain));
      for (let i = 0; i < K / 2; i++) {
        const [cos, sin] = [Math.cos(position * turns[i]!), Math.sin(position * turns[i]!)];
        const [a, b] = [part[i]!, part[i + K / 2]!];
        part[i] = round(a * cos - b * sin);
        part[i + K / 2] = round(b * cos + a * sin);
      }
    }
    return x;
  };
  const add = (x: Float64Array, y: Float64Array) => x.map((value, i) => round(value + y[i]!));
  let index = 0;
  return (id) => {
    const position = positionOf(index++);
    const table = weights.get("model.embed_tokens.weight")!;
    let x = table.slice(id * D, (id + 1) * D);
    cache.forEach(({ keys, values }, i) => {
      const layer = `model.layers.${i}`;
      const y = norm(x, `${layer}.input_layernorm`);
      const name = (letter: string) => `${layer}.self_attn.${letter}_proj`;
      const q = heads(linear(y, name("q")), name("q"), position);
      keys.push(heads(linear(y, name("k")), name("k"), position));
      values.push(linear(y, name("v")));
      const o = new Float64Array(H * K);
      for (let head = 0; head < H; head++) {
        const own = Math.floor(head / group) * K;
        const scores = keys.map((key) => {
          let sum = 0;
          for (let k = 0; k < K; k++) sum += q[head * K + k]! * key[own + k]!;
          return sum / Math.sqrt(K);
        });
        const top = Math.max(...scores);
        const shares = scores.map((score) => Math.exp(score - top));
        const total = shares.reduce((sum, share) => sum + share, 0);
        shares.forEach((share, t) => {
          for (let k = 0; k < K; k++) o[head * K + k]! += share / total * values[t]![own + k]!;
        });
      }
      x = add(x, linear(o.map(round), name("o")));
      const z = norm(x, `${layer}.post_attention_layernorm`);
      const up = linear(z, `${layer}.mlp.up_proj`);
      const gated = linear(z, `${layer}.mlp.gate_proj`)
        .map((gate, f) => round(gate / (1 + Math.exp(-gate)) * up[f]!));
      x = add(x, linear(gated, `${layer}.mlp.down_proj`));
    });
    const last = norm(x, "model.norm");
    return linear(last, weights.has("lm_head.weight") ? "lm_head" : "model.embed_tokens");
  };
}

/** Log-probs of all tokens from logits. */
export function logSoftmax64(logits: Float64Array): Float64Array {
  const top = logits.reduce((most, value) => Math.max(most, value), -Infinity);
  const sum = logits.reduce((all, value) => all + Math.exp(value - top), 0);
  return logits.map((value) => value - top - Math.log(sum));
}

/** Log-probs of ids behind the first. @param change What happens to logits before the softmax. */
export function logProbs64(
  ids: ArrayLike<number>,
  next: (id: number) => Float64Array,
  change: (logits: Float64Array) => Float64Array = (logits) => logits,
): number[] {
  return Array.from(
    { length: ids.length - 1 },
    (_, t) => logSoftmax64(change(next(ids[t]!)))[ids[t + 1]!]!,
  );
}
