/** Safetensors files on disk: read whole, written whole or not at all. */
import { parseSafetensors, serializeSafetensors, type TensorFile } from "../model/safetensors.ts";
import { writeFileAtomic } from "./atomic_file.ts";
import { asUserError } from "./file_error.ts";

/**
 * Reads a safetensors file.
 *
 * @param path The file.
 * @returns Its tensors and texts.
 * @throws {UserError} When it cannot be read, or is no safetensors file that {@linkcode parseSafetensors} accepts.
 */
export function readTensorFile(path: string): TensorFile {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Deno.readFileSync(path);
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  }
  return parseSafetensors(bytes, path);
}

/**
 * Writes a safetensors file, whole or not at all.
 *
 * @param path The file; its folder must exist.
 * @param file Tensors and texts.
 * @throws {UserError} When it cannot be written.
 */
export function writeTensorFile(path: string, file: TensorFile): void {
  writeFileAtomic(path, serializeSafetensors(file));
}
