/** A GPU with a fused fma, simulated: whether sampler and trainer have the same bits, and what one of them alone would make. */
import { OWNER } from "../../src/core/owner.ts";
import { STREAM } from "../../src/core/rng.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { arithmeticOf } from "../../src/gpu/self_test.ts";
import { bugFixSpec } from "../../src/gym/bugfix.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import type { BugFixInfo } from "../../src/gym/episode_info.ts";
import { openGym } from "../../src/gym/gym.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { createParameters, fromTensors, type Parameters } from "../../src/model/parameters.ts";
import { parseSafetensors } from "../../src/model/safetensors.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutResident } from "../../src/rollout/resident.ts";
import { scoreEpisodes } from "../../src/rollout/score.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";
import { fusedGpu } from "./fused_device.ts";

/** What is found where every fma rounds once, and where the trainer's alone does not. */
export interface FusedConformance {
  /** How often the self-test finds that fma rounds. */
  readonly fmaRounds: string;
  /** Log-probs of the sampler. */
  readonly tokens: number;
  /** Those that the trainer does not find in the same bits, and how far they are at most, in nats. */
  readonly unlike: number;
  readonly largest: number;
  /** The same, of a trainer whose fma rounds twice, and how far they are at most, in nats. */
  readonly apart: { readonly unlike: number; readonly largest: number };
}

interface Side {
  readonly commands: Commands;
  readonly parameters: Parameters;
}

/** Not 1, so that logits are scaled. */
const TEMPERATURE = 0.7;
const MAX_TURNS = 3;

async function sample({ commands, parameters }: Side): Promise<Trajectory<BugFixInfo>[]> {
  const gym = compileGym(openGym(), "rl");
  const { maxEpisodeTokens: maxPositions } = bugFixSpec(gym.taskNames.length, MAX_TURNS);
  const decoder = new Decoder(commands, parameters, { maxPositions });
  const episodes = await rolloutResident(decoder, {
    gym,
    tasks_B: Array.from({ length: 32 }, (_, b) => b % 20),
    maxTurns: MAX_TURNS,
    temperature: TEMPERATURE,
    reward: "hidden",
    random: { seed: 1, stream: STREAM.experiment },
  });
  decoder.destroy();
  return [...episodes];
}

/** |sampler − trainer| of each token that was sampled. */
async function gaps(
  episodes: readonly Trajectory<BugFixInfo>[],
  { commands, parameters }: Side,
): Promise<number[]> {
  const { logp_N } = await scoreEpisodes(commands, parameters, {
    ids_B: episodes.map(({ ids }) => ids),
    temperature: TEMPERATURE,
    withLogits: false,
  });
  let row = 0;
  return episodes.flatMap(({ owners, logps, ids }) => {
    const first = row;
    row += ids.length;
    return [...owners].flatMap((owner, t) =>
      owner === OWNER.policy ? [Math.abs((logps[t] ?? NaN) - (logp_N[first + t - 1] ?? NaN))] : []
    );
  });
}

/**
 * Samples with a fused fma, and scores with one and without.
 * @param checkpoint The golden agent, as safetensors.
 */
export async function measureFused(
  checkpoint: Uint8Array<ArrayBuffer>,
): Promise<FusedConformance> {
  const own = await openGpu();
  const fused = fusedGpu(own);
  const { tensors } = parseSafetensors(checkpoint, "model.safetensors");
  const sideOf = (gpu: typeof own): Side => {
    const commands = new Commands(gpu);
    const weights_W = fromTensors(TINY_AGENT, tensors);
    return { commands, parameters: createParameters(commands, TINY_AGENT, weights_W) };
  };
  const { fmaRounds } = await arithmeticOf(fused);
  const episodes = await sample(sideOf(fused));
  const same = await gaps(episodes, sideOf(fused));
  const apart = await gaps(episodes, sideOf(own));
  const unlike = (found: readonly number[]) => found.filter((gap) => !(gap === 0)).length;
  return {
    fmaRounds,
    tokens: same.length,
    unlike: unlike(same),
    largest: Math.max(...same),
    apart: { unlike: unlike(apart), largest: Math.max(...apart) },
  };
}
