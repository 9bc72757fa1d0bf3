/** Checkpoints as users name them, and those that are to play the gym. */
import { UserError } from "../core/errors.ts";
import type { PresetName } from "../gym/bugfix.ts";
import { exists, isFolder } from "../files/paths.ts";
import { WORDS } from "../gym/vocabulary.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { checkpointPath, checkpointSteps, runPaths } from "./run_directory.ts";
import { readSettings } from "./run_settings.ts";

/** A checkpoint, and the gym of its run. */
export interface NamedCheckpoint {
  /** The file. */
  readonly path: string;
  /** The preset of the run that it lies in; undefined where it lies in none. */
  readonly preset: PresetName | undefined;
}

/**
 * Finds the checkpoint that a path names: a file, or the latest of a run's folder.
 *
 * @param path The file or the folder.
 * @throws {UserError} When the folder holds no run with a checkpoint, or the run's config.json cannot be read.
 */
export function findCheckpoint(path: string): NamedCheckpoint {
  if (!isFolder(path)) {
    const [, run] = /^(.*)\/checkpoints\/step-\d+\.safetensors$/.exec(path) ?? [];
    const isInRun = run !== undefined && exists(runPaths(run).config);
    return { path, preset: isInRun ? presetOf(run) : undefined };
  }
  const run = path.replace(/(?<=.)\/+$/, "");
  const latest = checkpointSteps(run).at(-1);
  if (latest === undefined) {
    throw new UserError(
      `Cannot use ${path}: this folder has no checkpoints/step-N.safetensors; name a run's folder or a safetensors file`,
    );
  }
  return { path: checkpointPath(run, latest), preset: presetOf(run) };
}

function presetOf(run: string): PresetName {
  return readSettings(runPaths(run).config).config.preset;
}

/**
 * Reads a checkpoint whose model speaks the gym's vocabulary.
 *
 * @param path The file.
 * @returns Its content.
 * @throws {UserError} When it cannot be read (see {@linkcode readCheckpoint}), or its model has another number of words.
 */
export function readAgent(path: string): Checkpoint {
  const checkpoint = readCheckpoint(path);
  const { vocabSize } = checkpoint.config;
  if (vocabSize === WORDS.length) return checkpoint;
  throw new UserError(
    `Cannot use checkpoint ${path}: its vocabulary has ${vocabSize} words, the gym's has ${WORDS.length}`,
  );
}
