/** LoRA adapters as PEFT writes them: W + scale · B A, merged row by row while the model is read (Hu et al. 2021). */
import { at } from "../core/element.ts";
import { UserError } from "../core/errors.ts";
import { widenBf16, widenF16 } from "../model/weight_values.ts";
import { findTensorsOf, readRows, type StoredTensor } from "./checkpoint_tensors.ts";
import { type LoraConfig, readLoraConfig } from "./lora_config.ts";
import { exists } from "./paths.ts";

/** What is added to one matrix. */
export interface LoraDelta {
  /** A [R, width]. */
  readonly a_RK: Float32Array;
  /** B [rows, R]. */
  readonly b_MR: Float32Array;
  /** R. */
  readonly rank: number;
  /** What B A is multiplied by. */
  readonly scale: number;
}

/** An adapter. */
export interface LoraAdapter {
  /** Its folder. */
  readonly path: string;
  /** By the name of the weight that it is added to. */
  readonly deltas: ReadonlyMap<string, LoraDelta>;
  /** Tensors that stand in place of the model's, by name: modules_to_save, embeddings, biases. */
  readonly replaced: ReadonlyMap<string, StoredTensor>;
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

/** Values [M, N] as [N, M]. */
function transposed(values_MN: Float32Array, width: number): Float32Array {
  const rows = values_MN.length / width;
  const result = new Float32Array(values_MN.length);
  for (let m = 0; m < rows; m++) {
    for (let n = 0; n < width; n++) result[n * rows + m] = values_MN[m * width + n] ?? NaN;
  }
  return result;
}

const PREFIX = "base_model.model.";
/** A half of a pair, with the name of its adapter where it was saved by hand; an embedding's pair is spelled otherwise. */
const HALF = /^(.+)\.lora_(embedding_)?([AB])(?:\.(?!bias$)([^.]+))??(?:\.weight)?$/;
/** How PEFT wraps modules, which names in files may keep. */
const WRAPPERS = /\.(?:base_layer|modules_to_save\.[^.]+|modules_to_save)(?=\.(?:weight|bias)$)/;

/** The halves of a pair, and whether it is an embedding's. */
interface Pair {
  A?: StoredTensor;
  B?: StoredTensor;
  isEmbedding: boolean;
}

/** The tensors of an adapter by what they are. */
function sorted(
  tensors: ReadonlyMap<string, StoredTensor>,
  { path, config }: { readonly path: string; readonly config: LoraConfig },
) {
  const pairs = new Map<string, Pair>();
  const replaced = new Map<string, StoredTensor>();
  const adapters = new Set<string>();
  for (const [name, tensor] of tensors) {
    const inner = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
    const [, module, embedding, half, adapter] = HALF.exec(inner ?? "") ?? [];
    if (module !== undefined && half !== undefined) {
      if (adapter !== undefined) adapters.add(adapter);
      const isEmbedding = embedding !== undefined;
      pairs.set(module, { ...pairs.get(module), [half]: tensor, isEmbedding });
      continue;
    }
    const whole = inner?.replace(WRAPPERS, "");
    if (whole !== undefined && !whole.includes("lora_") && config.isSavedWhole(whole)) {
      replaced.set(whole, tensor);
      continue;
    }
    throw new UserError(
      `Cannot use ${path}: tensor "${name}" is no half of a LoRA pair, nor a module that its adapter_config.json says was saved whole`,
    );
  }
  const lost = config.savedModules.find((name) =>
    !replaced.keys().some((whole) => whole.replace(/\.(weight|bias)$/, "").endsWith(name))
  );
  if (lost !== undefined) {
    throw new UserError(
      `Cannot use ${path}: by its adapter_config.json ${lost} was trained and saved whole, but it is not there`,
    );
  }
  if (adapters.size > 1) {
    throw new UserError(
      `Cannot use ${path}: it holds the adapters ${
        [...adapters].join(" and ")
      }; save one of them by itself`,
    );
  }
  return { pairs, replaced };
}

function deltaOf(
  module: string,
  { A, B, isEmbedding }: Pair,
  { path, config }: { readonly path: string; readonly config: LoraConfig },
): LoraDelta {
  const refuse = (reason: string) => new UserError(`Cannot use ${path}: ${reason}`);
  if (A === undefined || B === undefined) {
    throw refuse(`of ${module}.weight it holds only one of lora_A and lora_B`);
  }
  const why = config.whyNot(module);
  if (why !== undefined) {
    throw refuse(`it holds a pair for ${module}, but ${why}, so that PEFT would not use it`);
  }
  const { rank, scale } = config.scaleOf(module);
  if (A.shape.length !== 2 || B.shape.length !== 2 || A.shape[0] !== rank || B.shape[1] !== rank) {
    throw refuse(
      `of ${module}.weight lora_A is [${A.shape.join(", ")}] and lora_B [${
        B.shape.join(", ")
      }], but r is ${rank}`,
    );
  }
  const [a, b] = [readValues(A), readValues(B)];
  // An embedding looks rows up: its table [V, D] gains (B A)ᵀ = Aᵀ Bᵀ.
  return isEmbedding
    ? { a_RK: transposed(b, rank), b_MR: transposed(a, at(A.shape, 1)), rank, scale }
    : { a_RK: a, b_MR: b, rank, scale };
}

/**
 * Reads an adapter's folder.
 *
 * @param folder With adapter_config.json and adapter_model.safetensors.
 * @returns What it adds to which weight, and which it replaces.
 * @throws {UserError} When it is no LoRA that can be merged, half of a pair is missing, ranks disagree, or the configuration does
 *   not have a pair that the file has.
 */
export function readLoraAdapter(folder: string): LoraAdapter {
  const configPath = `${folder}/adapter_config.json`;
  const path = `${folder}/adapter_model.safetensors`;
  const config = readLoraConfig(configPath);
  if (!exists(path) && exists(`${folder}/adapter_model.bin`)) {
    throw new UserError(
      `Cannot use ${folder}: it holds adapter_model.bin, which is Python's own format; save it with safe_serialization`,
    );
  }
  const place = { path, config };
  const { pairs, replaced } = sorted(findTensorsOf(path), place);
  const deltas = new Map(
    Array.from(pairs, ([module, pair]) => [`${module}.weight`, deltaOf(module, pair, place)]),
  );
  return { path: folder, deltas, replaced };
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
      const b = b_MR[(firstRow + n) * rank + r] ?? NaN;
      for (let k = 0; k < width; k++) {
        sum_K[k] = (sum_K[k] ?? NaN) + b * (a_RK[r * width + k] ?? NaN);
      }
    }
    for (let k = 0; k < width; k++) {
      const i = n * width + k;
      rows_NK[i] = (rows_NK[i] ?? NaN) + scale * (sum_K[k] ?? NaN);
    }
  }
}
