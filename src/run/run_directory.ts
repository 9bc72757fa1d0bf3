/** The folder of a run: where each of its files lies, and the lock that keeps a second run out of it. */
import { UserError } from "../core/errors.ts";
import { asUserError } from "../files/file_error.ts";

/** A run's folder, locked for the process that opened it. Layout: see the fields. */
export interface RunDirectory extends Disposable {
  /** The folder itself. */
  readonly path: string;
  /** Resolved configuration, versions, adapter, seed. */
  readonly config: string;
  /** One row a step. */
  readonly metrics: string;
  /** Verdicts of the invariants at step 0. */
  readonly checks: string;
  /** Sampled episodes. */
  readonly episodes: string;
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
    episodes: `${path}/episodes.jsonl`,
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

/** Names that {@linkcode openRunDirectory} itself makes: a folder with nothing else holds no run yet. */
const OWN_NAMES: ReadonlySet<string> = new Set([LOCK_NAME, "checkpoints", "steps"]);

function lockFolder(path: string): Deno.FsFile {
  const lock = Deno.openSync(`${path}/${LOCK_NAME}`, { write: true, create: true });
  // The operating system frees the lock when the process ends, however it ends: no lock of a dead process is left.
  if (lock.tryLockSync(true)) return lock;
  lock.close();
  throw new UserError(
    `Cannot write to ${path}: another process is writing this run; wait for it or choose another folder`,
  );
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
  let names: string[];
  try {
    if (resume) Deno.statSync(paths.config);
    Deno.mkdirSync(path, { recursive: true });
    lock = lockFolder(path);
    names = Array.from(Deno.readDirSync(path), (entry) => entry.name);
  } catch (error) {
    if (resume && error instanceof Deno.errors.NotFound) {
      throw new UserError(`Cannot resume ${path}: there is no run (${paths.config} is missing)`);
    }
    throw asUserError(error, `Cannot write to ${path}`);
  }
  const found = names.find((name) => !OWN_NAMES.has(name) && !name.endsWith(".tmp"));
  if (!resume && found !== undefined) {
    lock.close();
    throw new UserError(
      `Cannot start a run in ${path}: it already holds ${found}; choose another folder, or go on with --resume`,
    );
  }
  try {
    Deno.mkdirSync(`${path}/checkpoints`, { recursive: true });
    Deno.mkdirSync(`${path}/steps`, { recursive: true });
    // What a killed writer left under a temporary name; nobody else writes here while the lock is held.
    removeTemporaryFiles(path);
    removeTemporaryFiles(`${path}/checkpoints`);
  } catch (error) {
    lock.close();
    throw asUserError(error, `Cannot write to ${path}`);
  }
  return { ...paths, [Symbol.dispose]: () => lock.close() };
}

function removeTemporaryFiles(path: string): void {
  for (const entry of Deno.readDirSync(path)) {
    if (entry.isFile && entry.name.endsWith(".tmp")) Deno.removeSync(`${path}/${entry.name}`);
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
