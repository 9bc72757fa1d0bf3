/** config.json of a Hugging Face folder, held to what the kernels compute: anything else is refused by its name. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { requireSchema } from "../core/schema.ts";
import { type Architecture, ARCHITECTURES } from "../model/architectures.ts";
import {
  type ArchitectureName,
  checkDecoderConfig,
  type DecoderConfig,
} from "../model/decoder_config.ts";
import { unknownField } from "./config_fields.ts";
import { readJson } from "./json.ts";
import { readRope, ROPE_FIELDS } from "./rope_config.ts";

const count = z.int().min(1).max(2 ** 24);
const positive = z.number().positive();

const CONFIG = z.object({
  model_type: z.string(),
  architectures: z.array(z.string()).nullish(),
  vocab_size: count.min(2),
  hidden_size: count,
  num_hidden_layers: count.max(1024),
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  head_dim: count.nullish(),
  intermediate_size: count,
  rms_norm_eps: positive,
  hidden_act: z.string(),
  ...ROPE_FIELDS,
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  use_sliding_window: z.boolean().nullish(),
  sliding_window: z.number().nullish(),
  layer_types: z.array(z.string()).nullish(),
  quantization_config: z.unknown().optional(),
  compression_config: z.unknown().optional(),
  auto_map: z.unknown().optional(),
});

type RawConfig = z.infer<typeof CONFIG>;
/** What transformers takes where a Qwen3 does not say its own. */
const QWEN3_HEAD_WIDTH = 128;

type Refuse = (reason: string) => UserError;

function architectureOf(raw: RawConfig, refuse: Refuse): [ArchitectureName, Architecture] {
  const names = Object.keys(ARCHITECTURES) as ArchitectureName[];
  const name = names.find((known) => known === raw.model_type);
  const known = "llama, qwen2 and qwen3 are";
  if (name === undefined) {
    throw refuse(`its model_type is ${JSON.stringify(raw.model_type)}; ${known} read`);
  }
  const architecture = ARCHITECTURES[name];
  const [className] = raw.architectures ?? [];
  if (className === undefined || className === architecture.className) return [name, architecture];
  throw refuse(
    `its class is ${JSON.stringify(className)}; of ${name} ${architecture.className} is read`,
  );
}

function refuseOthers(raw: RawConfig, refuse: Refuse): void {
  if ((raw.quantization_config ?? raw.compression_config ?? null) !== null) {
    throw refuse("its weights are quantised; F32, BF16 and F16 are read");
  }
  if ((raw.auto_map ?? null) !== null) {
    throw refuse("its auto_map names code of its own, which is not run");
  }
  if (raw.hidden_act !== "silu") {
    throw refuse(`its hidden_act is ${JSON.stringify(raw.hidden_act)}; silu is computed`);
  }
  if (raw.use_sliding_window) {
    throw refuse("its attention has a sliding window (use_sliding_window), which is not computed");
  }
  // Qwens have the number whether it is used or not; a Llama with one was something else.
  if (raw.model_type === "llama" && (raw.sliding_window ?? null) !== null) {
    throw refuse(`its sliding_window is ${raw.sliding_window}, which is not computed`);
  }
  if (raw.model_type !== "llama" && raw.mlp_bias) {
    throw refuse(`its mlp_bias is true, which a ${raw.model_type} does not have`);
  }
  const layer = raw.layer_types?.find((type) => type !== "full_attention");
  if (layer !== undefined) {
    throw refuse(`its layer_types has ${JSON.stringify(layer)}; full_attention is computed`);
  }
}

/**
 * Reads config.json of a model's folder.
 *
 * @param path The file.
 * @returns The decoder.
 * @throws {UserError} When it cannot be read, or is of an architecture, a rope scaling or a size that is not computed.
 */
export function readModelConfig(path: string): DecoderConfig {
  const json = readJson(path);
  const raw = requireSchema(json, CONFIG, { source: path });
  const refuse: Refuse = (reason) => new UserError(`Cannot use ${path}: ${reason}`);
  const [name, architecture] = architectureOf(raw, refuse);
  refuseOthers(raw, refuse);
  const unknown = unknownField(json, Object.keys(CONFIG.shape));
  if (unknown !== undefined) {
    const value = JSON.stringify(unknown.value).slice(0, 40);
    throw refuse(
      `it has ${
        JSON.stringify(unknown.name)
      } (${value}), and whether that changes the model is not ` +
        "known here; take it out of a copy of config.json where it does not",
    );
  }
  const { theta, scaling } = readRope(raw, { architecture: name, refuse });
  const headWidth = raw.head_dim ??
    (name === "qwen3" ? QWEN3_HEAD_WIDTH : raw.hidden_size / raw.num_attention_heads);
  const config: DecoderConfig = {
    architecture: name,
    vocabSize: raw.vocab_size,
    width: raw.hidden_size,
    headCount: raw.num_attention_heads,
    groupCount: raw.num_key_value_heads ?? raw.num_attention_heads,
    headWidth,
    feedForwardWidth: raw.intermediate_size,
    layerCount: raw.num_hidden_layers,
    epsilon: raw.rms_norm_eps,
    theta,
    scaling,
    biases: architecture.biases({
      attention: raw.attention_bias ?? false,
      feedForward: raw.mlp_bias ?? false,
    }),
    hasHeadNorm: architecture.hasHeadNorm,
    isTied: raw.tie_word_embeddings ?? false,
  };
  checkDecoderConfig(config, path);
  return config;
}
