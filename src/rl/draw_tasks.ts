/** Which tasks a step's episodes attempt: drawn by seed and step alone, so that no step depends on another's draws. */
import { randomSequence, STREAM } from "../core/rng.ts";
import { makeTasks } from "../gym/tasks.ts";
import { ALGORITHMS } from "./algorithms.ts";
import type { TrainConfig } from "./config.ts";

/** Tasks for training; those behind them are held out. */
export const TRAIN_TASKS = makeTasks("train").length;
/** Tasks that are held out. */
export const HELDOUT_TASKS = makeTasks("heldout").length;

/**
 * Draws the tasks of a step.
 *
 * @param config Whether there are groups, and how many episodes.
 * @param step The step, from 0.
 * @returns The task and the group of each episode; without groups each episode is one of its own.
 */
export function drawTasks(
  config: Pick<TrainConfig, "algorithm" | "seed" | "episodes" | "problems" | "groupSize">,
  step: number,
): { readonly tasks_B: number[]; readonly groupId_B: number[] } {
  const random = randomSequence({ seed: config.seed, stream: STREAM.tasks, step });
  if (!ALGORITHMS[config.algorithm].grouped) {
    const tasks_B = Array.from({ length: config.episodes }, () => random.integer(TRAIN_TASKS));
    return { tasks_B, groupId_B: tasks_B.map((_, b) => b) };
  }
  const problems = random.permutation(TRAIN_TASKS).slice(0, config.problems);
  const members = Array.from({ length: config.groupSize }, (_, i) => i);
  return {
    tasks_B: problems.flatMap((task) => members.map(() => task)),
    groupId_B: problems.flatMap((_, group) => members.map(() => group)),
  };
}
