/** JSON files, whole or not at all. */
import { UserError } from "../core/errors.ts";
import { writeFileAtomic } from "./atomic_file.ts";
import { asUserError } from "./file_error.ts";

/**
 * Writes a JSON file, whole or not at all.
 *
 * @param path The file.
 * @param value JSON values.
 * @throws {UserError} When it cannot be written.
 */
export function writeJson(path: string, value: unknown): void {
  writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Reads a JSON file.
 *
 * @param path The file.
 * @returns Its content, unchecked: parse it with a schema.
 * @throws {UserError} When it cannot be read or is no JSON.
 */
export function readJson(path: string): unknown {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(
      `Cannot read ${path}: it is no JSON (${error instanceof Error ? error.message : error})`,
    );
  }
}
