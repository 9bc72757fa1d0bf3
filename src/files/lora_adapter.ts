/** LoRA adapters as PEFT writes them: W + scale · B A, merged row by row while the model is read (Hu et al. 2021). */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { requireSchema } from "../core/schema.ts";
import { widenBf16, widenF16 } from "../model/weight_values.ts";
import { findTensorsOf, readRows, type StoredTensor } from "./checkpoint_tensors.ts";
import { readJson } from "./json.ts";

const CONFIG = z.object({
  peft_type: z.string(),
  r: z.int().min(1),
  lora_alpha: z.number().positive(),
  use_rslora: z.boolean().nullish(),
  use_dora: z.boolean().nullish(),
  fan_in_fan_out: z.boolean().nullish(),
  bias: z.string().nullish(),
  modules_to_save: z.array(z.string()).nullish(),
  rank_pattern: z.record(z.string(), z.number()).nullish(),
  alpha_pattern: z.record(z.string(), z.number()).nullish(),
});

/** What is added to one matrix. */
export interface LoraDelta {
  /** A [R, width] and B [rows, R]. */
  readonly a_RK: Float32Array;
  readonly b_MR: Float32Array;
  readonly rank: number;
  readonly scale: number;
}

/** An adapter. */
export interface LoraAdapter {
  /** Its folder. */
  readonly path: string;
  /** By the name of the weight that it is added to. */
  readonly deltas: ReadonlyMap<string, LoraDelta>;
}

/** The values of a tensor as f32. */
export function widened(
  bytes: Uint8Array<ArrayBuffer>,
  dtype: StoredTensor["dtype"],
): Float32Array<ArrayBuffer> {
  const range = [bytes.buffer, bytes.byteOffset] as const;
  if (dtype === "F32") return new Float32Array(...range, bytes.length / 4);
  const halves = new Uint16Array(...range, bytes.length / 2);
  return dtype === "BF16" ? widenBf16(halves) : widenF16(halves);
}

/** A whole tensor as f32. */
export function readValues(tensor: StoredTensor): Float32Array<ArrayBuffer> {
  const values = new Float32Array(tensor.shape.reduce((product, size) => product * size, 1));
  const width = tensor.shape.at(-1) ?? 1;
  readRows(tensor, (row, bytes) => values.set(widened(bytes, tensor.dtype), row * width));
  return values;
}

function refuseOthers(config: z.infer<typeof CONFIG>, path: string): void {
  const refuse = (found: string, allowed: string) =>
    new UserError(`Cannot use ${path}: ${found}; ${allowed}`);
  const { peft_type, bias, modules_to_save, rank_pattern, alpha_pattern } = config;
  if (peft_type !== "LORA") throw refuse(`its peft_type is "${peft_type}"`, "LORA is merged");
  for (const name of ["use_dora", "fan_in_fan_out"] as const) {
    if (config[name]) throw refuse(`it sets ${name}`, "plain LoRA is merged");
  }
  if ((bias ?? "none") !== "none") throw refuse(`its bias is "${bias}"`, "none is merged");
  if ((modules_to_save ?? []).length > 0) {
    throw refuse("it has modules_to_save", "adapters that are low-rank throughout are merged");
  }
  for (const [name, pattern] of Object.entries({ rank_pattern, alpha_pattern })) {
    if (Object.keys(pattern ?? {}).length > 0) {
      throw refuse(
        `its ${name} is not empty`,
        "adapters with one rank and one lora_alpha are merged",
      );
    }
  }
}

const NAME = /^base_model\.model\.(.+)\.lora_([AB])(?:\.default)?\.weight$/;

/**
 * Reads an adapter's folder.
 *
 * @param folder With adapter_config.json and adapter_model.safetensors.
 * @returns What it adds to which weight.
 * @throws {UserError} When it is not plain LoRA, half of a pair is missing, or ranks disagree.
 */
export function readLoraAdapter(folder: string): LoraAdapter {
  const configPath = `${folder}/adapter_config.json`;
  const path = `${folder}/adapter_model.safetensors`;
  const config = requireSchema(readJson(configPath), CONFIG, { source: configPath });
  refuseOthers(config, configPath);
  const tensors = findTensorsOf(path);
  const found = new Map<string, { A?: StoredTensor; B?: StoredTensor }>();
  for (const [name, tensor] of tensors) {
    const [, module, half] = NAME.exec(name) ?? [];
    if (module === undefined) {
      throw new UserError(
        `Cannot use ${path}: tensor "${name}" is no half of a LoRA pair of a linear layer`,
      );
    }
    const weight = `${module}.weight`;
    found.set(weight, { ...found.get(weight), [half]: tensor });
  }
  const { r: rank, lora_alpha: alpha, use_rslora } = config;
  const scale = alpha / (use_rslora ? Math.sqrt(rank) : rank);
  const deltas = new Map(Array.from(found, ([weight, { A, B }]) => {
    if (A === undefined || B === undefined) {
      throw new UserError(
        `Cannot use ${path}: of ${weight} it holds only one of lora_A and lora_B`,
      );
    }
    if (
      A.shape.length !== 2 || B.shape.length !== 2 || A.shape[0] !== rank || B.shape[1] !== rank
    ) {
      throw new UserError(
        `Cannot use ${path}: of ${weight} lora_A is [${A.shape.join(", ")}] and lora_B [${
          B.shape.join(", ")
        }], but r is ${rank}`,
      );
    }
    return [weight, { a_RK: readValues(A), b_MR: readValues(B), rank, scale }] as const;
  }));
  return { path: folder, deltas };
}

/**
 * Adds a delta to some rows, summed in float64 and rounded to f32 once.
 *
 * @param rows_NK Rows of the weight; they are changed.
 * @param options.firstRow The first of them.
 * @param options.width K.
 */
export function mergeRows(
  rows_NK: Float32Array,
  { delta, firstRow, width }: {
    readonly delta: LoraDelta;
    readonly firstRow: number;
    readonly width: number;
  },
): void {
  const { a_RK, b_MR, rank, scale } = delta;
  const sum_K = new Float64Array(width);
  for (let n = 0; n * width < rows_NK.length; n++) {
    sum_K.fill(0);
    for (let r = 0; r < rank; r++) {
      const b = b_MR[(firstRow + n) * rank + r];
      for (let k = 0; k < width; k++) sum_K[k] += b * a_RK[r * width + k];
    }
    for (let k = 0; k < width; k++) rows_NK[n * width + k] += scale * sum_K[k];
  }
}
