/** The files in a folder and in those below it, as far as a run's folder goes. */
import { join } from "node:path";
import { UserError } from "../core/errors.ts";
import { asUserError } from "./file_error.ts";

/** A folder with more entries is not a run's: somebody's home, or a whole disk. */
const MAX_ENTRIES = 100_000;

/** A file that was found, and the number of folders between it and the named one. */
export interface FileBelow {
  readonly path: string;
  readonly depth: number;
}

/**
 * The files below a folder. Links to folders are not followed: W&B's latest-run leads to a folder that is there anyway.
 *
 * @param root The folder.
 * @param options.what What is looked for, for messages, for example `a log`.
 * @param options.maxDepth Deeper folders are skipped.
 * @param options.skipped Names of folders that are skipped.
 * @throws {UserError} When a folder cannot be read, or there are too many files.
 */
export function filesBelow(
  root: string,
  options: { readonly what: string; readonly maxDepth: number; readonly skipped: RegExp },
): FileBelow[] {
  const attempt = `Cannot look for ${options.what} in ${root}`;
  const found: FileBelow[] = [];
  let entries = 0;
  const visit = (folder: string, depth: number) => {
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      entries++;
      if (entries > MAX_ENTRIES) {
        throw new UserError(
          `${attempt}: it holds more than ${MAX_ENTRIES} files; name the run's own folder`,
        );
      }
      const path = join(folder, name);
      if (!isDirectory) found.push({ path, depth });
      else if (depth < options.maxDepth && !options.skipped.test(name)) visit(path, depth + 1);
    }
  };
  try {
    visit(root, 0);
  } catch (error) {
    throw asUserError(error, attempt);
  }
  return found;
}
