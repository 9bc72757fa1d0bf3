/** Safetensors files on disk, written whole or not at all, with a SHA-256 by which a reader knows damage. */
import { createHash } from "node:crypto";
import { UserError } from "../core/errors.ts";
import {
  headerEnd,
  parseLayout,
  parseSafetensors,
  SAFETENSORS_START_BYTES,
  serializeSafetensors,
  type TensorFile,
} from "../model/safetensors.ts";
import { CONTENT_HASH, hashedBytes, withHash } from "../model/content_hash.ts";
import { writeFileAtomic } from "./atomic_file.ts";
import { asUserError } from "./file_error.ts";
import { fillFrom, MAX_TENSOR_BYTES, openRegularFile } from "./read_file.ts";

/** A file that was read. */
export interface ReadTensorFile extends TensorFile {
  /** True: its SHA-256 was right. False: it carries none, as files of other programs and older versions. */
  readonly isVerified: boolean;
}

/** SHA-256, as hexadecimal, of what a file holds. */
function hashOf(file: TensorFile): string {
  return createHash("sha256").update(hashedBytes(file)).digest("hex");
}

/** Reads the header first, so that a large file of anything else is refused for the price of its beginning. */
function readWhole(path: string): Uint8Array<ArrayBuffer> {
  const { file, sizeBytes } = openRegularFile(path, { maxBytes: MAX_TENSOR_BYTES });
  const options = { fileName: path, sizeBytes };
  try {
    const start = fillFrom(file, new Uint8Array(Math.min(sizeBytes, SAFETENSORS_START_BYTES)));
    const header = new Uint8Array(headerEnd(start, options));
    header.set(start);
    fillFrom(file, header.subarray(start.length));
    parseLayout(header, options);
    const bytes = new Uint8Array(sizeBytes);
    bytes.set(header);
    fillFrom(file, bytes.subarray(header.length));
    return bytes;
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  } finally {
    file.close();
  }
}

/**
 * Reads a safetensors file.
 *
 * @param path The file.
 * @returns Its tensors and texts, and whether they were verified.
 * @throws {UserError} When it cannot be read, is not a safetensors file that {@linkcode parseSafetensors} accepts, or does not
 *   agree with the SHA-256 it carries.
 */
export function readTensorFile(path: string): ReadTensorFile {
  const { tensors, metadata: { [CONTENT_HASH]: hash, ...metadata } } = parseSafetensors(
    readWhole(path),
    path,
  );
  if (hash !== undefined && hash !== hashOf({ tensors, metadata })) {
    throw new UserError(
      `Cannot use ${path}: it is damaged, since its content does not have the SHA-256 it carries; ` +
        "restore it, or delete it to continue without it",
    );
  }
  return { tensors, metadata, isVerified: hash !== undefined };
}

/**
 * Writes a safetensors file with a SHA-256 of its content, whole or not at all.
 *
 * @param path The file; its folder must exist.
 * @param file Tensors and texts.
 * @throws {UserError} When it cannot be written.
 */
export function writeTensorFile(path: string, file: TensorFile): void {
  writeFileAtomic(path, serializeSafetensors(withHash(file, hashOf(file))));
}
