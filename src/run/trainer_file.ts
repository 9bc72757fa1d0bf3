/** A trainer's whole state as a checkpoint: weights, moments, steps done and moving baseline. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import type { Commands } from "../gpu/commands.ts";
import type { CompiledGym } from "../gym/compiled.ts";
import { createParameters, readParameters } from "../model/parameters.ts";
import type { TrainConfig } from "../rl/config.ts";
import type { Stages } from "../rl/stages.ts";
import { Trainer } from "../rl/trainer.ts";
import { type Checkpoint, readCheckpoint, writeCheckpoint } from "./checkpoint.ts";

const stateSchema = z.object({
  step: z.int().min(0),
  adamStep: z.int().min(0),
  baseline: z.number(),
});

/** What a trainer is at a moment. */
export async function snapshotTrainer({ learner, state }: Trainer): Promise<Checkpoint> {
  const { commands, parameters } = learner;
  return {
    config: parameters.config,
    weights_W: await readParameters(commands, parameters),
    step: state.step,
    moments: await learner.readMoments(),
    state: { ...state },
  };
}

/** Writes the trainer's whole state. @throws {UserError} When the file cannot be written. */
export async function saveTrainer(trainer: Trainer, path: string): Promise<void> {
  writeCheckpoint(path, await snapshotTrainer(trainer));
}

/** What a trainer needs beside its state. */
export interface TrainerFrame {
  readonly commands: Commands;
  readonly gym: CompiledGym;
  readonly config: TrainConfig;
  readonly stages: Stages;
  /** Weights of the KL reference [W]. */
  readonly reference_W: Float32Array<ArrayBuffer>;
}

/**
 * A trainer as a checkpoint left it. Its parameters are the caller's to destroy.
 *
 * @param checkpoint The state.
 * @param frame What it trains with.
 * @param path What error sentences call the checkpoint.
 * @throws {UserError} When the checkpoint lacks moments or a trainer's state.
 */
export function restoreTrainer(
  checkpoint: Checkpoint,
  frame: TrainerFrame & { readonly path: string },
): Trainer {
  const { path, commands, ...rest } = frame;
  const { moments, config, weights_W, state } = checkpoint;
  if (moments === undefined) {
    throw new UserError(`Cannot resume from ${path}: it holds no optimizer's moments`);
  }
  const parsed = stateSchema.safeParse(state);
  if (!parsed.success) {
    throw new UserError(`Cannot resume from ${path}: it holds no trainer's state`);
  }
  const trainer = new Trainer({
    ...rest,
    commands,
    parameters: createParameters(commands, config, weights_W),
    state: parsed.data,
  });
  trainer.learner.writeMoments(...moments);
  return trainer;
}

/** {@linkcode restoreTrainer} from a file. @throws {UserError} When the file cannot be read, or holds no trainer. */
export function loadTrainer(path: string, frame: TrainerFrame): Trainer {
  return restoreTrainer(readCheckpoint(path), { ...frame, path });
}
