/** Checkpoints on disk, each one safetensors file. */
import { UserError } from "../core/errors.ts";
import { readTensorFile, writeTensorFile } from "../files/tensor_file.ts";
import { type Checkpoint, checkpointFile, parseCheckpoint } from "../model/checkpoint.ts";

export type { Checkpoint };

/**
 * Writes a checkpoint, whole or not at all.
 *
 * @param path The file; its folder must exist.
 * @param checkpoint What it should hold.
 * @throws {UserError} When it cannot be written.
 */
export function writeCheckpoint(path: string, checkpoint: Checkpoint): void {
  writeTensorFile(path, checkpointFile(checkpoint));
}

/**
 * Reads a checkpoint, or a bare safetensors file with a TinyAgent's parameters, whoever wrote it.
 *
 * @param path The file.
 * @returns Its content; every number in it is finite.
 * @throws {UserError} When the file cannot be read, is not a safetensors file, comes from a later version, or holds other names or
 *   shapes than a model's; with exit code 1 when a weight or moment is not finite.
 */
export function readCheckpoint(path: string): Checkpoint {
  const file = readTensorFile(path);
  try {
    return { ...parseCheckpoint(file), isVerified: file.isVerified };
  } catch (error) {
    // The model's own rules (a width that no head count divides) are RangeErrors; here a file broke them.
    if (error instanceof UserError || error instanceof RangeError) {
      const exitCode = error instanceof UserError ? error.exitCode : 2;
      throw new UserError(`Cannot use checkpoint ${path}: ${error.message}`, exitCode);
    }
    throw error;
  }
}
