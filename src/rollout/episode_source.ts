/** Where episodes come from and what is read in them: the trainer and all around it know the gym by this alone. */
import {
  type BehaviourMetric,
  LOST_METRIC,
  type TaskCounts,
} from "../gym/environment_definition.ts";
import type { EnvironmentSpec, EpisodeInfo } from "../gym/environment.ts";
import { mean } from "../core/statistics.ts";
import type { Decoder } from "./decoder.ts";
import type { RolloutRequest } from "./resident.ts";
import { policyTokenCount, type Trajectory } from "./trajectory.ts";

/** The key of a metric that only runs on an environment of a user's have. */
export type OwnMetricName = `env/${string}`;

/** The key of a behaviour metric that an environment brings. */
export function ownMetricName({ name }: Pick<BehaviourMetric, "name">): OwnMetricName {
  return `env/${name}`;
}

/** The key of the number of episodes that were lost and are no part of the batch; absent where none was. */
export const LOST_EPISODES = ownMetricName({ name: LOST_METRIC });

/** What the agent did in some episodes, by the keys of metrics.jsonl: what every run tells, and metrics of its own. */
export interface Behaviour extends Readonly<Record<string, number>> {
  /** Calls that are not valid, mean. */
  readonly malformed: number;
  /** Calls, mean. */
  readonly turns: number;
  /** Policy tokens, mean. */
  readonly length: number;
  /** Of the episodes that pass; 0 where none does. */
  readonly length_pass: number;
  /** Of the episodes that fail; 0 where none does. */
  readonly length_fail: number;
}

/** How the episodes of an environment are read. */
export interface EpisodeRules<Info extends EpisodeInfo = EpisodeInfo> {
  /** The environment's name. */
  readonly name: string;
  /** The text of each token id. */
  readonly words: readonly string[];
  /** Its tasks: numbers 0 to train − 1 are trained on, those after them are held out. */
  readonly tasks: TaskCounts;
  /** Behaviour metrics that are its own, under the keys of `behaviour`. */
  readonly metrics: readonly BehaviourMetric[];
  /** Whether an episode counts as a success. */
  hasPassed(episode: Trajectory<Info>): boolean;
  /** What the agent did in some episodes, at least one. */
  behaviour(episodes: readonly Trajectory<Info>[]): Behaviour;
  /** The problem that an episode was about; the episodes of a group share it. */
  problemOf(episode: Trajectory<Info>): string;
}

/** Plays the episodes of an environment, and reads them. */
export interface EpisodeSource<Info extends EpisodeInfo = EpisodeInfo> extends EpisodeRules<Info> {
  /** The shape of its episodes. */
  readonly spec: EnvironmentSpec;
  /** Plays episodes for training, in the order of the request. */
  sample(decoder: Decoder, request: RolloutRequest): Promise<Trajectory<Info>[]>;
  /** Plays episodes for an evaluation: the reward is that of the goal, whatever is trained on. */
  evaluate(decoder: Decoder, request: RolloutRequest): Promise<Trajectory<Info>[]>;
  /**
   * Makes the calls of recorded episodes again.
   * @returns What each is paid; NaN where the environment answers otherwise than the record says, undefined where it lost the
   * episode.
   */
  replay(episodes: readonly Trajectory<Info>[]): Promise<(number | undefined)[]>;
}

/** The most tokens that a policy may write in an episode. */
export function maxPolicyTokens({ maxTurns, maxCallTokens }: EnvironmentSpec): number {
  return maxTurns * maxCallTokens;
}

/** The mean, or 0 of nothing. */
function meanOrZero(values_N: readonly number[]): number {
  return values_N.length === 0 ? 0 : mean(values_N);
}

/** Lengths of episodes in policy tokens: of all, of those that pass, and of those that fail (0 where there is none). */
export function lengthMetrics<Info extends EpisodeInfo>(
  episodes: readonly Trajectory<Info>[],
  hasPassed: (episode: Trajectory<Info>) => boolean,
): { readonly length: number; readonly length_pass: number; readonly length_fail: number } {
  const lengthWhere = (passed: boolean) =>
    meanOrZero(
      episodes.filter((episode) => hasPassed(episode) === passed).map(policyTokenCount),
    );
  return {
    length: mean(episodes.map(policyTokenCount)),
    length_pass: lengthWhere(true),
    length_fail: lengthWhere(false),
  };
}
