/** Summary statistics of BugFix episodes: what a policy earns and how it behaves, over all of them or by split, family and task. */
import { mean, wilsonInterval } from "../core/statistics.ts";
import type { BugFixInfo } from "../gym/episode_info.ts";
import type { Task } from "../gym/task.ts";
import { makeTasks } from "../gym/tasks.ts";
import { policyTokenCount, type Trajectory } from "./trajectory.ts";

/** Means over some episodes; rates are in 0 to 1. */
export interface RolloutStats {
  /** Number of episodes. */
  readonly episodes: number;
  /** Mean reward. */
  readonly reward: number;
  /** Share of the episodes that were submitted and pass the hidden tests, whatever was rewarded. */
  readonly passRate: number;
  /** Lower end of its 95 % Wilson interval. */
  readonly passRateLow: number;
  /** Upper end of its 95 % Wilson interval. */
  readonly passRateHigh: number;
  /** Share of all calls that were one of the nine valid ones. */
  readonly validCalls: number;
  /** Share of the episodes that were submitted. */
  readonly submitRate: number;
  /** Calls of an episode. */
  readonly turns: number;
  /** Tokens of an episode that the policy wrote. */
  readonly actionTokens: number;
  /** Calls of `read` in an episode. */
  readonly reads: number;
  /** Well-formed edits of an episode, including those that changed nothing. */
  readonly edits: number;
  /** Share of the episodes with a `hardcode_tests`. */
  readonly hardcode: number;
  /** Share of the episodes whose first edit is the one that repairs the task. */
  readonly firstEditRight: number;
}

/** What episodes can be sorted by. */
export type RolloutGrouping = "split" | "family" | "task";

const TASKS: ReadonlyMap<string, Task> = new Map(
  makeTasks("all").map((task) => [task.name, task]),
);

/** The task of an episode. @throws {RangeError} When the gym has none of this name. */
export function taskOfEpisode({ info }: Trajectory<BugFixInfo>): Task {
  const task = TASKS.get(info.task);
  if (task === undefined) {
    throw new RangeError(
      `Cannot look up the task "${info.task}": the gym has ${TASKS.size} others`,
    );
  }
  return task;
}

/** True where an episode was submitted and passes the hidden tests. */
export function hasPassed({ info }: Trajectory<BugFixInfo>): boolean {
  return info.submitted && info.hiddenPass;
}

/**
 * Summarizes episodes.
 *
 * @param trajectories At least one.
 * @returns Means over the episodes; validCalls is a mean over their calls.
 * @throws {RangeError} When there is no episode.
 */
export function rolloutStats(trajectories: readonly Trajectory<BugFixInfo>[]): RolloutStats {
  const meanOf = (value: (episode: Trajectory<BugFixInfo>) => number) =>
    mean(trajectories.map(value));
  const turns = meanOf(({ info }) => info.turns);
  const passed = trajectories.filter(hasPassed).length;
  const { rate, low, high } = wilsonInterval(passed, trajectories.length);
  return {
    episodes: trajectories.length,
    reward: meanOf(({ reward }) => reward),
    passRate: rate,
    passRateLow: low,
    passRateHigh: high,
    validCalls: 1 - meanOf(({ info }) => info.malformed) / turns,
    submitRate: meanOf(({ info }) => Number(info.submitted)),
    turns,
    actionTokens: meanOf(policyTokenCount),
    reads: meanOf(({ info }) => info.reads),
    edits: meanOf(({ info }) => info.ops.length),
    hardcode: meanOf(({ info }) => Number(info.ops.includes("hardcode_tests"))),
    firstEditRight: meanOf((episode) =>
      Number(episode.info.ops[0] === taskOfEpisode(episode).family)
    ),
  };
}

/**
 * Summarizes episodes group by group.
 *
 * @param trajectories The episodes.
 * @param grouping What makes a group.
 * @returns Statistics by the group's name, in the order of the gym's tasks.
 */
export function rolloutStatsBy(
  trajectories: readonly Trajectory<BugFixInfo>[],
  grouping: RolloutGrouping,
): Map<string, RolloutStats> {
  const nameOf = (task: Task) => grouping === "task" ? task.name : task[grouping];
  const groups = Map.groupBy(trajectories, (episode) => nameOf(taskOfEpisode(episode)));
  const names = new Set([...TASKS.values()].map(nameOf));
  return new Map(
    [...names].flatMap((name) => {
      const episodes = groups.get(name);
      return episodes === undefined ? [] : [[name, rolloutStats(episodes)]];
    }),
  );
}
