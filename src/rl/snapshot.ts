/** A trainer's whole state as a checkpoint: weights, moments, steps done and moving baseline. */
import type { Checkpoint } from "../model/checkpoint.ts";
import { readParameters } from "../model/parameters.ts";
import type { Trainer } from "./trainer.ts";

/** What a trainer is at a moment. */
export async function snapshotTrainer(trainer: Trainer): Promise<Checkpoint> {
  const { learner, state, earlierWeights } = trainer;
  const { commands, parameters } = learner;
  return {
    config: parameters.config,
    weights_W: await readParameters(commands, parameters),
    step: state.step,
    moments: await learner.readMoments(),
    ...(earlierWeights.length > 0 && { earlierWeights }),
    state: { ...state },
  };
}
