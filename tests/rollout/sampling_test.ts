/** Tests of the sampler as a distribution: up to 100,000 draws against exact probabilities, at three temperatures. */
import { assert, assertEquals } from "@std/assert";
import { STREAM } from "../../src/core/rng.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { parameterLayout, TINY_AGENT } from "../../src/model/config.ts";
import {
  createParameters,
  destroyParameters,
  initialValues,
  type Parameters,
} from "../../src/model/parameters.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutHost } from "../../src/rollout/host.ts";
import { scoreEpisodes } from "../../src/rollout/score.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { OneToken } from "./one_token.ts";

const BATCH = 4096;
/** Batches at each temperature: as many as tell one that is a tenth higher. */
const BATCHES_OF = new Map([[0.5, 10], [1, 18], [2, 25]]);

/** The bias takes these tokens' probability away: the first one, one inside, and the last one, on which rounding would fall. */
const IMPOSSIBLE = [0, 23, 59];

function modelWithImpossibleTokens(commands: Commands): Parameters {
  const weights_W = initialValues(TINY_AGENT, 5);
  const bias = parameterLayout(TINY_AGENT).ranges.find(({ name }) => name === "head.bias");
  IMPOSSIBLE.forEach((token) => weights_W[(bias?.offset ?? NaN) + token] = -1e4);
  return createParameters(commands, TINY_AGENT, weights_W);
}

/** Probabilities of the token after the prompt, in float64 from the model's logits. */
async function probabilities(
  commands: Commands,
  parameters: Parameters,
  temperature: number,
): Promise<number[]> {
  const { logits_NV = new Float32Array() } = await scoreEpisodes(commands, parameters, {
    ids_B: [new OneToken().reset()],
    temperature: 1,
    withLogits: true,
  });
  const weights = Array.from(logits_NV, (logit) => Math.exp(logit / temperature));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

/** Σ (count − expected)² / expected over the possible tokens. */
function chiSquare(counts: readonly number[], probability_V: readonly number[]): number {
  const draws = counts.reduce((a, b) => a + b, 0);
  return counts.reduce((sum, count, v) => {
    const expected = probability_V[v] * draws;
    return IMPOSSIBLE.includes(v) ? sum : sum + (count - expected) ** 2 / expected;
  }, 0);
}

/** The chi-square value that one right sampler in a million exceeds (Wilson and Hilferty 1931), 56 degrees of freedom. */
const FREEDOM = TINY_AGENT.vocabSize - IMPOSSIBLE.length - 1;
const BOUND = FREEDOM * (1 - 2 / (9 * FREEDOM) + 4.75 * Math.sqrt(2 / (9 * FREEDOM))) ** 3;

gpuTest(
  "sampling draws tokens as often as their probabilities say, and an impossible one never",
  async () => {
    const commands = new Commands(await testGpu());
    const parameters = modelWithImpossibleTokens(commands);
    // Both decoders share the sampler; a layered token of 4,096 slots costs less than a fused dispatch of 16 tokens.
    const decoder = new Decoder(commands, parameters, {
      kind: "layered",
      maxPositions: 2,
      slotCount: BATCH,
    });
    for (const [temperature, batches] of BATCHES_OF) {
      const counts = new Array(TINY_AGENT.vocabSize).fill(0);
      for (let step = 0; step < batches; step++) {
        const episodes = await rolloutHost(decoder, {
          createEnvironment: () => new OneToken(),
          tasks_B: new Array(BATCH).fill(0),
          temperature,
          random: { seed: 100 * temperature, stream: STREAM.experiment, step },
        });
        episodes.forEach(({ ids }) => counts[ids[1]]++);
      }
      const exact = await probabilities(commands, parameters, temperature);
      assert(exact.every((p, v) => p * BATCH * batches > 5 || IMPOSSIBLE.includes(v)));
      assertEquals(IMPOSSIBLE.map((token) => counts[token]), IMPOSSIBLE.map(() => 0));
      const found = chiSquare(counts, exact);
      assert(found <= BOUND, `temperature ${temperature}: chi-square ${found}, bound ${BOUND}`);
      const wrong = await probabilities(commands, parameters, 1.1 * temperature);
      assert(chiSquare(counts, wrong) > BOUND, "a temperature that is off by a tenth is found out");
    }
    decoder.destroy();
    destroyParameters(parameters);
  },
);
