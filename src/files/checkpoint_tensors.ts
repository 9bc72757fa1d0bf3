/** The tensors of a checkpoint: one safetensors file, or shards with an index; headers first, data by ranges. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { requireSchema } from "../core/schema.ts";
import {
  type DtypeBytes,
  headerEnd,
  parseLayout,
  SAFETENSORS_START_BYTES,
  type TensorEntry,
} from "../model/safetensors.ts";
import { asUserError } from "./file_error.ts";
import { readJson } from "./json.ts";
import { fillFrom, openRegularFile } from "./read_file.ts";

/** Dtypes of weights. */
export type WeightDtype = "BF16" | "F16" | "F32";

/** Bytes of a value. */
export const WEIGHT_DTYPE_BYTES = { BF16: 2, F16: 2, F32: 4 } as const satisfies Record<
  WeightDtype,
  number
>;

/** Bytes of a value of every dtype of the format: one that is not read is refused by what it means, not as unknown. */
const ALL_DTYPES: DtypeBytes = {
  ...WEIGHT_DTYPE_BYTES,
  F64: 8,
  I64: 8,
  U64: 8,
  I32: 4,
  U32: 4,
  I16: 2,
  U16: 2,
  I8: 1,
  U8: 1,
  BOOL: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
};

/** A tensor in a file that is not read yet. */
export interface StoredTensor {
  /** Its name in the checkpoint. */
  readonly name: string;
  /** The file that holds it. */
  readonly path: string;
  /** How its values are stored. */
  readonly dtype: WeightDtype;
  /** Its sizes, outermost first. */
  readonly shape: readonly number[];
  /** Of its first byte in the file. */
  readonly offsetBytes: number;
}

/** Files larger than this are no checkpoints: 100 TB. */
const MAX_BYTES = 1e14;

const INDEX = z.object({ weight_map: z.record(z.string(), z.string()) });

const isWeightDtype = (dtype: string): dtype is WeightDtype =>
  Object.hasOwn(WEIGHT_DTYPE_BYTES, dtype);

function weightDtype({ name, dtype }: TensorEntry, path: string): WeightDtype {
  if (isWeightDtype(dtype)) return dtype;
  throw new UserError(
    `Cannot use ${path}: tensor "${name}" has dtype ${dtype}; BF16, F16 and F32 are read, ` +
      "quantised weights are not",
  );
}

/** The tensors of one file, from its header. */
function readHeader(path: string): StoredTensor[] {
  const { file, sizeBytes } = openRegularFile(path, { maxBytes: MAX_BYTES });
  try {
    const options = { fileName: path, sizeBytes, dtypes: ALL_DTYPES };
    const start = fillFrom(file, new Uint8Array(Math.min(sizeBytes, SAFETENSORS_START_BYTES)));
    const header = new Uint8Array(headerEnd(start, options));
    header.set(start);
    fillFrom(file, header.subarray(start.length));
    const { entries, dataStart } = parseLayout(header, options);
    return entries.map((entry) => ({
      name: entry.name,
      path,
      dtype: weightDtype(entry, path),
      shape: entry.shape,
      offsetBytes: dataStart + entry.begin,
    }));
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  } finally {
    file.close();
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw asUserError(error, `Cannot read ${path}`);
  }
}

function readShards(folder: string, indexPath: string): Map<string, StoredTensor> {
  const { weight_map } = requireSchema(readJson(indexPath), INDEX, { source: indexPath });
  const files = [...new Set(Object.values(weight_map))];
  const tensors = new Map<string, StoredTensor>();
  for (const file of files) {
    if (/[/\\]/.test(file) || !file.endsWith(".safetensors")) {
      throw new UserError(
        `Cannot use ${indexPath}: its shard ${
          JSON.stringify(file)
        } must be a safetensors file of the same folder`,
      );
    }
    const path = `${folder}/${file}`;
    if (!exists(path)) {
      throw new UserError(
        `Cannot use ${folder}: the shard ${file}, which its index names, is not there`,
      );
    }
    for (const tensor of readHeader(path)) {
      if (weight_map[tensor.name] !== file) {
        throw new UserError(
          `Cannot use ${path}: it holds "${tensor.name}", which the index does not place there`,
        );
      }
      tensors.set(tensor.name, tensor);
    }
  }
  for (const [name, file] of Object.entries(weight_map)) {
    if (tensors.has(name)) continue;
    throw new UserError(
      `Cannot use ${folder}/${file}: it holds no tensor "${name}", which the index places there`,
    );
  }
  return tensors;
}

/**
 * Finds the tensors of a checkpoint's folder: model.safetensors, or shards with model.safetensors.index.json.
 *
 * @param folder The folder.
 * @returns Tensors by name; their data are not read.
 * @throws {UserError} When there are none, a shard is not there, a file is truncated or has a header that cannot be right, a
 *   tensor is quantised, or index and shards disagree.
 */
export function findTensors(folder: string): ReadonlyMap<string, StoredTensor> {
  const single = `${folder}/model.safetensors`;
  const index = `${single}.index.json`;
  if (exists(single)) return new Map(readHeader(single).map((tensor) => [tensor.name, tensor]));
  if (exists(index)) return readShards(folder, index);
  throw new UserError(
    `Cannot use ${folder}: it holds neither model.safetensors nor model.safetensors.index.json`,
  );
}

/** The tensors of one safetensors file by name; as {@linkcode findTensors}. */
export function findTensorsOf(path: string): ReadonlyMap<string, StoredTensor> {
  return new Map(readHeader(path).map((tensor) => [tensor.name, tensor]));
}

/** Values that are read at once: 4 MiB of f32. */
const PIECE_VALUES = 2 ** 20;

/** The bits of an exponent that no finite value has, by dtype. */
const NON_FINITE = { BF16: 0x7f80, F16: 0x7c00, F32: 0x7f800000 } as const;

function requireFinite(bytes: Uint8Array<ArrayBuffer>, tensor: StoredTensor): void {
  const { dtype, name, path } = tensor;
  const exponent = NON_FINITE[dtype];
  const values = dtype === "F32"
    ? new Uint32Array(bytes.buffer, 0, bytes.length / 4)
    : new Uint16Array(bytes.buffer, 0, bytes.length / 2);
  for (let i = 0; i < values.length; i++) {
    if (((values[i] ?? 0) & exponent) === exponent) {
      throw new UserError(`Cannot use ${path}: tensor "${name}" holds a value that is not finite`);
    }
  }
}

/**
 * Reads the rows of a tensor, some at a time.
 *
 * @param tensor The tensor.
 * @param visit Called with the first row of each piece and the bytes of its rows, which are the visitor's only until it returns.
 * @throws {UserError} When the file ends early or a value is not finite.
 */
export function readRows(
  tensor: StoredTensor,
  visit: (firstRow: number, bytes: Uint8Array<ArrayBuffer>) => void,
): void {
  const { path, dtype, shape, offsetBytes } = tensor;
  const [rows = 1, width = 1] = shape.length === 2 ? shape : [1, shape[0]];
  const pieceRows = Math.max(1, Math.floor(PIECE_VALUES / Math.max(1, width)));
  const rowBytes = width * WEIGHT_DTYPE_BYTES[dtype];
  const { file } = openRegularFile(path, { maxBytes: MAX_BYTES });
  try {
    file.seekSync(offsetBytes, Deno.SeekMode.Start);
    for (let row = 0; row < rows; row += pieceRows) {
      const bytes = new Uint8Array(Math.min(pieceRows, rows - row) * rowBytes);
      if (fillFrom(file, bytes).length < bytes.length) {
        throw new UserError(`Cannot read ${path}: it ended while tensor "${tensor.name}" was read`);
      }
      requireFinite(bytes, tensor);
      visit(row, bytes);
    }
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  } finally {
    file.close();
  }
}
