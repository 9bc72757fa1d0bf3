/** Files that appear whole or not at all: written under a temporary name in the same folder, synced, renamed. */
import { asUserError } from "./file_error.ts";
import { requireRegular } from "./read_file.ts";

/** `NAME.UUID.tmp`, as {@linkcode writeFilePartsAtomic} makes them; group 1 is NAME. */
const TEMPORARY_NAME = /^(.+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** The name that a temporary file was to get; undefined where no writer of this program made it. */
export function temporaryFor(name: string): string | undefined {
  return TEMPORARY_NAME.exec(name)?.[1];
}

function writeAll(file: Deno.FsFile, part: Uint8Array): void {
  let rest = part;
  while (rest.length > 0) rest = rest.subarray(file.writeSync(rest));
}

function writeWhole(path: string, parts: Iterable<Uint8Array>): void {
  using file = Deno.openSync(path, { write: true, createNew: true });
  for (const part of parts) writeAll(file, part);
  // The bytes must be on disk before the name is: a rename may survive a power cut that the bytes do not.
  file.syncSync();
}

/** A rename would put a file in place of a device or a pipe. */
function requireReplaceable(path: string): void {
  try {
    requireRegular(Deno.statSync(path), `Cannot write ${path}`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/**
 * Writes a file from parts so that readers, and a later start after a crash, see the old content or the new one and never a mixture.
 *
 * @param path Where the file goes; its folder must exist.
 * @param parts The content, piece by piece; where the iteration throws, nothing changes.
 * @throws {UserError} When the folder is missing or may not be written, the disk is full, or something other than a file is there.
 */
export function writeFilePartsAtomic(path: string, parts: Iterable<Uint8Array>): void {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    requireReplaceable(path);
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
 * @throws {UserError} As {@linkcode writeFilePartsAtomic}.
 */
export function writeFileAtomic(path: string, content: string | Uint8Array): void {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  writeFilePartsAtomic(path, [bytes]);
}

/** {@linkcode writeFilePartsAtomic} of parts that come as they are read. */
export async function writeFileStreamAtomic(
  path: string,
  parts: AsyncIterable<Uint8Array>,
): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    requireReplaceable(path);
    {
      using file = Deno.openSync(temporary, { write: true, createNew: true });
      for await (const part of parts) writeAll(file, part);
      file.syncSync();
    }
    Deno.renameSync(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
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
