/** An environment of a user's as a source of episodes: decoded on the device, judged by the host, many at a time. */
import { at } from "../core/element.ts";
import { mean } from "../core/statistics.ts";
import { type Environment, type EpisodeInfo, EpisodeLostError } from "../gym/environment.ts";
import {
  type EnvironmentDefinition,
  type EnvironmentFacts,
  requireFacts,
  requireSpec,
} from "../gym/environment_definition.ts";
import { splitCalls } from "../gym/episode_info.ts";
import type { Decoder } from "./decoder.ts";
import {
  type EpisodeRules,
  type EpisodeSource,
  lengthMetrics,
  ownMetricName,
} from "./episode_source.ts";
import { rolloutHost } from "./host.ts";
import { PlayedEnvironment } from "./played_environment.ts";
import type { RolloutRequest } from "./resident.ts";
import type { Trajectory } from "./trajectory.ts";

/** A success: what the environment says, and else a reward above 0. */
function hasPassed({ info, reward }: Trajectory): boolean {
  return info.passed ?? reward > 0;
}

/** A number or boolean of an episode's info; the environment was held to it when it answered. */
function valueOf({ info }: Trajectory, name: string): number {
  return Number(Reflect.get(info, name));
}

/**
 * How the episodes of an environment are read, by what it tells of itself.
 *
 * @param facts Name, words, tasks and metrics; a record of them on disk is enough.
 */
export function environmentRules({ name, words, tasks, metrics }: EnvironmentFacts): EpisodeRules {
  return {
    name,
    words,
    tasks,
    metrics,
    hasPassed,
    behaviour: (episodes) => ({
      malformed: mean(episodes.map(({ info }) => info.malformed)),
      turns: mean(episodes.map(({ info }) => info.turns)),
      ...lengthMetrics(episodes, hasPassed),
      ...Object.fromEntries(
        metrics.map((metric) => [
          ownMetricName(metric),
          mean(episodes.map((episode) => valueOf(episode, metric.name))),
        ]),
      ),
    }),
    // The text of a task is the environment's own, and may be that of another task as well.
    problemOf: ({ task, info }) => task === undefined ? info.task : `task ${task}`,
  };
}

/** The environments of a source: one a slot, made when a slot first plays, kept for later rollouts. */
class Environments {
  readonly #definition: EnvironmentDefinition;
  readonly #made: Promise<Environment>[] = [];

  constructor(definition: EnvironmentDefinition) {
    this.#definition = definition;
  }

  /** The environment of a slot. */
  of(slot: number): Promise<Environment> {
    return this.#made[slot] ??= Promise.resolve(this.#definition.create());
  }
}

/** Plays episodes, more than the decoder's records can hold at once one part after the other. */
async function play(
  decoder: Decoder,
  request: RolloutRequest,
  { facts, environments }: {
    readonly facts: EnvironmentFacts;
    readonly environments: Environments;
  },
): Promise<Trajectory[]> {
  const { tasks_B } = request;
  const randomIds_B = request.randomIds_B ?? tasks_B.map((_, b) => b);
  const trajectories: Trajectory[] = [];
  // At least one part, so that a request for nothing is refused by the rollout.
  for (let begin = 0; begin === 0 || begin < tasks_B.length; begin += decoder.maxEpisodes) {
    const end = begin + decoder.maxEpisodes;
    const part = await rolloutHost(decoder, {
      ...request,
      tasks_B: tasks_B.slice(begin, end),
      randomIds_B: randomIds_B.slice(begin, end),
      createEnvironment: (slot) => environments.of(slot),
      name: facts.name,
      metrics: facts.metrics,
      lostInfo: ({ task, turns }) => ({
        task: `task ${task}`,
        turns,
        malformed: 0,
        stop: "error",
        calls: [],
      }),
    });
    part.forEach((trajectory, i) => {
      // As a journal holds it, so that a recorded episode is the one that was played.
      const info: EpisodeInfo = JSON.parse(JSON.stringify(trajectory.info));
      trajectories.push({ ...trajectory, info, task: at(tasks_B, begin + i) });
    });
  }
  return trajectories;
}

/** What an environment pays when an episode is played again; NaN where it answers otherwise; undefined where it is lost. */
async function replayReward(
  played: PlayedEnvironment<EpisodeInfo>,
  episode: Trajectory,
): Promise<number | undefined> {
  try {
    const ids = [...await played.reset(episode.task ?? -1)];
    let isOver = false;
    for (const call of splitCalls(episode.ids, episode.owners)) {
      if (isOver) return NaN;
      ids.push(...call);
      const observation = await played.step(call, ids.length);
      ids.push(...observation ?? []);
      isOver = observation === undefined;
    }
    if (!isOver || ids.join() !== episode.ids.join()) return NaN;
    return (await played.ending()).reward;
  } catch (error) {
    if (error instanceof EpisodeLostError) return undefined;
    throw error;
  }
}

/**
 * Opens an environment as a source of episodes. It makes one environment now, to read its spec.
 *
 * @param definition The environment's.
 * @throws {UserError} When the definition or the spec is not as required, or no environment can be made.
 */
export async function environmentSource(
  definition: EnvironmentDefinition,
): Promise<EpisodeSource> {
  const facts = requireFacts(definition, { source: definition.name });
  const environments = new Environments(definition);
  const first = await environments.of(0);
  const spec = requireSpec(first.spec, facts);
  const playAll = (decoder: Decoder, request: RolloutRequest) =>
    play(decoder, request, { facts, environments });
  return {
    ...environmentRules(facts),
    spec,
    sample: playAll,
    evaluate: playAll,
    replay: async (episodes) => {
      const { name, words, metrics } = facts;
      const played = new PlayedEnvironment(first, { name, vocabSize: words.length, metrics });
      const rewards: (number | undefined)[] = [];
      for (const episode of episodes) rewards.push(await replayReward(played, episode));
      return rewards;
    },
  };
}
