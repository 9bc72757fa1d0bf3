/** Evaluation: episodes of a whole split under a model, and how far the sampler's log-probs are from the trainer's. */
import { at } from "../core/element.ts";
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { STREAM } from "../core/rng.ts";
import type { Commands } from "../gpu/commands.ts";
import type { EpisodeInfo } from "../gym/environment.ts";
import type { TaskCounts } from "../gym/environment_definition.ts";
import type { Split } from "../gym/task.ts";
import { OWNER } from "../core/owner.ts";
import type { Parameters } from "../model/parameters.ts";
import { Decoder } from "./decoder.ts";
import type { EpisodeSource } from "./episode_source.ts";
import { scoreEpisodes } from "./score.ts";
import type { Trajectory } from "./trajectory.ts";

/** What is evaluated. */
export interface EvaluationRequest<Info extends EpisodeInfo = EpisodeInfo> {
  /** Where the episodes come from. */
  readonly source: EpisodeSource<Info>;
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
export interface Evaluation<Info extends EpisodeInfo = EpisodeInfo> {
  /** The episodes, in rounds over the tasks; not those that were lost. */
  readonly trajectories: readonly Trajectory<Info>[];
  /** Episodes that their environment lost. */
  readonly lostCount: number;
  /** Largest |sampler − trainer| log-prob of a policy token, in nats: 0 where both have the same bits. */
  readonly logpGapMax: number;
}

/** Episodes that are played at once, which bounds the memory of their records. */
const CHUNK = 4096;

/**
 * Spreads episodes over the tasks of a split, round by round: no two tasks differ by more than one episode.
 *
 * @param tasks How many tasks there are.
 * @param options.split The split.
 * @param options.episodes Number of episodes.
 * @returns The number of each episode's task.
 */
export function spreadTasks(
  tasks: TaskCounts,
  { split, episodes }: { readonly split: Split; readonly episodes: number },
): number[] {
  const first = split === "train" ? 0 : tasks.train;
  const count = tasks[split];
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
 * @param parameters The model; its vocabulary is the source's.
 * @param request What is played. The reward is that of the goal: in BugFix the hidden tests'.
 * @returns Episodes in rounds over the tasks, and the largest gap.
 * @throws {RangeError} When no episode is asked for.
 * @throws {UserError} When the environment fails, or the split has no tasks.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function evaluateAgent<Info extends EpisodeInfo>(
  commands: Commands,
  parameters: Parameters,
  request: EvaluationRequest<Info>,
): Promise<Evaluation<Info>> {
  const { source, split, episodes, seed, temperature = 1 } = request;
  if (source.tasks[split] === 0) {
    throw new UserError(
      sentence`Cannot evaluate: the environment ${source.name} has no held-out tasks; ask for ${
        setting("split", "train")
      }`,
    );
  }
  const decoder = new Decoder(commands, parameters, {
    maxPositions: source.spec.maxEpisodeTokens,
  });
  const tasks_B = spreadTasks(source.tasks, { split, episodes });
  const trajectories: Trajectory<Info>[] = [];
  let [logpGapMax, lostCount] = [0, 0];
  // At least one round, so that a request for nothing is refused by the rollout.
  for (let begin = 0; begin === 0 || begin < episodes; begin += CHUNK) {
    const tasks = tasks_B.slice(begin, begin + CHUNK);
    const drawn = await source.evaluate(decoder, {
      tasks_B: tasks,
      randomIds_B: tasks.map((_, i) => begin + i),
      temperature,
      random: { seed, stream: STREAM.evaluate },
    });
    const played = drawn.filter(({ error }) => error === undefined);
    lostCount += drawn.length - played.length;
    if (played.length === 0) continue;
    const gap = await largestGap(commands, parameters, { trajectories: played, temperature });
    logpGapMax = Math.max(logpGapMax, gap);
    for (const trajectory of played) trajectories.push(trajectory);
  }
  decoder.destroy();
  return { trajectories, lostCount, logpGapMax };
}
