/** adapter_config.json of PEFT: every field that changes what a LoRA computes is honoured or refused by its name. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { requireSchema } from "../core/schema.ts";
import { readJson } from "./json.ts";

const names = z.union([z.string(), z.array(z.string())]);
const CONFIG = z.looseObject({
  peft_type: z.string(),
  r: z.int().min(1),
  lora_alpha: z.number(),
  use_rslora: z.boolean().nullish(),
  bias: z.string().nullish(),
  init_lora_weights: z.union([z.boolean(), z.string()]).nullish(),
  rank_pattern: z.record(z.string(), z.int().min(1)).nullish(),
  alpha_pattern: z.record(z.string(), z.number()).nullish(),
  target_modules: names.nullish(),
  exclude_modules: names.nullish(),
  modules_to_save: z.array(z.string()).nullish(),
  layers_to_transform: z.union([z.int(), z.array(z.int())]).nullish(),
  layers_pattern: names.nullish(),
});

type RawConfig = z.infer<typeof CONFIG>;

/** What the configuration says of one module, by its path in the model. */
export interface LoraConfig {
  /** The file, for error sentences. */
  readonly path: string;
  /** The rank and the factor of B · A. */
  scaleOf(module: string): { readonly rank: number; readonly scale: number };
  /** Why the module has no pair by this configuration; undefined where it may have one. */
  whyNot(module: string): string | undefined;
  /** Ends of the paths of modules that are saved whole. */
  readonly savedModules: readonly string[];
  /** Whether a tensor is saved whole: of modules_to_save, an embedding, or a bias where biases were trained. */
  isSavedWhole(tensor: string): boolean;
}

/** Fields that say how an adapter was made, or how it runs, and nothing of what it computes for our models. */
const HARMLESS: ReadonlySet<string> = new Set([
  "task_type",
  "auto_mapping",
  "base_model_name_or_path",
  "revision",
  "inference_mode",
  "peft_version",
  "lora_dropout",
  // Our matrices are torch.nn.Linear, for which PEFT sets it to false, with a warning.
  "fan_in_fan_out",
  // What they configure is chosen by init_lora_weights, or by switches that are refused.
  "loftq_config",
  "eva_config",
  "corda_config",
  "lora_ga_config",
  "qalora_group_size",
  "megatron_core",
  "runtime_config",
  // Tied tables are refused or equal, whatever it says.
  "ensure_weight_tying",
  ...Object.keys(CONFIG.shape),
]);

/** Beginnings of an adapter that leave the weights below it as they are; others take a part out of them. */
const KEEPS_BASE: readonly unknown[] = [
  true,
  false,
  null,
  undefined,
  "gaussian",
  "eva",
  "orthogonal",
];

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === false ||
    (typeof value === "object" && Object.keys(value).length === 0);
}

function refuseOthers(config: RawConfig, path: string): void {
  const refuse = (found: string, allowed: string) =>
    new UserError(`Cannot use ${path}: ${found}; ${allowed}`);
  const { peft_type, bias, init_lora_weights } = config;
  if (peft_type !== "LORA") throw refuse(`its peft_type is "${peft_type}"`, "LORA is merged");
  const other = Object.entries(config)
    .find(([name, value]) => !HARMLESS.has(name) && !isEmpty(value));
  if (other) {
    throw refuse(
      `it sets ${other[0]}, which changes what the adapter computes`,
      "merge it with PEFT's merge_and_unload, and give the merged folder as the model",
    );
  }
  if (!["none", "all", "lora_only", undefined, null].includes(bias)) {
    throw refuse(`its bias is "${bias}"`, "none, all and lora_only are merged");
  }
  if (!KEEPS_BASE.includes(init_lora_weights)) {
    throw refuse(
      `its init_lora_weights is "${init_lora_weights}", which takes a part out of the weights below it`,
      "convert it to a plain LoRA as PEFT does with path_initial_model_for_weight_conversion",
    );
  }
}

/** A pattern of Python's re that is matched from the beginning. */
function pattern(source: string, { path, field }: { path: string; field: string }): RegExp {
  try {
    return new RegExp(`^(?:${source})$`);
  } catch {
    throw new UserError(
      `Cannot use ${path}: its ${field} ${JSON.stringify(source)} is a pattern that cannot be read`,
    );
  }
}

type Names = string | readonly string[] | null | undefined;

/** Whether names hold a module: a text is a pattern of the whole path, a list has ends of it. */
function includes(given: Names, module: string, place: { path: string; field: string }): boolean {
  if (typeof given === "string") return pattern(given, place).test(module);
  return (given ?? []).some((name) => module === name || module.endsWith(`.${name}`));
}

/** The index of the layer that a module is in; undefined where it is in none. */
function layerOf(module: string, layersPattern: Names, path: string): number | undefined {
  const patterns = typeof layersPattern === "string" ? [layersPattern] : layersPattern ?? [];
  const sources = patterns.length === 0 ? ["[^.]*"] : patterns;
  for (const source of sources) {
    const place = { path, field: "layers_pattern" };
    const [, index] = pattern(`.*\\.${source}\\.(\\d+)\\..*`, place).exec(module) ?? [];
    if (index !== undefined) return Number(index);
  }
  return undefined;
}

function whyNot(config: RawConfig, module: string, path: string): string | undefined {
  const { target_modules, exclude_modules, layers_to_transform, layers_pattern } = config;
  if (includes(exclude_modules, module, { path, field: "exclude_modules" })) {
    return "its exclude_modules name it";
  }
  // What PEFT targets by default is not written down for models that it does not know.
  if (target_modules === null || target_modules === undefined) return undefined;
  if (target_modules === "all-linear") {
    return /(^|\.)(lm_head|embed_tokens)$/.test(module)
      ? 'its target_modules are "all-linear", which leaves head and embedding out'
      : undefined;
  }
  if (!includes(target_modules, module, { path, field: "target_modules" })) {
    return "its target_modules do not name it";
  }
  const isExact = Array.isArray(target_modules) && target_modules.includes(module);
  if (typeof target_modules === "string" || isExact) return undefined;
  if (layers_to_transform === null || layers_to_transform === undefined) return undefined;
  const layer = layerOf(module, layers_pattern, path);
  const isOne = layer !== undefined && [layers_to_transform].flat().includes(layer);
  return isOne ? undefined : "its layers_to_transform leave it out";
}

/** The value of the first pattern that a module's path ends with, in the order of the file. */
function byPattern(
  patterns: Readonly<Record<string, number>> | null | undefined,
  module: string,
  { otherwise, ...place }: { path: string; field: string; otherwise: number },
): number {
  const found = Object.entries(patterns ?? {})
    .find(([key]) => pattern(`(?:.*\\.)?(?:${key})`, place).test(module));
  return found === undefined ? otherwise : found[1];
}

/**
 * Reads the configuration.
 *
 * @param path adapter_config.json.
 * @throws {UserError} When it is no LoRA, or sets what would change its result and is not computed.
 */
export function readLoraConfig(path: string): LoraConfig {
  const config = requireSchema(readJson(path), CONFIG, { source: path });
  refuseOthers(config, path);
  const { r, lora_alpha, use_rslora, rank_pattern, alpha_pattern, modules_to_save, bias } = config;
  return {
    path,
    savedModules: modules_to_save ?? [],
    scaleOf(module) {
      const rank = byPattern(rank_pattern, module, { path, field: "rank_pattern", otherwise: r });
      const alpha = byPattern(alpha_pattern, module, {
        path,
        field: "alpha_pattern",
        otherwise: lora_alpha,
      });
      return { rank, scale: alpha / (use_rslora ? Math.sqrt(rank) : rank) };
    },
    whyNot: (module) => whyNot(config, module, path),
    isSavedWhole(tensor) {
      const module = tensor.replace(/\.(weight|bias)$/, "");
      const isModule = (modules_to_save ?? []).some((name) => `.${module}.`.includes(`.${name}.`));
      // PEFT saves embedding and head beside the pairs where the vocabulary was changed or they have a pair.
      const isEmbedding = /(^|\.)(embed_tokens|lm_head)\.weight$/.test(tensor);
      return isModule || isEmbedding || (tensor.endsWith(".bias") && (bias ?? "none") !== "none");
    },
  };
}
