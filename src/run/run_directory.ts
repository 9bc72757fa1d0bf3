/** The folder of a run: where each of its files lies, and the lock that keeps a second run out of it. */
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { temporaryFor } from "../files/atomic_file.ts";
import { asUserError } from "../files/file_error.ts";
import { isLink, isOwnFolder, namesIn } from "../files/paths.ts";

/** A run's folder, locked for the process that opened it. Layout: see the fields. */
export interface RunDirectory extends Disposable {
  /** The folder itself. */
  readonly path: string;
  /** Resolved configuration, versions, adapter, seed. */
  readonly config: string;
  /** One row per step. */
  readonly metrics: string;
  /** Verdicts of the invariants at step 0. */
  readonly checks: string;
  /** Verdicts of the invariants at later steps; missing where none were given. */
  readonly laterChecks: string;
  /** Sampled episodes. */
  readonly episodes: string;
  /** When each step ended and what it took. */
  readonly timing: string;
}

const LOCK_NAME = "lock";

/**
 * The paths of the files of a run, for reading: it takes no lock and creates nothing.
 *
 * @param path The run's folder.
 * @returns Paths by what they hold.
 */
export function runPaths(path: string): Omit<RunDirectory, typeof Symbol.dispose> {
  return {
    path,
    config: `${path}/config.json`,
    metrics: `${path}/metrics.jsonl`,
    checks: `${path}/checks.json`,
    laterChecks: `${path}/later_checks.jsonl`,
    episodes: `${path}/episodes.jsonl`,
    timing: `${path}/timing.jsonl`,
  };
}

/**
 * Path of a checkpoint.
 *
 * @param path The run's folder.
 * @param step Number of updates the checkpoint has behind it.
 * @returns `PATH/checkpoints/step-N.safetensors`
 */
export function checkpointPath(path: string, step: number): string {
  return `${path}/checkpoints/step-${step}.safetensors`;
}

/**
 * Folder of what a replay of a step needs.
 *
 * @param path The run's folder.
 * @param step The recorded step.
 * @returns `PATH/steps/N`
 */
export function stepPath(path: string, step: number): string {
  return `${path}/steps/${step}`;
}

/** Folders that {@linkcode openRunDirectory} itself makes. */
const OWN_FOLDERS = ["checkpoints", "steps"] as const;

/** Names of files that are written under a temporary name first, in a run's folder and in those below it. */
const WRITTEN_NAMES = {
  run: /^(?:config|checks)\.json$/,
  checkpoints: /^step-\d+\.safetensors$/,
  step: /^(?:(?:state|batch|weights)\.safetensors|record\.json|episodes\.jsonl)$/,
} as const;

/** True for what a killed writer of this program left: `config.json.UUID.tmp`, and nothing that a user named. */
function isLeftover(name: string, written: RegExp): boolean {
  const wanted = temporaryFor(name);
  return wanted !== undefined && written.test(wanted);
}

/** A name that shows that the folder is in use; undefined: nothing but what an earlier start made before its run began. */
function foundIn(path: string): string | undefined {
  const inside = (folder: string) => {
    if (!isOwnFolder(`${path}/${folder}`)) return folder; // A link, or a file.
    const name = namesIn(`${path}/${folder}`).find((entry) =>
      !isLeftover(entry, WRITTEN_NAMES.checkpoints)
    );
    return name && `${folder}/${name}`;
  };
  for (const name of namesIn(path)) {
    if (name === LOCK_NAME || isLeftover(name, WRITTEN_NAMES.run)) continue;
    const isOwn = OWN_FOLDERS.some((folder) => folder === name);
    const found = isOwn ? inside(name) : name;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Appending to a link, or locking it, would change a file outside. */
function refuseLinks(paths: readonly string[]): void {
  for (const path of paths) {
    if (isLink(path)) {
      throw new UserError(`Cannot write ${path}: it is a link to another file; put a file there`);
    }
  }
}

function lockFolder(path: string): Deno.FsFile {
  const lock = Deno.openSync(`${path}/${LOCK_NAME}`, { write: true, create: true });
  // The operating system frees the lock when the process ends, however it ends: no lock of a dead process is left.
  if (lock.tryLockSync(true)) return lock;
  lock.close();
  throw new UserError(
    `Cannot write to ${path}: another process is writing this run; wait for it or choose another folder`,
  );
}

/** Gives a lock back. A program that is being started holds a copy of the file for a moment, so that closing it is not enough. */
function unlock(lock: Deno.FsFile): void {
  lock.unlockSync();
  lock.close();
}

/**
 * Opens a run's folder for writing: makes it where it is missing and locks it until it is disposed of.
 *
 * @param path The folder.
 * @param options.resume True: the folder must hold a run (its config.json). False: it must hold none.
 * @returns The paths, with the lock.
 * @throws {UserError} When the folder cannot be written, is in use by another process, or holds what `resume` does not expect.
 */
export function openRunDirectory(path: string, { resume }: { resume: boolean }): RunDirectory {
  const paths = runPaths(path);
  let lock: Deno.FsFile;
  try {
    if (resume) Deno.statSync(paths.config);
    Deno.mkdirSync(path, { recursive: true });
    refuseLinks([
      `${path}/${LOCK_NAME}`,
      ...[paths.metrics, paths.episodes, paths.timing, paths.laterChecks],
    ]);
    lock = lockFolder(path);
  } catch (error) {
    if (resume && error instanceof Deno.errors.NotFound) {
      throw new UserError(`Cannot resume ${path}: there is no run (${paths.config} is missing)`);
    }
    throw asUserError(error, `Cannot write to ${path}`);
  }
  try {
    const found = resume ? undefined : foundIn(path);
    if (found !== undefined) {
      throw new UserError(
        sentence`Cannot start a run in ${path}: it already holds ${found}; choose another folder, or continue with ${
          setting("resume")
        }`,
      );
    }
    for (const folder of OWN_FOLDERS) Deno.mkdirSync(`${path}/${folder}`, { recursive: true });
    // Nobody else writes here while the lock is held.
    sweep(path);
  } catch (error) {
    unlock(lock);
    throw asUserError(error, `Cannot write to ${path}`);
  }
  return { ...paths, [Symbol.dispose]: () => unlock(lock) };
}

/** Removes what killed writers left, and enters no link. */
function sweep(path: string): void {
  removeLeftovers(path, WRITTEN_NAMES.run);
  const [checkpoints, steps] = OWN_FOLDERS.map((name) => `${path}/${name}`);
  removeLeftovers(checkpoints, WRITTEN_NAMES.checkpoints);
  if (!isOwnFolder(steps)) return;
  for (const name of namesIn(steps)) {
    if (/^\d+$/.test(name)) removeLeftovers(`${steps}/${name}`, WRITTEN_NAMES.step);
  }
}

function removeLeftovers(folder: string, written: RegExp): void {
  if (!isOwnFolder(folder)) return;
  for (const { name, isFile } of Deno.readDirSync(folder)) {
    if (isFile && isLeftover(name, written)) Deno.removeSync(`${folder}/${name}`);
  }
}

/**
 * Lists the checkpoints of a run.
 *
 * @param path The run's folder.
 * @returns The steps that have a checkpoint, ascending; none where the folder is missing.
 * @throws {UserError} When the folder cannot be read.
 */
export function checkpointSteps(path: string): number[] {
  try {
    const matches = Array.from(
      Deno.readDirSync(`${path}/checkpoints`),
      ({ name }) => /^step-(\d+)\.safetensors$/.exec(name)?.[1],
    );
    return matches.filter((text) => text !== undefined).map(Number).sort((a, b) => a - b);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw asUserError(error, `Cannot read ${path}`);
  }
}
