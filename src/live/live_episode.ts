/** Episodes as the page shows them, and those that the base agent plays before any training. */
import { STREAM } from "../core/rng.ts";
import type { Commands } from "../gpu/commands.ts";
import { compileGym } from "../gym/compiled.ts";
import type { EpisodeInfo } from "../gym/environment.ts";
import { openGym } from "../gym/gym.ts";
import type { Parameters } from "../model/parameters.ts";
import { bugFixGoal } from "../rollout/bugfix_source.ts";
import { Decoder } from "../rollout/decoder.ts";
import type { EpisodeRules } from "../rollout/episode_source.ts";
import type { Trajectory } from "../rollout/trajectory.ts";
import type { LiveEpisode } from "./messages.ts";

/** Tasks that the base agent plays: enough to see that it seldom succeeds. */
const FIRST_EPISODES = 8;

/** An episode with its tokens as words. */
export function liveEpisode<Info extends EpisodeInfo>(
  episode: Trajectory<Info>,
  { words, problemOf, hasPassed }: Pick<EpisodeRules<Info>, "words" | "problemOf" | "hasPassed">,
): LiveEpisode {
  const { ids, owners, logps, reward } = episode;
  return {
    task: problemOf(episode),
    words: Array.from(ids, (id) => words[id] ?? `#${id}`),
    owners: [...owners],
    logps: [...logps],
    reward,
    passes: hasPassed(episode),
  };
}

/** Lets an agent play once, each episode on another training task. */
export async function playFirst(
  commands: Commands,
  parameters: Parameters,
): Promise<LiveEpisode[]> {
  const source = bugFixGoal(compileGym(openGym(), "rl"));
  const { spec: { maxEpisodeTokens: maxPositions }, tasks } = source;
  const decoder = new Decoder(commands, parameters, { maxPositions });
  try {
    const episodes = await source.evaluate(decoder, {
      tasks_B: Array.from(
        { length: FIRST_EPISODES },
        (_, i) => Math.floor(i * tasks.train / FIRST_EPISODES),
      ),
      random: { seed: 0, stream: STREAM.evaluate },
    });
    return episodes.map((episode) => liveEpisode(episode, source));
  } finally {
    decoder.destroy();
  }
}
