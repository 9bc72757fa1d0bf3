/** JSON files, whole or not at all. */
import { UserError } from "../core/errors.ts";
import { writeFileAtomic } from "./atomic_file.ts";
import { MAX_JSON_BYTES, readText } from "./read_file.ts";

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
 * @returns Its content, unchecked: hold it to a schema.
 * @throws {UserError} When it cannot be read, is larger than 64 MiB, or is not valid JSON.
 */
export function readJson(path: string): unknown {
  const text = readText(path, { maxBytes: MAX_JSON_BYTES });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(
      `Cannot read ${path}: it is not valid JSON (${
        error instanceof Error ? error.message : error
      })`,
    );
  }
}
