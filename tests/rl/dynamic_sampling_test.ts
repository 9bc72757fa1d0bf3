/** Tests of dynamic sampling: which episodes are drawn again, with which random numbers, and when it ends. */
import { assert, assertEquals } from "@std/assert";
import { resolveConfig } from "../../src/rl/config.ts";
import { flatPlaces, resampleFlatGroups } from "../../src/rl/dynamic_sampling.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import type { BugFixInfo } from "../../src/gym/episode_info.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { goldenAgent } from "../rollout/agent.ts";

const episode = (reward: number): Trajectory<BugFixInfo> => ({ reward }) as Trajectory<BugFixInfo>; // Nothing else is read.

const GROUPS = [7, 7, 3, 3, 5, 5];

Deno.test("flatPlaces() takes whole groups of equal rewards, whatever the reward", () => {
  assertEquals(flatPlaces([0, 1, 1, 1, 0, 0], GROUPS), [2, 3, 4, 5]);
  assertEquals(flatPlaces([0, 1, 1, 0, 0, 1], GROUPS), []);
});

Deno.test("resampleFlatGroups() draws flat groups again until they differ or the rounds are spent", async () => {
  const asked: [readonly number[], number][] = [];
  const batch = await resampleFlatGroups([0, 1, 1, 1, 0, 0].map(episode), {
    groupId_B: GROUPS,
    rounds: 2,
    resample: (places, round) => {
      asked.push([places, round]);
      return Promise.resolve(places.map((b) => episode(b === 3 ? 0 : 1)));
    },
  });
  assertEquals(asked, [[[2, 3, 4, 5], 1], [[4, 5], 2]]);
  assertEquals(batch.map(({ reward }) => reward), [0, 1, 1, 0, 1, 1]);
});

Deno.test("resampleFlatGroups() changes nothing with 0 rounds", async () => {
  const first = [0, 0, 0, 0, 0, 0].map(episode);
  const never = () => Promise.reject(new Error("resampled"));
  const batch = await resampleFlatGroups(first, { groupId_B: GROUPS, rounds: 0, resample: never });
  assertEquals(batch, first);
});

gpuTest(
  "Trainer.sampleBatch() leaves fewer flat groups with resampleRounds, and the others alone",
  async () => {
    const { commands, parameters } = await goldenAgent();
    const batchOf = async (rounds: number) => {
      const config = resolveConfig({ sets: [`resampleRounds=${rounds}`, "seed=1"] });
      const trainer = new Trainer(trainingSetup(commands, { config }), { parameters });
      const batch = await trainer.sampleBatch();
      trainer.destroy();
      return batch;
    };
    const [plain, dynamic] = [await batchOf(0), await batchOf(4)];
    const flat = flatPlaces(plain.rewards_B, plain.groupId_B);
    const left = flatPlaces(dynamic.rewards_B, dynamic.groupId_B);
    assert(
      flat.length > 0 && left.length < flat.length,
      `${flat.length} places, then ${left.length}`,
    );
    plain.trajectories.forEach(({ ids }, b) => {
      if (!flat.includes(b)) assertEquals(dynamic.trajectories[b].ids, ids);
    });
  },
);
