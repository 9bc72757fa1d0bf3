/** BugFix as a source of episodes: played on the device from the compiled table, replayed by the rules themselves. */
import { mean } from "../core/statistics.ts";
import { BugFix, bugFixSpec, DEFAULT_MAX_TURNS } from "../gym/bugfix.ts";
import type { CompiledGym } from "../gym/compiled.ts";
import { BUGFIX_NAME } from "../gym/environment_definition.ts";
import { type BugFixInfo, type RewardKind, splitCalls } from "../gym/episode_info.ts";
import { type Gym, openGym } from "../gym/gym.ts";
import { makeTasks } from "../gym/tasks.ts";
import { WORDS } from "../gym/vocabulary.ts";
import { type EpisodeRules, type EpisodeSource, lengthMetrics } from "./episode_source.ts";
import { rolloutResident } from "./resident.ts";
import { hasPassed, rolloutStats } from "./rollout_stats.ts";
import type { Trajectory } from "./trajectory.ts";

/** How episodes of BugFix are read. */
export const BUGFIX_RULES: EpisodeRules<BugFixInfo> = {
  name: BUGFIX_NAME,
  words: WORDS,
  tasks: { train: makeTasks("train").length, heldout: makeTasks("heldout").length },
  metrics: [],
  hasPassed,
  behaviour: (episodes) => {
    const { reads, edits, hardcode, submitRate, turns } = rolloutStats(episodes);
    return {
      reads,
      tests: mean(episodes.map(({ info }) => info.tests)),
      edits,
      malformed: mean(episodes.map(({ info }) => info.malformed)),
      hardcode,
      submitted: submitRate,
      turns,
      ...lengthMetrics(episodes, hasPassed),
    };
  },
  problemOf: ({ info }) => info.task,
};

/** What is played. */
export interface BugFixOptions {
  /** The rules, compiled. */
  readonly gym: CompiledGym;
  /** Calls in an episode. */
  readonly maxTurns: number;
  /** Which tests reward in training; evaluations always look at the hidden ones. */
  readonly reward: RewardKind;
}

/**
 * What the environment pays when the calls of an episode are made again; NaN where it answers otherwise than the record says,
 * or does not know the task. The verdict is asked for here, not what the trainer makes of it.
 */
function replayReward(
  gym: Gym,
  episode: Trajectory<BugFixInfo>,
  { gym: { preset }, maxTurns, reward }: BugFixOptions,
): number {
  const task = gym.tasks.findIndex(({ name }) => name === episode.info.task);
  if (task < 0) return NaN;
  const environment = new BugFix(gym, { preset, maxTurns });
  const ids = [...environment.reset(task)];
  let isOver = false;
  for (const call of splitCalls(episode.ids, episode.owners)) {
    if (isOver) return NaN;
    const { observation, done } = environment.step(call);
    ids.push(...call, ...observation);
    isOver = done;
  }
  if (!isOver || ids.join() !== episode.ids.join()) return NaN;
  const { stop, hiddenPass, publicPass } = environment.info();
  return Number(stop === "submit" && (reward === "hidden" ? hiddenPass : publicPass));
}

/** BugFix as an agent is measured in it: six calls per episode, and the reward of the hidden tests. */
export function bugFixGoal(gym: CompiledGym): EpisodeSource<BugFixInfo> {
  return bugFixSource({ gym, maxTurns: DEFAULT_MAX_TURNS, reward: "hidden" });
}

/** The source of BugFix's episodes. */
export function bugFixSource(options: BugFixOptions): EpisodeSource<BugFixInfo> {
  const { gym, maxTurns, reward } = options;
  return {
    ...BUGFIX_RULES,
    spec: bugFixSpec(gym.taskNames.length, maxTurns),
    sample: (decoder, request) => rolloutResident(decoder, { ...request, gym, maxTurns, reward }),
    evaluate: (decoder, request) =>
      rolloutResident(decoder, { ...request, gym, maxTurns, reward: "hidden" }),
    replay: (episodes) => {
      const opened = openGym();
      return Promise.resolve(episodes.map((episode) => replayReward(opened, episode, options)));
    },
  };
}
