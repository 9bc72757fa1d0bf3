/** config.json of a Hugging Face folder, held to what the kernels compute: anything else is refused by its name. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { requireSchema } from "../core/schema.ts";
import { type Architecture, ARCHITECTURES } from "../model/architectures.ts";
import {
  type ArchitectureName,
  checkDecoderConfig,
  type DecoderConfig,
  type RopeScaling,
} from "../model/decoder_config.ts";
import { readJson } from "./json.ts";

const count = z.int().min(1).max(2 ** 24);
const positive = z.number().positive();

const ROPE = z.object({
  rope_type: z.string().optional(),
  type: z.string().optional(),
  rope_theta: positive.optional(),
  factor: positive.optional(),
  low_freq_factor: positive.optional(),
  high_freq_factor: positive.optional(),
  original_max_position_embeddings: positive.optional(),
});

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
  rope_theta: positive.nullish(),
  rope_scaling: ROPE.nullish(),
  rope_parameters: ROPE.nullish(),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  use_sliding_window: z.boolean().nullish(),
  layer_types: z.array(z.string()).nullish(),
  partial_rotary_factor: z.number().nullish(),
  quantization_config: z.unknown().optional(),
});

type RawConfig = z.infer<typeof CONFIG>;
type Refuse = (reason: string) => UserError;

/** What transformers takes where config.json is silent. */
const DEFAULT_THETA = 10_000;

function ropeScaling(raw: RawConfig, refuse: Refuse): RopeScaling {
  const rope = raw.rope_scaling ?? raw.rope_parameters;
  const kind = rope?.rope_type ?? rope?.type ?? "default";
  const need = (name: keyof z.infer<typeof ROPE>): number => {
    const value = rope?.[name];
    if (typeof value === "number") return value;
    throw refuse(`its rope scaling ${kind} has no ${name}`);
  };
  switch (kind) {
    case "default":
      return { kind: "none" };
    case "linear":
      return { kind, factor: need("factor") };
    case "llama3": {
      const scaling = {
        kind,
        factor: need("factor"),
        lowFactor: need("low_freq_factor"),
        highFactor: need("high_freq_factor"),
        originalPositions: need("original_max_position_embeddings"),
      } as const;
      if (scaling.highFactor > scaling.lowFactor) return scaling;
      throw refuse(
        `its high_freq_factor, ${scaling.highFactor}, must be above its low_freq_factor, ${scaling.lowFactor}`,
      );
    }
    default:
      throw refuse(
        `its rope scaling is ${JSON.stringify(kind)}; default, linear and llama3 are computed`,
      );
  }
}

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
  if (raw.quantization_config !== undefined && raw.quantization_config !== null) {
    throw refuse("its weights are quantised; F32, BF16 and F16 are read");
  }
  if (raw.hidden_act !== "silu") {
    throw refuse(`its hidden_act is ${JSON.stringify(raw.hidden_act)}; silu is computed`);
  }
  if (raw.use_sliding_window) {
    throw refuse("its attention has a sliding window (use_sliding_window), which is not computed");
  }
  const layer = raw.layer_types?.find((type) => type !== "full_attention");
  if (layer !== undefined) {
    throw refuse(`its layer_types has ${JSON.stringify(layer)}; full_attention is computed`);
  }
  if ((raw.partial_rotary_factor ?? 1) !== 1) {
    throw refuse(
      `its partial_rotary_factor is ${raw.partial_rotary_factor}; heads are turned whole or not at all`,
    );
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
  const raw = requireSchema(readJson(path), CONFIG, { source: path });
  const refuse: Refuse = (reason) => new UserError(`Cannot use ${path}: ${reason}`);
  const [name, architecture] = architectureOf(raw, refuse);
  refuseOthers(raw, refuse);
  const headWidth = raw.head_dim ?? raw.hidden_size / raw.num_attention_heads;
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
    theta: raw.rope_theta ?? raw.rope_parameters?.rope_theta ?? DEFAULT_THETA,
    scaling: ropeScaling(raw, refuse),
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
