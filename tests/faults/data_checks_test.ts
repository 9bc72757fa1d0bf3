/** Tests of the checks of recorded data on this project's own trainer: one trainer with five mistakes, each seen by its own check. */
import type { BugFixInfo } from "../../src/gym/episode_info.ts";
import { assert, assertEquals } from "@std/assert";
import { at } from "../../src/core/element.ts";
import { OWNER } from "../../src/core/owner.ts";
import { invariantKey } from "../../src/diagnose/invariant_list.ts";
import { violated } from "../../src/diagnose/invariants.ts";
import { runChecks } from "../../src/faults/trainer_checks.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { HEALTHY_STAGES, type Stages } from "../../src/rl/stages.ts";
import { collate } from "../../src/rl/train_batch.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { openBench, smallConfig } from "./small_runs.ts";

gpuTest("runChecks() tells advantages, rewards and data that are not as said", async () => {
  const { commands, agent: { config: model, weights_W } } = await openBench();
  const failing = async (faults: Partial<Stages>) => {
    const stages = { ...HEALTHY_STAGES, ...faults };
    const setup = trainingSetup(commands, { config: smallConfig(), stages });
    const results = await runChecks(setup, { model, weights_W });
    return violated(results).filter(({ id }) => id > 11);
  };
  const rolled: Partial<Stages> = {
    // Of the next episode.
    advantages: (batch, context) => {
      const { advantage_B, baseline } = HEALTHY_STAGES.advantages(batch, context);
      const { length } = advantage_B;
      return {
        baseline,
        advantage_B: advantage_B.map((_, b) => at(advantage_B, (b + 1) % length)),
      };
    },
    // Without the last episode.
    split: (batch, context) =>
      HEALTHY_STAGES.split(batch, context).map((episodes) =>
        episodes.filter((b) => b < batch.packed.episodeCount - 1)
      ),
    // Paid for every submission.
    sample: async (request, { rollOut }) =>
      (await rollOut(request)).map((trajectory) => ({
        ...trajectory,
        reward: Number((trajectory.info as BugFixInfo).submitted),
      })),
  };
  const found = await failing(rolled);
  assertEquals(found.map(({ id }) => invariantKey(id)), [
    "advantage_of_episode",
    "reward_of_episode",
    // With an episode fewer each token has another weight.
    "term_directions",
    "all_data_once",
  ]);
  // The same random numbers in every step, and a greedy sampler that records the policy's log-probs.
  const fixed = await failing({
    sample: (request, { rollOut }) =>
      rollOut({ ...request, random: { ...request.random, step: 0 } }),
  });
  assertEquals(fixed.map(({ id }) => invariantKey(id)), ["all_data_once"]);
  assert(at(fixed, 0).reason.includes("random numbers"), at(fixed, 0).reason);
  const greedy = await failing({
    sample: async (request, { rollOut, recompute }) => {
      const trajectories = await rollOut({ ...request, temperature: 0.05 });
      const batch = collate(trajectories, {
        groupId_B: trajectories.map((_, b) => b),
        vocabSize: model.vocabSize,
      });
      const logp_BC = await recompute(batch);
      const { columnCount } = batch.packed;
      return trajectories.map((trajectory, b) => ({
        ...trajectory,
        logps: trajectory.logps.map((_, t) =>
          trajectory.owners[t] === OWNER.policy ? at(logp_BC, b * columnCount + t - 1) : 0
        ),
      }));
    },
  });
  assertEquals(greedy.map(({ id }) => invariantKey(id)), ["sampled_as_said", "all_data_once"]);
});
