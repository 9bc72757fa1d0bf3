/** Holds both decoders to src/reference: the tokens that they draw, and the log-probs that they record of them. */
import { assert } from "@std/assert";
import { sequenceKey, threefry, toUniform } from "../../src/core/rng.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import { OWNER } from "../../src/core/owner.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { createParameters, initialValues, toTensors } from "../../src/model/parameters.ts";
import { logprobFromLogits } from "../../src/reference/logprob.ts";
import { sampleToken } from "../../src/reference/sample.ts";
import { tinyAgentForward } from "../../src/reference/tiny_agent.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutResident } from "../../src/rollout/resident.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";
import type { Compare } from "./harness.ts";

const TEMPERATURE = 0.7;
const RANDOM = { seed: 5, stream: 1, step: 3 };
/** Tasks that are played, in more than one workgroup's slots. */
const TASKS = [0, 7, 12, 21, 3, 3, 29, 16, 8, 1];

/**
 * The largest error of a log-prob in f32 through three blocks: the plain f32 forward of PyTorch is off by 4e-6 with these
 * sizes, and the temperature divides logits, so that it scales their error.
 */
const LOGP_BOUND = 1e-5 / TEMPERATURE;

function logitsOf(weights_W: Float32Array<ArrayBuffer>, { ids }: Trajectory): Float64Array {
  const named = Object.fromEntries(
    [...toTensors(TINY_AGENT, weights_W)].map(([name, { data }]) => [name, data]),
  );
  const { width, headCount, feedForwardWidth, layerCount, vocabSize } = TINY_AGENT;
  return tinyAgentForward(named, {
    shape: { width, headCount, feedForwardWidth, layerCount, vocabularySize: vocabSize },
    tokens: {
      ids_N: ids,
      startOfEpisode_N: new Uint32Array(ids.length),
      position_N: Uint32Array.from(ids, (_, t) => t),
    },
  }).logits_NV;
}

/** Log-probs of the sampled tokens of every episode, and the tokens themselves, by one of the decoders. */
export function compareDecoder(kind: "fused" | "layered"): Compare {
  return async (gpu) => {
    const commands = new Commands(gpu);
    const weights_W = initialValues(TINY_AGENT, 1);
    const parameters = createParameters(commands, TINY_AGENT, weights_W);
    const decoder = new Decoder(commands, parameters, { kind, maxPositions: 32, slotCount: 8 });
    const episodes = await rolloutResident(decoder, {
      gym: compileGym(openGym(), "chapter6"),
      tasks_B: TASKS,
      random: RANDOM,
      temperature: TEMPERATURE,
      maxTurns: 2,
      reward: "hidden",
    });
    const key = sequenceKey(RANDOM);
    const recorded: number[] = [], expected: number[] = [];
    const drawn: number[] = [], expectedTokens: number[] = [];
    const { vocabSize } = TINY_AGENT;
    episodes.forEach((episode, b) => {
      const logits_NV = logitsOf(weights_W, episode);
      episode.ids.forEach((token, t) => {
        if (episode.owners[t] !== OWNER.policy) return;
        const logits_V = logits_NV.subarray((t - 1) * vocabSize, t * vocabSize);
        const uniform = toUniform(threefry(key, [b, t])[0]);
        drawn.push(token);
        expectedTokens.push(sampleToken(logits_V, { temperature: TEMPERATURE, uniform }));
        recorded.push(episode.logps[t]!);
        const [logp] = logprobFromLogits(logits_V, {
          rowCount: 1,
          vocabularySize: vocabSize,
          target_N: [token],
          temperature: TEMPERATURE,
        }).logp_N;
        expected.push(logp!);
      });
    });
    decoder.destroy();
    assert(drawn.length > 60 && new Set(drawn).size > 10, "too few tokens were sampled");
    return [
      { name: "token", actual: Float32Array.from(drawn), expected: expectedTokens, bound: 0 },
      { name: "log-prob", actual: Float32Array.from(recorded), expected, bound: LOGP_BOUND },
    ];
  };
}
