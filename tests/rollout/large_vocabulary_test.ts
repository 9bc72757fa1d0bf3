/** Tests of the layered sampler at vocabularies beyond what one loop of a software adapter may scan. */
import { assert, assertEquals } from "@std/assert";
import { sequenceKey, STREAM, threefry, toUniform } from "../../src/core/rng.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { SEGMENT_ENTRIES } from "../../src/kernels/logprob.ts";
import { RUN_SEGMENTS } from "../../src/kernels/sample.ts";
import { type ModelConfig, parameterLayout } from "../../src/model/config.ts";
import { createParameters, destroyParameters, initialValues } from "../../src/model/parameters.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutHost } from "../../src/rollout/host.ts";
import { scoreEpisodes } from "../../src/rollout/score.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { OneToken } from "./one_token.ts";

const EPISODES = 192;
const RUN_ENTRIES = RUN_SEGMENTS * SEGMENT_ENTRIES;
/**
 * How far the cumulative probability of a drawn token may be off: the roundings of one run's sum, 2^-24 each, half up and
 * half down (their root mean square; the worst case would be 180 times as much), three times over.
 */
const CDF_BOUND = 3 * Math.sqrt(RUN_ENTRIES) * 2 ** -24;

/** A model whose next token depends on the bias alone: all but the head's bias is small, and that spreads over e^6. */
function unevenModel(commands: Commands, vocabSize: number) {
  const config: ModelConfig = {
    vocabSize,
    width: 16,
    headCount: 1,
    feedForwardWidth: 16,
    layerCount: 1,
  };
  const weights_W = initialValues(config, 5);
  const { ranges } = parameterLayout(config);
  const at = ranges.find(({ name }) => name === "head.bias")!.offset;
  for (let v = 0; v < vocabSize; v++) weights_W[at + v] = 6 * ((v * 7919) % 1009) / 1009;
  return createParameters(commands, config, weights_W);
}

for (const vocabSize of [2_049, RUN_ENTRIES - 1, RUN_ENTRIES, RUN_ENTRIES + 1, 65_537, 151_936]) {
  gpuTest(
    `the layered sampler inverts the cumulative distribution of ${vocabSize} tokens`,
    async () => {
      const commands = new Commands(await testGpu());
      const parameters = unevenModel(commands, vocabSize);
      const decoder = new Decoder(commands, parameters, { maxPositions: 2, slotCount: 64 });
      assertEquals(decoder.kind, "layered");
      const random = { seed: 3, stream: STREAM.experiment, step: 7 };
      const episodes = await rolloutHost(decoder, {
        createEnvironment: () => new OneToken(),
        tasks_B: new Array(EPISODES).fill(0),
        random,
      });
      const { logits_NV = new Float32Array() } = await scoreEpisodes(commands, parameters, {
        ids_B: [new OneToken().reset()],
        temperature: 1,
        withLogits: true,
      });
      const scores = await scoreEpisodes(commands, parameters, {
        ids_B: episodes.map(({ ids }) => ids),
        temperature: 1,
        withLogits: false,
      });
      const cdf = Float64Array.from(logits_NV, Math.exp);
      for (let v = 1; v < vocabSize; v++) cdf[v] += cdf[v - 1];
      const total = cdf[vocabSize - 1];
      const key = sequenceKey(random);
      let exact = 0;
      episodes.forEach(({ ids, logps }, b) => {
        const token = ids[1];
        const uniform = toUniform(threefry(key, [b, 1])[0]);
        const low = (cdf[token - 1] ?? 0) / total, high = cdf[token] / total;
        assert(
          low - CDF_BOUND <= uniform && uniform <= high + CDF_BOUND,
          `token ${token} of ${low}..${high} was drawn by ${uniform}`,
        );
        exact += Number(low <= uniform && uniform < high);
        assertEquals(logps[1], scores.logp_N[2 * b], "the sampled log-prob has the forward's bits");
      });
      assert(exact > 0.9 * EPISODES, `${exact} of ${EPISODES} tokens are exact`);
      const drawn = episodes.map(({ ids }) => ids[1]);
      assert(Math.max(...drawn) > 0.95 * vocabSize && Math.min(...drawn) < 0.05 * vocabSize);
      decoder.destroy();
      destroyParameters(parameters);
    },
  );
}
