/** From what a user names, a file or a folder, to a sweep that is planned in its folder. */
import { basename } from "node:path";
import { UserError } from "../../src/core/errors.ts";
import { temporaryFor } from "../../src/files/atomic_file.ts";
import { asUserError } from "../../src/files/file_error.ts";
import { exists, isFolder, namesIn } from "../../src/files/paths.ts";
import { planSweep } from "../../src/sweep/plan.ts";
import { readSweepFile } from "../../src/sweep/sweep_file.ts";
import { readSweep, type Sweep, type SweepPlan, writeSweep } from "../../src/sweep/sweep_folder.ts";
import { isSweepFolder } from "../../src/sweep/sweep_paths.ts";
import { rulesOf } from "./cell_commands.ts";

/** Where a sweep of that name lies where nobody says. */
function defaultFolder(name: string): string {
  return `runs/sweep-${name}`;
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/+$/, "");
}

/** The folder of a sweep that exists. @throws {UserError} When there is none. */
async function findFolder(path: string, out: string | undefined): Promise<string> {
  if (isFolder(path)) {
    if (out !== undefined) {
      throw new UserError(`--out ${out} is not for a sweep that lies in ${path}: leave it out`);
    }
    if (isSweepFolder(path)) return withoutSlash(path);
    throw new UserError(
      `Cannot use ${path}: this folder holds no sweep (sweep.json is missing); name a sweep's file or its folder`,
    );
  }
  return out ?? defaultFolder((await readSweepFile(path)).name);
}

/**
 * Reads a sweep that has begun.
 *
 * @param path Its folder, or the file that it was planned from.
 * @throws {UserError} When it has not begun, or the folder holds the sweep of another file.
 */
export async function findSweep(path: string, out: string | undefined): Promise<Sweep> {
  const folder = await findFolder(path, out);
  if (isSweepFolder(folder)) {
    const sweep = readSweep(folder);
    // lr.yaml and lr.json have one default folder, and nobody is to cancel the other's sweep.
    if (!isFolder(path) && basename(sweep.file) !== basename(path)) {
      throw new UserError(
        `Cannot use ${path}: ${folder} holds the sweep of ${sweep.file}; name that folder itself`,
      );
    }
    return sweep;
  }
  throw new UserError(
    `Cannot read ${folder}: no sweep has begun there; begin it with cli/agentrl sweep ${path}`,
  );
}

/** What stands in a folder that is no sweep's; undefined: nothing but what a plan that is being written leaves. */
function foundIn(folder: string): string | undefined {
  if (!exists(folder)) return undefined;
  return namesIn(folder).find((name) => temporaryFor(name) !== "sweep.json");
}

/** What a new plan changes in one that is there, as a sentence; undefined: nothing. @throws {UserError} When it is another sweep. */
function comparePlans(plan: SweepPlan, folder: string): string | undefined {
  const earlier = new Set(readSweep(folder).cells.map(({ id }) => id));
  const now = new Set(plan.cells.map(({ id }) => id));
  const added = [...now].filter((id) => !earlier.has(id)).length;
  const gone = [...earlier].filter((id) => !now.has(id)).length;
  if (added === now.size) {
    throw new UserError(
      `Cannot sweep into ${folder}: it holds another sweep, which has no cell of ${plan.file}; choose another --out`,
    );
  }
  if (added === 0 && gone === 0) return undefined;
  return `${plan.file} adds ${added} to the cells of ${folder}, and lacks ${gone} of them, whose runs stay`;
}

/** A sweep to work at. */
export interface OpenedSweep {
  readonly sweep: Sweep;
  /** What the file changes in the plan of an earlier start; undefined: nothing. */
  readonly change: string | undefined;
}

/**
 * Plans a sweep in its folder, or finds it planned.
 *
 * @param path A sweep's file; or the folder of one that has begun, whose plan is taken as it stands.
 * @param options.out The folder (default: runs/sweep-NAME).
 * @param options.isDry True: nothing is written, and the folder may be missing.
 * @throws {UserError} When the file or a cell of it is wrong, or the folder holds something else.
 */
export async function openSweep(
  path: string,
  { out, isDry }: { readonly out: string | undefined; readonly isDry: boolean },
): Promise<OpenedSweep> {
  if (isFolder(path)) return { sweep: readSweep(await findFolder(path, out)), change: undefined };
  const file = await readSweepFile(path);
  const plan = planSweep(file, await rulesOf(file.command));
  const folder = withoutSlash(out ?? defaultFolder(plan.name));
  const isThere = isSweepFolder(folder);
  const found = isThere ? undefined : foundIn(folder);
  if (found !== undefined) {
    throw new UserError(
      `Cannot sweep into ${folder}: it holds ${found} and no sweep; choose another --out`,
    );
  }
  const change = isThere ? comparePlans(plan, folder) : undefined;
  if (!isDry && (!isThere || change !== undefined)) {
    try {
      Deno.mkdirSync(folder, { recursive: true });
    } catch (error) {
      throw asUserError(error, `Cannot write to ${folder}`);
    }
    writeSweep(folder, plan);
  }
  return { sweep: isDry ? asSweep(plan, folder) : readSweep(folder), change };
}

/** A plan that nobody wrote, as if it were read. */
function asSweep(plan: SweepPlan, path: string): Sweep {
  const { cells, ...shared } = plan;
  return {
    ...shared,
    path,
    cells: cells.map((cell) => ({
      ...cell,
      command: plan.command,
      settings: {},
      folder: `${path}/runs/${cell.id}`,
    })),
  };
}
