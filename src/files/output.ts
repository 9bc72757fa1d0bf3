/** Where a result may go, asked before the work: into a folder that is there, and never over what the work reads. */
import { dirname } from "node:path";
import { UserError } from "../core/errors.ts";
import { asUserError } from "./file_error.ts";
import { infoOf, namesIn } from "./paths.ts";
import { requireRegular } from "./read_file.ts";

/** Files of a folder that commands read; an earlier report beside them is none. */
const READ_NAMES = /\.(?:jsonl?|safetensors)$/;

/** How deep a folder of runs goes: FOLDER/RUN/steps/N/state.safetensors. */
const MAX_DEPTH = 5;

function isSameFile(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return a.ino !== null && a.ino === b.ino && a.dev === b.dev;
}

/** The first file below `path`, or the path itself, that is the same file as `output`; undefined where there is none. */
function findSame(path: string, output: Deno.FileInfo, depth = 0): string | undefined {
  const info = infoOf(path);
  if (info === undefined || depth > MAX_DEPTH) return undefined;
  if (!info.isDirectory) return isSameFile(info, output) ? path : undefined;
  for (const name of namesIn(path)) {
    const inside = `${path}/${name}`;
    if (!READ_NAMES.test(name) && infoOf(inside)?.isDirectory !== true) continue;
    const found = findSame(inside, output, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Refuses a place for a result before the work that makes it.
 *
 * @param path Where a file shall go.
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
    const same = findSame(input, output);
    if (same === undefined) continue;
    throw new UserError(
      `${attempt}: it is ${same}, which this command reads; choose another file for the result`,
    );
  }
}
