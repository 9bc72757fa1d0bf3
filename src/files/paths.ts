/** What stands at a path. */
import { asUserError } from "./file_error.ts";

/** True where there is a file or folder of that name. @throws {UserError} When that cannot be known. */
export function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw asUserError(error, `Cannot read ${path}`);
  }
}

/** True where there is a folder of that name. @throws {UserError} When that cannot be known. */
export function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw asUserError(error, `Cannot read ${path}`);
  }
}
