/** JSON that is dear to make, kept in a folder under a hash of what it is made of. */
import { UserError } from "../../core/errors.ts";
import { asUserError } from "../../files/file_error.ts";
import { readJson, writeJson } from "../../files/json.ts";
import { exists, namesIn } from "../../files/paths.ts";

/** Hexadecimal digits of the hash in a file's name. */
const DIGITS = 16;

/** What is kept where. */
export interface Kept {
  /** The folder; undefined: nothing is kept. */
  readonly folder: string | undefined;
  /** What it is, in the file's name. */
  readonly name: string;
  /** SHA-256 of what it is made of. */
  readonly hash: string;
}

/** What is kept; undefined where nothing whole is. */
function readKept(path: string): unknown {
  try {
    return exists(path) ? readJson(path) : undefined;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** Writes it down, and removes what was kept of earlier sources. Where that cannot be, it is made again the next time. */
function keep(value: unknown, { folder, file, name }: {
  readonly folder: string;
  readonly file: string;
  readonly name: string;
}): void {
  try {
    Deno.mkdirSync(folder, { recursive: true });
    writeJson(`${folder}/${file}`, value);
    const isOlder = (other: string) =>
      other !== file && other.startsWith(`${name}-`) && other.endsWith(".json");
    for (const other of namesIn(folder).filter(isOlder)) Deno.removeSync(`${folder}/${other}`);
  } catch (error) {
    if (!(asUserError(error, folder) instanceof UserError)) throw error;
  }
}

/**
 * Takes what was kept, or makes it and keeps it.
 *
 * @param options.isWhole Whether a value that was read is one.
 * @param options.make Makes it: JSON values.
 */
export async function keptOrMade<T>(
  { folder, name, hash }: Kept,
  { isWhole, make }: {
    readonly isWhole: (value: unknown) => value is T;
    readonly make: () => Promise<T>;
  },
): Promise<T> {
  const file = `${name}-${hash.slice(0, DIGITS)}.json`;
  const kept = folder === undefined ? undefined : readKept(`${folder}/${file}`);
  if (isWhole(kept)) return kept;
  const made = await make();
  if (folder !== undefined) keep(made, { folder, file, name });
  return made;
}
