/** Loads a Hugging Face folder onto the device: checked against its configuration first, then streamed, some rows at a time. */
import { at } from "../core/element.ts";
import { UserError } from "../core/errors.ts";
import { suggestName } from "../core/nearest.ts";
import type { Commands } from "../gpu/commands.ts";
import type { WeightStorage } from "../kernels/stored_weights.ts";
import { type DecoderLayout, decoderLayout } from "../model/architectures.ts";
import type { DecoderConfig } from "../model/decoder_config.ts";
import {
  createDecoderWeights,
  type DecoderWeights,
  destroyDecoderWeights,
  inGigabytes,
  weightBytes,
  writeMatrixRows,
} from "../model/decoder_weights.ts";
import { roundToBf16 } from "../model/weight_values.ts";
import {
  findTensors,
  readRows,
  type StoredTensor,
  type WeightDtype,
} from "./checkpoint_tensors.ts";
import {
  type LoraAdapter,
  mergeRows,
  readLoraAdapter,
  readValues,
  widened,
} from "./lora_adapter.ts";
import { readModelConfig } from "./model_config.ts";

/** A checkpoint whose headers were read and found to agree. */
export interface DecoderFiles {
  /** The folder. */
  readonly path: string;
  /** What config.json says. */
  readonly config: DecoderConfig;
  /** Where each weight goes. */
  readonly layout: DecoderLayout;
  /** The checkpoint's tensors by name, unread. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** The adapter that is merged, if any. */
  readonly adapter: LoraAdapter | undefined;
}

/** What the sentence about a tensor that is not used says it may be; some checkpoints hold them, and nobody reads them. */
const UNUSED = /\.rotary_emb\.inv_freq$/;

/** Shapes by name that the configuration asks for. */
function requiredShapes(layout: DecoderLayout): Map<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>();
  for (const { sources, width } of layout.matrices) {
    for (const { name, rowCount } of sources) shapes.set(name, [rowCount, width]);
  }
  for (const { name, length } of layout.vectors) shapes.set(name, [length]);
  return shapes;
}

function checkTensors(
  { path, layout, tensors, config }: Omit<DecoderFiles, "adapter">,
): void {
  const required = requiredShapes(layout);
  // Where the head is tied, a copy of the table that was saved beside it is not read: so do the frameworks.
  const isUnused = (name: string) =>
    UNUSED.test(name) || (config.isTied && name === "lm_head.weight");
  for (const [name, shape] of required) {
    const found = tensors.get(name);
    if (found === undefined) {
      throw new UserError(
        `Cannot use ${path}: it holds no tensor "${name}"; ${
          suggestName(name, [...tensors.keys()].slice(0, 50))
        }`,
      );
    }
    if (found.shape.join() !== shape.join()) {
      throw new UserError(
        `Cannot use ${found.path}: tensor "${name}" is [${
          found.shape.join(", ")
        }], but by config.json [${shape.join(", ")}]`,
      );
    }
  }
  for (const [name, { path: file }] of tensors) {
    if (required.has(name) || isUnused(name)) continue;
    throw new UserError(
      `Cannot use ${file}: it holds the tensor "${name}", for which a ${config.architecture} ` +
        "of its config.json has no place",
    );
  }
}

/** Whether two tensors hold the same bytes. */
function areEqual(one: StoredTensor, other: StoredTensor): boolean {
  if (one.dtype !== other.dtype || one.shape.join() !== other.shape.join()) return false;
  const hashOf = (tensor: StoredTensor) => {
    let hash = 2166136261;
    readRows(tensor, (_, bytes) => {
      for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 16777619);
    });
    return hash;
  };
  return hashOf(one) === hashOf(other);
}

/** The tensors with those that an adapter saved whole in their places. */
function replacedTensors(
  { path, replaced, deltas }: LoraAdapter,
  { layout, tensors, config }: Pick<DecoderFiles, "layout" | "tensors" | "config">,
): ReadonlyMap<string, StoredTensor> {
  const required = requiredShapes(layout);
  const [table, head] = ["model.embed_tokens.weight", "lm_head.weight"];
  const untying = config.isTied &&
    [table, head].find((name) =>
      deltas.has(name) || (replaced.has(name) && !(replaced.has(table) && replaced.has(head)))
    );
  const [newTable, newHead] = [replaced.get(table), replaced.get(head)];
  const isUntied = config.isTied && newTable && newHead && !areEqual(newTable, newHead);
  if (untying || isUntied) {
    throw new UserError(
      `Cannot use ${path}: it changes ${
        untying || head
      }, but the model's head is tied to its table, and PEFT unties what was one; give a merged model`,
    );
  }
  for (const [name, { shape, path: file }] of replaced) {
    if (config.isTied && name === head) continue;
    const needed = required.get(name);
    if (needed?.join() === shape.join()) continue;
    throw new UserError(
      needed === undefined
        ? `Cannot use ${path}: it replaces "${name}", which the model does not have`
        : `Cannot use ${file}: "${name}" is [${shape.join(", ")}], but the model's is [${
          needed.join(", ")
        }]`,
    );
  }
  return new Map([...tensors, ...replaced]);
}

function checkDeltas({ path, deltas }: LoraAdapter, layout: DecoderLayout): void {
  const matrices = new Map(
    layout.matrices.flatMap(({ sources, width }) =>
      sources.map(({ name, rowCount }) => [name, [rowCount, width]] as const)
    ),
  );
  for (const [name, { a_RK, b_MR, rank }] of deltas) {
    const shape = matrices.get(name);
    const found = [b_MR.length / rank, a_RK.length / rank];
    if (shape === undefined) {
      throw new UserError(
        `Cannot use ${path}: it changes "${name}", which the model does not have`,
      );
    }
    if (shape.join() !== found.join()) {
      throw new UserError(
        `Cannot use ${path}: its pair for "${name}" makes [${
          found.join(", ")
        }], but the weight is [${shape.join(", ")}]`,
      );
    }
  }
}

/**
 * Reads configuration and headers of a model's folder, and an adapter.
 *
 * @param path The folder.
 * @param options.adapter An adapter's folder.
 * @throws {UserError} When something of it is not read, or names, shapes and dtypes are not what config.json asks for.
 */
export function openDecoderFiles(
  path: string,
  options: { readonly adapter?: string | undefined } = {},
): DecoderFiles {
  const config = readModelConfig(`${path}/config.json`);
  const layout = decoderLayout(config);
  const tensors = findTensors(path);
  checkTensors({ path, config, layout, tensors });
  const adapter = options.adapter === undefined ? undefined : readLoraAdapter(options.adapter);
  if (adapter === undefined) return { path, config, layout, tensors, adapter };
  const files = { layout, tensors: replacedTensors(adapter, { layout, tensors, config }) };
  checkDeltas(adapter, layout);
  return { path, config, adapter, ...files };
}

const STORAGE_OF = { BF16: "bf16", F16: "f16", F32: "f32" } as const satisfies Record<
  WeightDtype,
  WeightStorage
>;

/** How each matrix is stored: as in the file, but f32 where files or an adapter mix; or as asked for. */
function chooseStorages(
  { layout, tensors, adapter }: DecoderFiles,
  asked: "f32" | "bf16" | undefined,
): WeightStorage[] {
  return layout.matrices.map(({ sources }) => {
    if (asked !== undefined) return asked;
    const dtypes = new Set(sources.map(({ name }) => tensors.get(name)?.dtype ?? "F32"));
    const [dtype = "F32"] = dtypes;
    const isMerged = sources.some(({ name }) => adapter?.deltas.has(name));
    return dtypes.size > 1 || isMerged ? "f32" : STORAGE_OF[dtype];
  });
}

/** Rows in the storage of their matrix. */
function storedRows(
  bytes: Uint8Array<ArrayBuffer>,
  options: {
    readonly dtype: WeightDtype;
    readonly storage: WeightStorage;
    readonly merge: ((rows_NK: Float32Array) => void) | undefined;
  },
): Uint8Array<ArrayBuffer> {
  const { dtype, storage, merge } = options;
  if (merge === undefined && STORAGE_OF[dtype] === storage) return bytes;
  const values = widened(bytes, dtype);
  merge?.(values);
  return new Uint8Array((storage === "bf16" ? roundToBf16(values) : values).buffer);
}

function loadMatrix(commands: Commands, files: DecoderFiles, target: {
  readonly weights: DecoderWeights;
  readonly matrix: number;
}): void {
  const { weights, matrix } = target;
  const { sources, width } = at(files.layout.matrices, matrix);
  const { storage } = at(weights.matrices, matrix);
  let first = 0;
  for (const { name, rowCount } of sources) {
    const tensor = files.tensors.get(name);
    if (tensor === undefined) throw new RangeError(`Cannot load ${name}: it was not checked`);
    const delta = files.adapter?.deltas.get(name);
    readRows(tensor, (row, bytes) => {
      writeMatrixRows(commands, weights, {
        matrix,
        firstRow: first + row,
        bytes: storedRows(bytes, {
          dtype: tensor.dtype,
          storage,
          merge: delta && ((rows_NK) => mergeRows(rows_NK, { delta, firstRow: row, width })),
        }),
      });
      // What was written waits on the host for the next submit: without one, until the whole model is there.
      commands.gpu.device.queue.submit([]);
    });
    first += rowCount;
  }
}

/** A model on the device. */
export interface LoadedDecoder {
  /** To be freed with `destroyDecoderWeights`. */
  readonly weights: DecoderWeights;
  /** Whether a matrix had to be rounded, because bf16 was asked for and the file or the adapter holds more. */
  readonly isRounded: boolean;
}

/**
 * Loads a model. At most a few megabytes of it are on the host at any time.
 *
 * @param files Of {@linkcode openDecoderFiles}.
 * @param options.storage How matrices are stored (default: as in the file, and f32 where an adapter is merged); gains and biases
 *   are f32.
 * @param options.availableBytes Memory that may be used, where it is known: on a software adapter that of the machine.
 * @throws {UserError} When the model does not fit, with the GB it needs, or a value is not finite.
 */
export async function loadDecoder(
  commands: Commands,
  files: DecoderFiles,
  options: {
    readonly storage?: "f32" | "bf16" | undefined;
    readonly availableBytes?: number | undefined;
  } = {},
): Promise<LoadedDecoder> {
  const { path, config, layout, tensors, adapter } = files;
  const storages = chooseStorages(files, options.storage);
  const needed = weightBytes(layout, storages);
  if (options.availableBytes !== undefined && needed > options.availableBytes) {
    throw new UserError(
      `Cannot load ${path}: its weights need ${inGigabytes(needed)}, but ${
        inGigabytes(options.availableBytes)
      } are free; use a smaller model, or bf16 weights where they are f32`,
    );
  }
  const weights = await createDecoderWeights(commands, config, { storages });
  try {
    for (const { name, offset } of layout.vectors) {
      const tensor = tensors.get(name);
      if (tensor) commands.write(weights.vectors, readValues(tensor), 4 * offset);
    }
    for (let matrix = 0; matrix < layout.matrices.length; matrix++) {
      loadMatrix(commands, files, { weights, matrix });
      await commands.gpu.device.queue.onSubmittedWorkDone();
    }
  } catch (error) {
    destroyDecoderWeights(weights);
    throw error;
  }
  const isRounded = options.storage === "bf16" &&
    layout.matrices.some(({ sources }) =>
      sources.some(({ name }) => tensors.get(name)?.dtype !== "BF16" || adapter?.deltas.has(name))
    );
  return { weights, isRounded };
}
