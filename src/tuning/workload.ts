/** The work that layouts of the kernels are timed on: episodes of an agent, and the size of its updates. */
import { STREAM } from "../core/rng.ts";
import type { Commands } from "../gpu/commands.ts";
import { bugFixSpec, DEFAULT_MAX_TURNS } from "../gym/bugfix.ts";
import type { CompiledGym } from "../gym/compiled.ts";
import type { BugFixInfo } from "../gym/episode_info.ts";
import type { Parameters } from "../model/parameters.ts";
import { Decoder } from "../rollout/decoder.ts";
import { rolloutResident } from "../rollout/resident.ts";
import type { Trajectory } from "../rollout/trajectory.ts";

/** Tokens of a training step of 64 episodes. */
export const BENCH_ROWS = 1800;

const TRAIN_TASKS = 20;

/** A decoder for episodes of a gym under the default turn budget. */
export function benchDecoder(
  commands: Commands,
  { gym, parameters }: { readonly gym: CompiledGym; readonly parameters: Parameters },
): Decoder {
  const { maxEpisodeTokens } = bugFixSpec(gym.taskNames.length, DEFAULT_MAX_TURNS);
  return new Decoder(commands, parameters, { maxPositions: maxEpisodeTokens });
}

/** Plays episodes of the training tasks in turn; `round` chooses other random numbers. */
export function playEpisodes(
  decoder: Decoder,
  options: {
    readonly gym: CompiledGym;
    readonly episodeCount: number;
    readonly round: number;
  },
): Promise<Trajectory<BugFixInfo>[]> {
  const { gym, episodeCount, round } = options;
  return rolloutResident(decoder, {
    gym,
    tasks_B: Array.from({ length: episodeCount }, (_, i) => i % TRAIN_TASKS),
    maxTurns: DEFAULT_MAX_TURNS,
    reward: "hidden",
    random: { seed: round, stream: STREAM.experiment },
  });
}
