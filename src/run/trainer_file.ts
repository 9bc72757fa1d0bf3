/** A trainer's whole state as a checkpoint: weights, moments, steps done and moving baseline. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import type { StateBefore } from "../faults/step_checks.ts";
import { createParameters, hashWeights } from "../model/parameters.ts";
import type { TrainingSetup } from "../rl/setup.ts";
import { snapshotTrainer } from "../rl/snapshot.ts";
import { Trainer } from "../rl/trainer.ts";
import { type Checkpoint, readCheckpoint, writeCheckpoint } from "./checkpoint.ts";

const stateSchema = z.object({
  step: z.int().min(0),
  adamStep: z.int().min(0),
  baseline: z.number(),
});

/** Writes the trainer's whole state. @throws {UserError} When the file cannot be written. */
export async function saveTrainer(trainer: Trainer, path: string): Promise<void> {
  writeCheckpoint(path, await snapshotTrainer(trainer));
}

/**
 * A trainer as a checkpoint left it. Its parameters are the caller's to destroy.
 *
 * @param setup What it trains with.
 * @param options.checkpoint The state.
 * @param options.reference_W Weights of the KL reference [W].
 * @param options.path What error sentences call the checkpoint.
 * @throws {UserError} When the checkpoint lacks moments or a trainer's state.
 */
export function restoreTrainer(
  setup: TrainingSetup,
  options: {
    readonly checkpoint: Checkpoint;
    readonly reference_W: Float32Array<ArrayBuffer>;
    readonly path: string;
  },
): Trainer {
  const { checkpoint, reference_W, path } = options;
  const { moments, config, weights_W, state, earlierWeights } = checkpoint;
  if (moments === undefined) {
    throw new UserError(`Cannot resume from ${path}: it holds no optimizer's moments`);
  }
  const parsed = stateSchema.safeParse(state);
  if (!parsed.success) {
    throw new UserError(`Cannot resume from ${path}: it holds no trainer's state`);
  }
  const trainer = new Trainer(setup, {
    parameters: createParameters(setup.commands, config, weights_W),
    reference_W,
    state: parsed.data,
    ...(earlierWeights && { earlierWeights }),
  });
  trainer.learner.writeMoments(...moments);
  return trainer;
}

/** What a checkpoint says that a trainer must be; undefined where it holds no trainer's state. */
export function checkpointState(
  { weights_W, moments, state }: Checkpoint,
): StateBefore | undefined {
  const parsed = stateSchema.safeParse(state);
  return moments && parsed.success ? { weights_W, moments, state: parsed.data } : undefined;
}

/**
 * Reads the state of a trainer before a step.
 *
 * @param path The file.
 * @param step Steps done, as the file's name or folder says.
 * @throws {UserError} When the file cannot be read or is damaged, or speaks of another step.
 */
export function readTrainerState(path: string, step: number): Checkpoint {
  const checkpoint = readCheckpoint(path);
  const parsed = stateSchema.safeParse(checkpoint.state);
  const stated = parsed.success ? parsed.data.step : step;
  if (checkpoint.step === step && stated === step) return checkpoint;
  throw new UserError(
    `Cannot use checkpoint ${path}: its path says step ${step}, its metadata step ${checkpoint.step} and its state ` +
      `step ${stated}; restore the file that belongs there`,
  );
}

/**
 * Reads the base agent of a run, which is its checkpoint of step 0 and the reference of its KL term.
 *
 * @param path The file.
 * @param options.baseHash SHA-256 of its weights as config.json has it; null: unknown.
 * @throws {UserError} When the file cannot be read, or holds another agent.
 */
export async function readBaseAgent(
  path: string,
  { baseHash }: { readonly baseHash: string | null },
): Promise<Checkpoint> {
  const base = readTrainerState(path, 0);
  const found = await hashWeights(base.weights_W);
  if (baseHash === null || found === baseHash) return base;
  throw new UserError(
    `Cannot use checkpoint ${path}: it is not the base agent that this run began with (its weights have the SHA-256 ` +
      `${found.slice(0, 16)}…, config.json says ${baseHash.slice(0, 16)}…); restore the file`,
  );
}
