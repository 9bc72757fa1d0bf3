/** What stands at a path. */
import { asUserError } from "./file_error.ts";

/** What is there, links followed; undefined: nothing. @throws {UserError} When that cannot be known. */
export function infoOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw asUserError(error, `Cannot read ${path}`);
  }
}

/** True where there is a file or folder of that name. @throws {UserError} When that cannot be known. */
export function exists(path: string): boolean {
  return infoOf(path) !== undefined;
}

/** True where there is a folder of that name. @throws {UserError} When that cannot be known. */
export function isFolder(path: string): boolean {
  return infoOf(path)?.isDirectory === true;
}

/** What is there itself, links not followed; undefined: nothing. @throws {UserError} When that cannot be known. */
function ownInfoOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw asUserError(error, `Cannot read ${path}`);
  }
}

/** True where a folder is itself of that name, and no link to one. @throws {UserError} When that cannot be known. */
export function isOwnFolder(path: string): boolean {
  return ownInfoOf(path)?.isDirectory === true;
}

/** True where there is a symbolic link of that name, wherever it leads. @throws {UserError} When that cannot be known. */
export function isLink(path: string): boolean {
  return ownInfoOf(path)?.isSymlink === true;
}

/**
 * Names of a folder's entries, sorted.
 *
 * @throws {UserError} When it is not a folder, or may not be read.
 */
export function namesIn(path: string): string[] {
  try {
    return Array.from(Deno.readDirSync(path), ({ name }) => name).sort();
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  }
}
