/** Files that appear whole or not at all: written under a temporary name in the same folder, synced, renamed. */
import { dirname } from "node:path";
import { asUserError } from "./file_error.ts";
import { isFolder } from "./paths.ts";

function writeWhole(path: string, parts: Iterable<Uint8Array>): void {
  const file = Deno.openSync(path, { write: true, createNew: true });
  try {
    for (const part of parts) {
      let rest = part;
      while (rest.length > 0) rest = rest.subarray(file.writeSync(rest));
    }
    // The bytes must be on disk before the name is: a rename may survive a power cut that the bytes do not.
    file.syncSync();
  } finally {
    file.close();
  }
}

/**
 * Writes a file from parts so that readers, and a later start after a crash, see the old content or the new one and never a mixture.
 *
 * @param path Where the file goes; its folder must exist.
 * @param parts The content, piece by piece; where the iteration throws, nothing changes.
 * @throws {UserError} When the folder is missing or may not be written, or the disk is full.
 */
export function writeFilePartsAtomic(path: string, parts: Iterable<Uint8Array>): void {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    writeWhole(temporary, parts);
    Deno.renameSync(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
    throw asUserError(error, `Cannot write ${path}`);
  }
}

/**
 * Writes a file so that readers, and a later start after a crash, see the old content or the new one and never a mixture.
 *
 * @param path Where the file goes; its folder must exist.
 * @param content Text (written as UTF-8) or bytes.
 * @throws {UserError} When the folder is missing or may not be written, or the disk is full.
 */
export function writeFileAtomic(path: string, content: string | Uint8Array): void {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  writeFilePartsAtomic(path, [bytes]);
}

/**
 * Refuses a path whose folder is missing, before the work whose result shall be written there.
 *
 * @param path Where a file shall go.
 * @throws {UserError} When its folder is missing, or the path is a folder itself.
 */
export function requireFolderOf(path: string): void {
  try {
    if (!Deno.statSync(dirname(path)).isDirectory) throw new Deno.errors.NotADirectory();
    if (isFolder(path)) throw new Deno.errors.IsADirectory();
  } catch (error) {
    throw asUserError(error, `Cannot write ${path}`);
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    // A second failure (the folder is gone) must not hide the first one.
    if (!(error instanceof Error)) throw error;
  }
}
