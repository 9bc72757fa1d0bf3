/** Checkpoints as users name them, and those that are to play the gym. */
import { UserError } from "../core/errors.ts";
import type { PresetName } from "../gym/bugfix.ts";
import { exists, isFolder } from "../files/paths.ts";
import type { EnvironmentFacts } from "../gym/environment_definition.ts";
import { WORDS } from "../gym/vocabulary.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import type { EnvironmentRecord } from "./environment_record.ts";
import { checkpointPath, checkpointSteps, runPaths } from "./run_directory.ts";
import { readSettings } from "./run_settings.ts";

/** A checkpoint, and the gym of its run. */
export interface NamedCheckpoint {
  /** The file. */
  readonly path: string;
  /** The preset of the run that it lies in; undefined where it lies in none, or in one of an environment. */
  readonly preset: PresetName | undefined;
  /** The environment of the run that it lies in; left out where it lies in none, or in one of the gym. */
  readonly environment?: EnvironmentRecord;
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
    return { path, ...(isInRun ? playedIn(run) : { preset: undefined }) };
  }
  const run = path.replace(/(?<=.)\/+$/, "");
  const latest = checkpointSteps(run).at(-1);
  if (latest === undefined) {
    throw new UserError(
      `Cannot use ${path}: this folder has no checkpoints/step-N.safetensors; name a run's folder or a safetensors file`,
    );
  }
  return { path: checkpointPath(run, latest), ...playedIn(run) };
}

function playedIn(run: string): Pick<NamedCheckpoint, "preset" | "environment"> {
  const { config, environment } = readSettings(runPaths(run).config);
  return environment === undefined ? { preset: config.preset } : { preset: undefined, environment };
}

/**
 * Reads a checkpoint whose model speaks the vocabulary of the gym, or of an environment.
 *
 * @param path The file.
 * @param environment The environment; undefined: the gym that ships.
 * @returns Its content.
 * @throws {UserError} When it cannot be read (see {@linkcode readCheckpoint}), or its model has another number of words.
 */
export function readAgent(
  path: string,
  environment?: Pick<EnvironmentFacts, "name" | "words">,
): Checkpoint {
  const checkpoint = readCheckpoint(path);
  const { vocabSize } = checkpoint.config;
  const [whose, { length }] = environment === undefined
    ? ["the gym's", WORDS]
    : [`that of the environment ${environment.name}`, environment.words];
  if (vocabSize === length) return checkpoint;
  throw new UserError(
    `Cannot use checkpoint ${path}: its vocabulary has ${vocabSize} words, ${whose} has ${length}`,
  );
}
