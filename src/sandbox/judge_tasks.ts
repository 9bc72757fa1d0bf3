/** Judges every program of a set of tasks by running its tests: where the shipped verdicts come from, and those of other tasks. */
import { type Gym, reachableSources, type Verdict } from "../gym/gym.ts";
import type { Task } from "../gym/task.ts";
import { TestRunner } from "./test_runner.ts";

/**
 * Runs the public and hidden tests of every program that edits can make of the tasks (three per task, 40 ms each).
 *
 * `openGym` needs no run, because the verdicts of its tasks are shipped; this is for tasks of your own.
 *
 * @param tasks Their order numbers them.
 * @param runner Default a new one.
 * @throws {Error} When the process of a test fails: that is never a verdict.
 * @example
 * ```ts
 * import { makeTasks } from "../gym/tasks.ts";
 * import { judgeTasks } from "./judge_tasks.ts";
 * const { verdicts } = await judgeTasks(makeTasks("train").slice(0, 1));
 * console.log([...verdicts[0].values()].map(({ hiddenPass }) => hiddenPass)); // [false, true, false]
 * ```
 */
export async function judgeTasks(
  tasks: readonly Task[],
  runner: TestRunner = new TestRunner(),
): Promise<Gym> {
  const verdicts: Map<string, Verdict>[] = [];
  for (const task of tasks) {
    const verdictOf = new Map<string, Verdict>();
    for (const source of reachableSources(task)) {
      const tests = [...task.publicTests, ...task.hiddenTests];
      const passed = await runner.run({ source, name: task.name }, tests);
      verdictOf.set(source, {
        publicPass: passed.slice(0, task.publicTests.length).every(Boolean),
        hiddenPass: passed.slice(task.publicTests.length).every(Boolean),
      });
    }
    verdicts.push(verdictOf);
  }
  return { tasks, verdicts };
}
