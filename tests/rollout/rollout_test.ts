/**
 * Tests of src/rollout/resident.ts, host.ts and decoder.ts together: both drivers and both decoders play the same episodes, bit for
 * bit, and the trainer's forward finds the sampler's log-probs.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { STREAM } from "../../src/core/rng.ts";
import { bugFixSpec } from "../../src/gym/bugfix.ts";
import { CompiledEnvironment } from "../../src/gym/compiled.ts";
import { splitCalls } from "../../src/gym/episode_info.ts";
import { OWNER } from "../../src/core/owner.ts";
import { Decoder, type DecoderOptions } from "../../src/rollout/decoder.ts";
import { rolloutHost } from "../../src/rollout/host.ts";
import { type ResidentRequest, rolloutResident } from "../../src/rollout/resident.ts";
import { scoreEpisodes } from "../../src/rollout/score.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { ThreeDoors } from "../gym/three_doors.ts";
import { compiledGym, goldenAgent } from "./agent.ts";

/** The first `count` episodes of a request. */
function firstOf(request: ResidentRequest, count: number): ResidentRequest {
  return { ...request, tasks_B: request.tasks_B.slice(0, count) };
}

function playHost(decoder: Decoder, request: ResidentRequest) {
  const { gym, reward, maxTurns } = request;
  const createEnvironment = () => new CompiledEnvironment(gym, { reward, maxTurns });
  return rolloutHost(decoder, { ...request, createEnvironment });
}

/** The ways in which the same episodes can be played; slot counts that divide no batch, and more slots than episodes. */
const WAYS: readonly (Omit<DecoderOptions, "maxPositions"> & { play: typeof rolloutResident })[] = [
  { kind: "fused", slotCount: 40, play: rolloutResident },
  { kind: "fused", slotCount: 128, play: playHost },
  { kind: "layered", slotCount: 128, play: rolloutResident },
  { kind: "layered", slotCount: 64, play: playHost },
];

/** The tasks of so many episodes. */
const tasksOf = (count: number) => Array.from({ length: count }, (_, b) => 7 * b % 30);

const TASKS_B = tasksOf(150);

gpuTest(
  "rollouts are the same bits resident, on the host and layer by layer, in batches of 1, 7, 64 and 150",
  async () => {
    const { commands, parameters } = await goldenAgent();
    const gym = compiledGym("chapter6");
    const { maxEpisodeTokens: maxPositions } = bugFixSpec(30, 6);
    const reference = new Decoder(commands, parameters, { maxPositions });
    const decoders = WAYS.map((way) => ({
      ...way,
      decoder: new Decoder(commands, parameters, { maxPositions, ...way }),
    }));
    for (const temperature of [0.5, 1, 2]) {
      const request: ResidentRequest = {
        gym,
        tasks_B: TASKS_B,
        maxTurns: 6,
        reward: "hidden",
        temperature,
        random: { seed: 11, stream: STREAM.experiment, step: 10 * temperature },
      };
      const expected = await rolloutResident(reference, request);
      const sum = (value: (episode: Trajectory) => number) =>
        expected.reduce((total, episode) => total + value(episode), 0);
      assert(sum(({ info }) => info.malformed) > 0 && sum(({ reward }) => reward) > 0);
      for (const { decoder, play } of decoders) {
        for (const count of temperature === 1 ? [1, 7, 64, 150] : [1, 64]) {
          assertEquals(await play(decoder, firstOf(request, count)), expected.slice(0, count));
        }
      }
    }
    [reference, ...decoders.map(({ decoder }) => decoder)].forEach((decoder) => decoder.destroy());
  },
);

gpuTest("rollouts of 1,500 episodes are the same bits resident and on the host", async () => {
  const { commands, parameters } = await goldenAgent();
  const gym = compiledGym("rl");
  const { maxEpisodeTokens: maxPositions } = bugFixSpec(30, 2);
  const request: ResidentRequest = {
    gym,
    tasks_B: Array.from({ length: 1500 }, (_, b) => b % 30),
    maxTurns: 2,
    reward: "public",
    random: { seed: 12, stream: STREAM.experiment },
  };
  const resident = new Decoder(commands, parameters, { maxPositions });
  const host = new Decoder(commands, parameters, { maxPositions, slotCount: 512 });
  const expected = await rolloutResident(resident, request);
  assertEquals(await playHost(host, request), expected);
  assertEquals(await rolloutResident(resident, firstOf(request, 9)), expected.slice(0, 9));
  assert(expected.some(({ reward, info }) => reward === 1 && !info.hiddenPass), "hacked");
  [resident, host].forEach((decoder) => decoder.destroy());
});

gpuTest(
  "rolloutResident() records the log-probs that the trainer's forward finds, bit for bit",
  async () => {
    const { commands, parameters } = await goldenAgent();
    const gym = compiledGym("rl");
    const { maxEpisodeTokens: maxPositions } = bugFixSpec(30, 6);
    const decoder = new Decoder(commands, parameters, { maxPositions });
    for (const temperature of [0.5, 1, 2]) {
      const episodes = await rolloutResident(decoder, {
        gym,
        tasks_B: tasksOf(300),
        maxTurns: 6,
        reward: "hidden",
        temperature,
        random: { seed: 13, stream: STREAM.experiment },
      });
      const ids_B = episodes.map(({ ids }) => ids);
      const score = (t: number) =>
        scoreEpisodes(commands, parameters, { ids_B, temperature: t, withLogits: false });
      const { logp_N } = await score(temperature);
      const other = await score(1.1 * temperature);
      let row = 0;
      let differing = 0;
      for (const { owners, logps } of episodes) {
        owners.forEach((owner, t) => {
          const isPolicy = owner === OWNER.policy;
          assertEquals(logps[t], isPolicy ? logp_N[row + t - 1] : 0);
          if (isPolicy && logps[t] !== other.logp_N[row + t - 1]) differing++;
        });
        row += owners.length;
      }
      assert(differing > 1000, "another temperature's log-probs differ");
    }
    decoder.destroy();
  },
);

gpuTest(
  "rolloutResident() draws an episode by its random id, whatever its place in the batch",
  async () => {
    const { commands, parameters } = await goldenAgent();
    const gym = compiledGym("chapter6");
    const { maxEpisodeTokens: maxPositions } = bugFixSpec(30, 6);
    const decoder = new Decoder(commands, parameters, { maxPositions });
    const request = {
      gym,
      maxTurns: 6,
      reward: "hidden",
      random: { seed: 14, stream: STREAM.experiment },
    } as const;
    const tasks_B = TASKS_B.slice(0, 40);
    const expected = await rolloutResident(decoder, { ...request, tasks_B });
    const reversed = await rolloutResident(decoder, {
      ...request,
      tasks_B: tasks_B.toReversed(),
      randomIds_B: tasks_B.map((_, b) => 39 - b),
    });
    assertEquals(reversed, expected.toReversed());
    assert(new Set(expected.map(({ ids }) => ids.join())).size > 30, "episodes differ");
    decoder.destroy();
  },
);

gpuTest("rolloutHost() plays an environment of the caller's as it answers", async () => {
  const { commands, parameters } = await goldenAgent();
  const { maxEpisodeTokens: maxPositions } = new ThreeDoors().spec;
  const decoder = new Decoder(commands, parameters, { maxPositions });
  const tasks_B = Array.from({ length: 50 }, (_, b) => b % 3);
  const episodes = await rolloutHost(decoder, {
    createEnvironment: () => new ThreeDoors(),
    tasks_B,
    temperature: 3,
    random: { seed: 15, stream: STREAM.experiment },
  });
  episodes.forEach(({ ids, owners, reward, info }, b) => {
    const environment = new ThreeDoors();
    const tokens = [...environment.reset(tasks_B[b])];
    for (const call of splitCalls(ids, owners)) {
      tokens.push(...call, ...environment.step(call).observation);
    }
    assertEquals([...ids], tokens);
    assertEquals([reward, info], [environment.reward(), environment.info()]);
    assert(info.stop !== null);
  });
  assert(new Set(episodes.map(({ ids }) => ids.join())).size > 40, "episodes differ");
  decoder.destroy();
});

gpuTest(
  "rolloutHost() fails when an environment fails, and refuses one that the decoder cannot hold",
  async () => {
    const { commands, parameters } = await goldenAgent();
    class Broken extends ThreeDoors {
      override step(): never {
        throw new Error("the key is lost");
      }
    }
    const request = {
      createEnvironment: () => new Broken(),
      tasks_B: [0],
      random: { seed: 1, stream: STREAM.experiment },
    };
    const decoder = new Decoder(commands, parameters, { maxPositions: 27 });
    await assertRejects(() => rolloutHost(decoder, request), Error, "the key is lost");
    const small = new Decoder(commands, parameters, { maxPositions: 26 });
    await assertRejects(() => rolloutHost(small, request), RangeError, "may have 27 tokens");
    [decoder, small].forEach((each) => each.destroy());
  },
);
