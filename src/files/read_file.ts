/** Reading with no trust in what stands at a path: regular files of a size that fits, and nothing before that is known. */
import { UserError } from "../core/errors.ts";
import { asUserError } from "./file_error.ts";

/** The largest JSON document: the catalogue of a lab holds some megabytes. */
export const MAX_JSON_BYTES = 64 * 2 ** 20;

/** The largest file of tensors: a model whose moments fill it has 178 million parameters. */
export const MAX_TENSOR_BYTES = 2 * 2 ** 30;

/** `4.3 GB`. */
export function formatBytes(sizeBytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const power = Math.min(4, Math.floor(Math.log10(Math.max(1, sizeBytes)) / 3));
  const value = sizeBytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}

function kindOf(info: Deno.FileInfo): string {
  if (info.isDirectory) return "a folder";
  if (info.isFifo) return "a named pipe";
  if (info.isSocket) return "a socket";
  return "a device";
}

/**
 * Refuses what is not a regular file: a folder, a device that never ends, a pipe that never begins.
 *
 * @throws {UserError} When there is nothing of that name, or something else.
 */
export function requireRegular(info: Deno.FileInfo, attempt: string): void {
  if (info.isFile) return;
  throw new UserError(`${attempt}: it is ${kindOf(info)}, but must be a regular file`);
}

/** An open file and its size at that moment. */
export interface OpenFile {
  readonly file: Deno.FsFile;
  readonly sizeBytes: number;
}

/**
 * Opens a regular file for reading.
 *
 * @param path The file.
 * @param options.maxBytes A larger one is refused.
 * @returns The file, which is the caller's to close.
 * @throws {UserError} When it cannot be opened, is not a regular file, or is too large.
 */
export function openRegularFile(path: string, { maxBytes }: { maxBytes: number }): OpenFile {
  const attempt = `Cannot read ${path}`;
  try {
    // Asked before it is opened: opening a named pipe waits for its writer.
    requireRegular(Deno.statSync(path), attempt);
    const file = Deno.openSync(path, { read: true });
    const { size: sizeBytes } = file.statSync();
    if (sizeBytes <= maxBytes) return { file, sizeBytes };
    file.close();
    throw new UserError(
      `${attempt}: it holds ${formatBytes(sizeBytes)}; at most ${
        formatBytes(maxBytes)
      } are read of such a file`,
    );
  } catch (error) {
    throw asUserError(error, attempt);
  }
}

/** Fills `bytes` from the file as far as it goes. @returns The bytes that there were. */
export function fillFrom(
  file: Deno.FsFile,
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  let count = 0;
  while (count < bytes.length) {
    const read = file.readSync(bytes.subarray(count));
    if (read === null) break;
    count += read;
  }
  return bytes.subarray(0, count);
}

/**
 * Reads a whole file.
 *
 * @param path The file.
 * @param options.maxBytes A larger one is refused.
 * @throws {UserError} When it cannot be read, is not a regular file, or is too large.
 */
export function readBytes(path: string, options: { maxBytes: number }): Uint8Array<ArrayBuffer> {
  const { file, sizeBytes } = openRegularFile(path, options);
  try {
    return fillFrom(file, new Uint8Array(sizeBytes));
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  } finally {
    file.close();
  }
}

/** {@linkcode readBytes} as UTF-8. */
export function readText(path: string, options: { maxBytes: number }): string {
  return new TextDecoder().decode(readBytes(path, options));
}
