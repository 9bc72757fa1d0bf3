/** Where a result may go, asked before the work: into a folder that is there, and never over what the work reads. */
import { dirname } from "node:path";
import { UserError } from "../core/errors.ts";
import { asUserError } from "./file_error.ts";
import { infoOf, isLink, namesIn } from "./paths.ts";
import { requireRegular } from "./read_file.ts";

/** Files of a folder that no command reads: earlier reports. What else lies there may be somebody's log. */
const NEVER_READ = /\.html?$/;

/** How deep a folder of runs goes: FOLDER/RUN/steps/N/state.safetensors. */
const MAX_DEPTH = 5;

function isSameFile(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return a.ino !== null && a.ino === b.ino && a.dev === b.dev;
}

/** The first file below a folder that is the same file as `output`; undefined where there is none. */
function findSame(folder: string, output: Deno.FileInfo, depth = 0): string | undefined {
  for (const name of namesIn(folder)) {
    if (NEVER_READ.test(name)) continue;
    const path = `${folder}/${name}`;
    try {
      const info = infoOf(path);
      if (info !== undefined && isSameFile(info, output)) return path;
      if (info?.isDirectory !== true || depth >= MAX_DEPTH) continue;
      const found = findSame(path, output, depth + 1);
      if (found !== undefined) return found;
    } catch (error) {
      // What this user may not look into is not an input of theirs.
      if (!(error instanceof UserError)) throw error;
    }
  }
  return undefined;
}

/** The name under which a command reads the file; undefined where it does not. */
function nameAsInput(input: string, output: Deno.FileInfo, path: string): string | undefined {
  const info = infoOf(input);
  if (info?.isDirectory !== true) {
    return info !== undefined && isSameFile(info, output) ? input : undefined;
  }
  // An earlier report under its only name: nothing in a folder can be the same file.
  const isReport = NEVER_READ.test(path) && output.nlink === 1 && !isLink(path);
  return isReport ? undefined : findSame(input, output);
}

/**
 * Refuses a place for a result before the work that makes it.
 *
 * @param path Where a file should go.
 * @param options.inputs Files and folders that the work reads.
 * @throws {UserError} When the folder is missing, something other than a file stands there, or it is one of the inputs under
 *   whatever name: the same path, another spelling, a symbolic or a hard link.
 */
export function requireOutput(
  path: string,
  { inputs = [] }: { readonly inputs?: readonly string[] } = {},
): void {
  const attempt = `Cannot write ${path}`;
  try {
    if (!Deno.statSync(dirname(path)).isDirectory) throw new Deno.errors.NotADirectory();
  } catch (error) {
    throw asUserError(error, attempt);
  }
  const output = infoOf(path);
  if (output === undefined) return;
  requireRegular(output, attempt);
  for (const input of inputs) {
    const same = nameAsInput(input, output, path);
    if (same === undefined) continue;
    throw new UserError(
      `${attempt}: it is ${same}, which this command reads; choose another file for the result`,
    );
  }
}
