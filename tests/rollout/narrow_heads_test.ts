/** Sampler and trainer have the same bits at every head width, in both decoders: heads of 16 are written out, others are loops. */
import { assert, assertEquals } from "@std/assert";
import { OWNER } from "../../src/core/owner.ts";
import { Commands } from "../../src/gpu/commands.ts";
import type { Environment, EpisodeInfo } from "../../src/gym/environment.ts";
import { createParameters, destroyParameters, initialValues } from "../../src/model/parameters.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutHost } from "../../src/rollout/host.ts";
import { scoreEpisodes } from "../../src/rollout/score.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

/** Three calls of one token, each answered by a token: positions with one key up to five. */
class ShortTalk implements Environment<EpisodeInfo> {
  readonly spec = { callEnd: 0, maxCallTokens: 1, maxTurns: 3, maxEpisodeTokens: 6, taskCount: 1 };
  #turns = 0;
  reset() {
    this.#turns = 0;
    return [1];
  }
  step() {
    const done = ++this.#turns === this.spec.maxTurns;
    return { observation: done ? [] : [2], done };
  }
  reward = () => 0;
  info = () => ({
    task: "talk",
    turns: this.#turns,
    malformed: 0,
    stop: this.#turns < this.spec.maxTurns ? null : "budget",
    calls: [],
  });
}

const SHAPES = [
  { width: 32, headCount: 8 },
  { width: 32, headCount: 4 },
  { width: 32, headCount: 2 },
  { width: 64, headCount: 2 },
];

for (const { width, headCount } of SHAPES) {
  gpuTest(`decoders have the bits of the forward with heads of ${width / headCount}`, async () => {
    const commands = new Commands(await testGpu());
    const config = { vocabSize: 6, width, headCount, feedForwardWidth: 64, layerCount: 1 };
    const parameters = createParameters(commands, config, initialValues(config, 1));
    for (const kind of ["fused", "layered"] as const) {
      const decoder = new Decoder(commands, parameters, { kind, maxPositions: 6 });
      const episodes = await rolloutHost(decoder, {
        createEnvironment: () => new ShortTalk(),
        tasks_B: new Array(48).fill(0),
        temperature: 1,
        random: { seed: 1, stream: 3, step: 0 },
      });
      decoder.destroy();
      const { logp_N } = await scoreEpisodes(commands, parameters, {
        ids_B: episodes.map(({ ids }) => ids),
        temperature: 1,
        withLogits: false,
      });
      const sampled: number[] = [], scored: number[] = [];
      let row = 0;
      for (const { ids, owners, logps } of episodes) {
        for (let t = 0; t < ids.length; t++, row++) {
          if (owners[t + 1] !== OWNER.policy) continue;
          sampled.push(logps[t + 1]);
          scored.push(logp_N[row]);
        }
      }
      assert(sampled.length === 144 && new Set(sampled).size > 20, "many log-probs were compared");
      assertEquals(sampled, scored, kind);
    }
    destroyParameters(parameters);
  });
}
