/** The benchmark of rollouts: whole resident rollouts of a base agent, by the number of episodes. */
import { benchDecoder, playEpisodes } from "../tuning/workload.ts";
import { median } from "../core/statistics.ts";
import type { Commands } from "../gpu/commands.ts";
import { compileGym } from "../gym/compiled.ts";
import { openGym } from "../gym/gym.ts";
import { OWNER } from "../core/owner.ts";
import { TINY_AGENT } from "../model/config.ts";
import { createParameters } from "../model/parameters.ts";
import { type BaseAgentName, makeBaseAgent } from "../rl/base_agent.ts";
import type { Trajectory } from "../rollout/trajectory.ts";
import type { Peak } from "./peak.ts";
import { boundMs, type EpisodeCounts, rolloutWork, type Work } from "./roofline.ts";

/** Episodes of the rollouts that are measured. */
export const ROLLOUT_EPISODES: readonly number[] = [64, 256, 1024, 4096];

/** One rollout. */
export interface RolloutTiming {
  /** Wall time from the request to the judged episodes on the host. */
  readonly ms: number;
  /** Tokens of its episodes, sampled and forced ones. */
  readonly tokens: number;
  /** What it could not do without. */
  readonly work: Work;
}

/** What of episodes decides the work of sampling them. */
export function countEpisodes(
  episodes: readonly Pick<Trajectory, "ids" | "owners">[],
): EpisodeCounts {
  return {
    length_B: episodes.map(({ ids }) => ids.length),
    sampledCount: episodes.reduce(
      (sum, { owners }) => sum + owners.filter((owner) => owner === OWNER.policy).length,
      0,
    ),
  };
}

/**
 * Prepares rollouts in the gym that shows names.
 *
 * @param options.agent Who plays.
 * @returns A function that plays some episodes once; `round` chooses other random numbers.
 */
export async function prepareRolloutBench(
  commands: Commands,
  { agent }: { readonly agent: BaseAgentName },
): Promise<(episodeCount: number, round: number) => Promise<RolloutTiming>> {
  const gym = compileGym(openGym(), "chapter6");
  const weights_W = await makeBaseAgent(commands, { kind: agent, gym, seed: 0 });
  const parameters = createParameters(commands, TINY_AGENT, weights_W);
  const decoder = benchDecoder(commands, { gym, parameters });
  return async (episodeCount, round) => {
    const startMs = performance.now();
    const episodes = await playEpisodes(decoder, { gym, episodeCount, round });
    const ms = performance.now() - startMs;
    const counts = countEpisodes(episodes);
    const tokens = counts.length_B.reduce((sum, length) => sum + length, 0);
    return { ms, tokens, work: rolloutWork(TINY_AGENT, counts) };
  };
}

/** Rollouts of one size: medians over the rounds. */
export interface RolloutRow {
  readonly episodes: number;
  readonly ms: number;
  readonly tokensPerSecond: number;
  readonly episodesPerSecond: number;
  readonly usPerToken: number;
  /** The least time by the adapter's peaks, as a share of the measured one. */
  readonly rooflineShare: number;
}

/** Summarizes rounds. @throws {RangeError} When there is none. */
export function summarizeRollouts(
  timings: readonly RolloutTiming[],
  { episodes, peak }: { readonly episodes: number; readonly peak: Peak },
): RolloutRow {
  const ms = median(timings.map((timing) => timing.ms));
  const msPerToken = median(timings.map((timing) => timing.ms / timing.tokens));
  return {
    episodes,
    ms,
    tokensPerSecond: 1000 / msPerToken,
    episodesPerSecond: 1000 * episodes / ms,
    usPerToken: 1000 * msPerToken,
    rooflineShare: median(timings.map((timing) => boundMs([timing.work], peak) / timing.ms)),
  };
}
