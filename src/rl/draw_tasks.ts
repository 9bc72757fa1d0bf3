/** Which tasks a step's episodes attempt: drawn by seed and step alone, so that no step depends on another's draws. */
import { randomSequence, STREAM } from "../core/rng.ts";
import { ALGORITHMS } from "./algorithms.ts";
import type { TrainConfig } from "./config.ts";

/**
 * Draws the tasks of a step.
 *
 * @param config Whether there are groups, and how many episodes.
 * @param options.step The step, from 0.
 * @param options.taskCount Tasks for training, numbers from 0.
 * @returns The task and the group of each episode; without groups each episode is one of its own.
 */
export function drawTasks(
  config: Pick<TrainConfig, "algorithm" | "seed" | "episodes" | "problems" | "groupSize">,
  { step, taskCount }: { readonly step: number; readonly taskCount: number },
): { readonly tasks_B: number[]; readonly groupId_B: number[] } {
  const random = randomSequence({ seed: config.seed, stream: STREAM.tasks, step });
  if (!ALGORITHMS[config.algorithm].grouped) {
    const tasks_B = Array.from({ length: config.episodes }, () => random.integer(taskCount));
    return { tasks_B, groupId_B: tasks_B.map((_, b) => b) };
  }
  const problems = random.permutation(taskCount).slice(0, config.problems);
  const members = Array.from({ length: config.groupSize }, (_, i) => i);
  return {
    tasks_B: problems.flatMap((task) => members.map(() => task)),
    groupId_B: problems.flatMap((_, group) => members.map(() => group)),
  };
}
