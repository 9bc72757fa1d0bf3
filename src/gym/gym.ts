/** A set of tasks whose every reachable program has been tested: what environments and the compiled table stand on. */
import { OPERATION_NAMES } from "./calls.ts";
import { applyOperation } from "./operations.ts";
import type { Task } from "./task.ts";
import { makeTasks } from "./tasks.ts";
import VERDICTS from "./verdicts.json" with { type: "json" };

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

/** The verdicts of one source in the shipped table: public tests, then hidden ones; `p` and `h` where all pass, else `-`. */
function codeOf({ publicPass, hiddenPass }: Verdict): string {
  return `${publicPass ? "p" : "-"}${hiddenPass ? "h" : "-"}`;
}

/**
 * The text of verdicts.json: for each task, the verdicts of its reachable sources in their order.
 *
 * @param gym Tasks that were judged by running their tests.
 */
export function formatVerdicts({ tasks, verdicts }: Gym): string {
  const rows = tasks.map(({ name }, task) =>
    `  "${name}": "${[...verdicts[task]?.values() ?? []].map(codeOf).join(" ")}"`
  );
  return `{\n${rows.join(",\n")}\n}\n`;
}

/**
 * The 30 tasks with the verdict of every program that edits can make of them. No program runs: the verdicts are shipped
 * (verdicts.json, which a test holds to real runs), so environments answer at once.
 *
 * @throws {Error} When the shipped table does not fit the tasks: `deno task gym-verdicts` makes it again.
 * @example
 * ```ts
 * import { openGym } from "./gym.ts";
 * const gym = openGym();
 * console.log(gym.tasks.length); // 30
 * ```
 */
export function openGym(): Gym {
  const tasks = makeTasks("all");
  const table: Readonly<Record<string, string>> = VERDICTS;
  const verdicts = tasks.map((task) => {
    const sources = reachableSources(task);
    const codes = table[task.name]?.split(" ") ?? [];
    if (codes.length !== sources.length) {
      throw new Error(
        `Cannot open the gym: verdicts.json has ${codes.length} verdicts of ${task.name} and edits make ` +
          `${sources.length} programs of it: run \`deno task gym-verdicts\``,
      );
    }
    return new Map(sources.map((source, i) => {
      const code = codes[i] ?? "";
      return [source, { publicPass: code.includes("p"), hiddenPass: code.includes("h") }];
    }));
  });
  return { tasks, verdicts };
}
