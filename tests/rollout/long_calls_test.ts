/** Tests of environments whose calls are longer than those of the gym. */
import { assert, assertEquals } from "@std/assert";
import { OWNER } from "../../src/core/owner.ts";
import { STREAM } from "../../src/core/rng.ts";
import { Commands } from "../../src/gpu/commands.ts";
import type { Environment, EpisodeInfo } from "../../src/gym/environment.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { createParameters, destroyParameters, initialValues } from "../../src/model/parameters.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutHost } from "../../src/rollout/host.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

const EPISODES = 24;

/** Three turns of up to `maxCallTokens`; it remembers the calls that it was handed. */
class Listener implements Environment<EpisodeInfo> {
  readonly spec;
  #calls: string[] = [];
  constructor(maxCallTokens: number) {
    const maxEpisodeTokens = 2 + 3 * maxCallTokens + 2;
    this.spec = { callEnd: 3, maxCallTokens, maxTurns: 3, maxEpisodeTokens, taskCount: EPISODES };
  }
  reset(task: number): number[] {
    this.#calls = [];
    return [17, task];
  }
  step(call: readonly number[]) {
    this.#calls.push(call.join(" "));
    const done = this.#calls.length === this.spec.maxTurns;
    return { observation: done ? [] : [9], done };
  }
  reward = () => 0;
  info(): EpisodeInfo {
    const calls = this.#calls;
    return { task: "listen", turns: calls.length, malformed: 0, stop: "budget", calls };
  }
}

/** The calls that the tokens hold: runs of the policy's. */
function callsOf({ ids, owners }: Trajectory): string[] {
  const calls: number[][] = [];
  ids.forEach((id, t) => {
    if (owners[t] !== OWNER.policy) return;
    if (owners[t - 1] !== OWNER.policy) calls.push([]);
    calls.at(-1)!.push(id);
  });
  return calls.map((call) => call.join(" "));
}

gpuTest("rolloutHost() hands environments calls of any length, whole", async () => {
  const commands = new Commands(await testGpu());
  const parameters = createParameters(commands, TINY_AGENT, initialValues(TINY_AGENT, 5));
  const found = [];
  for (const kind of ["fused", "layered"] as const) {
    for (const maxCallTokens of [8, 9, 70]) {
      const { maxEpisodeTokens } = new Listener(maxCallTokens).spec;
      const decoder = new Decoder(commands, parameters, {
        kind,
        maxPositions: maxEpisodeTokens,
        slotCount: 8,
      });
      const episodes = await rolloutHost(decoder, {
        createEnvironment: () => new Listener(maxCallTokens),
        tasks_B: Array.from({ length: EPISODES }, (_, b) => b),
        random: { seed: 4, stream: STREAM.experiment, step: 1 },
      });
      for (const episode of episodes) assertEquals(episode.info.calls, callsOf(episode));
      const lengths = episodes.flatMap(({ info }) =>
        info.calls.map((call) => call.split(" ").length)
      );
      assertEquals(Math.max(...lengths), maxCallTokens);
      assert(maxCallTokens < 70 || Math.min(...lengths) < 20, "some calls end by themselves");
      found.push(episodes.map(({ ids }) => ids));
      decoder.destroy();
    }
  }
  assertEquals(found.slice(0, 3), found.slice(3), "both decoders draw the same tokens");
  destroyParameters(parameters);
});
