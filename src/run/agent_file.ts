/** Checkpoints that are to play the gym. */
import { UserError } from "../core/errors.ts";
import { WORDS } from "../gym/vocabulary.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";

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
