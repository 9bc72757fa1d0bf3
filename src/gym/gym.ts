/** A set of tasks whose every reachable program has been tested: what environments and the compiled table stand on. */
import { OPERATION_NAMES } from "./calls.ts";
import { applyOperation } from "./operations.ts";
import { makeTasks, type Task } from "./tasks.ts";
import { TestRunner } from "./test_runner.ts";

/** Which of its task's test suites a program passes completely. */
export interface Verdict {
  /** All public tests. */
  readonly publicPass: boolean;
  /** All hidden tests. */
  readonly hiddenPass: boolean;
}

/** The tasks and the verdicts of every program that edits can make of them. */
export interface Gym {
  /** Task numbers are indices here. */
  readonly tasks: readonly Task[];
  /** For each task, every reachable source with its verdict; the first one is the buggy source. */
  readonly verdicts: readonly ReadonlyMap<string, Verdict>[];
}

/** Every source that sequences of edits make of a task's program, the untouched one first. */
export function reachableSources(task: Task): readonly string[] {
  const sources = new Set([task.source]);
  // A set visits what is added while it is walked.
  for (const source of sources) {
    for (const operation of OPERATION_NAMES) {
      sources.add(applyOperation(operation, { ...task, source }));
    }
  }
  return [...sources];
}

/**
 * Runs the public and hidden tests of every program of the gym, once, in an isolated worker (90 programs, about 150
 * ms). Afterwards nothing waits for a test: environments answer at once.
 *
 * @param tasks Default all 30; their order numbers them.
 * @param runner Default a new one; it is closed afterwards.
 * @throws {Error} When the test worker crashes: a crash is never a verdict.
 * @example
 * ```ts
 * import { openGym } from "./gym.ts";
 * const gym = await openGym();
 * console.log(gym.tasks.length); // 30
 * ```
 */
export async function openGym(
  tasks: readonly Task[] = makeTasks("all"),
  runner: TestRunner = new TestRunner(),
): Promise<Gym> {
  try {
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
  } finally {
    await runner.close();
  }
}
