/** Evaluation: episodes of a whole split under a model, and how far the sampler's log-probs are from the trainer's. */
import { at } from "../core/element.ts";
import { STREAM } from "../core/rng.ts";
import type { Commands } from "../gpu/commands.ts";
import { bugFixSpec, DEFAULT_MAX_TURNS } from "../gym/bugfix.ts";
import type { CompiledGym } from "../gym/compiled.ts";
import type { BugFixInfo } from "../gym/episode_info.ts";
import type { Split } from "../gym/task.ts";
import { makeTasks } from "../gym/tasks.ts";
import { OWNER } from "../core/owner.ts";
import type { Parameters } from "../model/parameters.ts";
import { Decoder } from "./decoder.ts";
import { rolloutResident } from "./resident.ts";
import { scoreEpisodes } from "./score.ts";
import type { Trajectory } from "./trajectory.ts";

/** What is evaluated. */
export interface EvaluationRequest {
  /** The rules, compiled. */
  readonly gym: CompiledGym;
  /** Which tasks are played. */
  readonly split: Split;
  /** Episodes over all tasks of the split, at least 1; see {@linkcode spreadTasks}. */
  readonly episodes: number;
  /** Seed of the evaluation's own random stream. */
  readonly seed: number;
  /** Divides the logits (default 1); above 0. */
  readonly temperature?: number;
}

/** What an evaluation found. */
export interface Evaluation {
  /** The episodes, in rounds over the tasks. */
  readonly trajectories: readonly Trajectory<BugFixInfo>[];
  /** Largest |sampler − trainer| log-prob of a policy token, in nats: 0 where both have the same bits. */
  readonly logpGapMax: number;
}

/** Episodes that are played at once, which bounds the memory of their records. */
const CHUNK = 4096;

/**
 * Spreads episodes over the tasks of a split, round by round: no two tasks differ by more than one episode.
 *
 * @param split The split.
 * @param episodes Number of episodes.
 * @returns The number of each episode's task in `makeTasks("all")`.
 */
export function spreadTasks(split: Split, episodes: number): number[] {
  const trainCount = makeTasks("train").length;
  const first = split === "train" ? 0 : trainCount;
  const count = split === "train" ? trainCount : makeTasks("heldout").length;
  return Array.from({ length: episodes }, (_, i) => first + i % count);
}

/** Largest |sampler − trainer| over the policy's tokens; NaN where a log-prob is none. */
async function largestGap(
  commands: Commands,
  parameters: Parameters,
  options: {
    readonly trajectories: readonly Trajectory[];
    readonly temperature: number;
  },
): Promise<number> {
  const { trajectories, temperature } = options;
  const { logp_N } = await scoreEpisodes(commands, parameters, {
    ids_B: trajectories.map(({ ids }) => ids),
    temperature,
    withLogits: false,
  });
  let gap = 0;
  let first = 0;
  for (const { owners, logps } of trajectories) {
    for (let t = 1; t < owners.length; t++) {
      if (owners[t] === OWNER.policy) {
        gap = Math.max(gap, Math.abs(at(logps, t) - at(logp_N, first + t - 1)));
      }
    }
    first += owners.length;
  }
  return gap;
}

/**
 * Plays episodes on a split and scores them again by the training forward. A longer evaluation begins with the episodes of a
 * shorter one.
 *
 * @param commands The device.
 * @param parameters The model; its vocabulary is the gym's.
 * @param request What is played. The reward is the hidden tests'.
 * @returns Episodes in rounds over the tasks, and the largest gap.
 * @throws {RangeError} When no episode is asked for.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function evaluateAgent(
  commands: Commands,
  parameters: Parameters,
  request: EvaluationRequest,
): Promise<Evaluation> {
  const { gym, split, episodes, seed, temperature = 1 } = request;
  const maxTurns = DEFAULT_MAX_TURNS;
  const { maxEpisodeTokens } = bugFixSpec(gym.taskNames.length, maxTurns);
  const decoder = new Decoder(commands, parameters, { maxPositions: maxEpisodeTokens });
  const tasks_B = spreadTasks(split, episodes);
  const trajectories: Trajectory<BugFixInfo>[] = [];
  let logpGapMax = 0;
  // At least one round, so that a request for nothing is refused by the rollout.
  for (let begin = 0; begin === 0 || begin < episodes; begin += CHUNK) {
    const tasks = tasks_B.slice(begin, begin + CHUNK);
    const played = await rolloutResident(decoder, {
      gym,
      tasks_B: tasks,
      randomIds_B: tasks.map((_, i) => begin + i),
      maxTurns,
      reward: "hidden",
      temperature,
      random: { seed, stream: STREAM.evaluate },
    });
    const gap = await largestGap(commands, parameters, { trajectories: played, temperature });
    logpGapMax = Math.max(logpGapMax, gap);
    for (const trajectory of played) trajectories.push(trajectory);
  }
  decoder.destroy();
  return { trajectories, logpGapMax };
}
