/** Faults in what an episode is worth: rewards and advantages. */
import type { PlantedFault } from "../fault.ts";
import { advantagesAre, rewardIs, STAGES, UPDATE } from "../places.ts";

export const JUDGING: readonly PlantedFault[] = [
  {
    name: "advantage_batch_normalised",
    kind: "advantages",
    summary: "Rewards are standardized over the whole batch instead of within each group.",
    shows: "Training works, somewhat slower: easy problems drown the hard ones.",
    named: [],
    near: ["group_shuffle"],
    begins: 0,
    patches: [advantagesAre(
      "ALGORITHMS[algorithm].advantage({ ...input, groupId_B: rewards_B.map(() => 0) }).advantage_B",
    )],
  },
  {
    name: "advantage_ddof",
    kind: "advantages",
    summary: "The standard deviation of a group divides by n instead of n − 1.",
    shows: "Nothing: advantages are 7 % larger in groups of eight.",
    named: [],
    near: [],
    begins: 0,
    patches: [advantagesAre(
      "right.advantage_B.map((a) => a * Math.sqrt(config.groupSize / (config.groupSize - 1)))",
    )],
  },
  {
    name: "advantage_next_episode",
    kind: "advantages",
    summary: "The loss reads the advantage of the episode behind its own.",
    shows: "The reward stays where it was, with gradients of the usual size.",
    named: [],
    near: ["group_shuffle"],
    begins: 0,
    patches: [{
      file: UPDATE,
      find: "objectiveRows(packed, { ...part, advantage_B, oldLogp_BC });",
      put: `objectiveRows(packed, {
      ...part,
      advantage_B: advantage_B.map((_, b) => advantage_B[(b + 1) % advantage_B.length]),
      oldLogp_BC,
    });`,
    }],
  },
  {
    name: "advantage_by_place",
    kind: "advantages",
    summary:
      "Advantages are looked up by an episode's place in its shuffled minibatch, not by its place in the batch.",
    shows: "The reward stays where it was, with gradients of the usual size.",
    named: [],
    near: ["group_shuffle"],
    begins: 0,
    patches: [{
      file: "src/rl/objective.ts",
      find: "at(grids.advantage_B, at(batch.gridRow_B, i))",
      put: "at(grids.advantage_B, i)",
    }],
  },
  {
    name: "advantage_per_token",
    kind: "advantages",
    summary: "An advantage is divided by the length of its episode, on top of the token mean.",
    shows: "Long failures are hardly punished: they get longer.",
    named: [],
    near: ["length_bias"],
    begins: 0,
    patches: [
      {
        file: STAGES,
        find: "advantages: ({ rewards_B, groupId_B }, { config, baseline }) => {",
        put: "advantages: ({ rewards_B, groupId_B, packed }, { config, baseline }) => {",
      },
      advantagesAre("right.advantage_B.map((a, b) => 20 * a / packed.length_B[b])"),
    ],
  },
  {
    name: "reward_wrong_task",
    kind: "rewards",
    summary: "An episode is judged by the tests of the next problem of the batch.",
    shows: "The reward is low and stays low.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "src/rollout/resident.ts",
      find: "    return judgeRecord(record.tokens, { gym, task, maxTurns, reward });",
      put: `    const other = tasks_B[(b + 8) % tasks_B.length];
    const judged = judgeRecord(record.tokens, { gym, task: other, maxTurns, reward });
    return {
      ...judgeRecord(record.tokens, { gym, task, maxTurns, reward }),
      reward: judged.reward,
    };`,
    }],
  },
  {
    name: "reward_without_submit",
    kind: "rewards",
    summary: "A program that passes is paid although the episode never submitted it.",
    shows: "The reward rises as usual, while the agent unlearns to submit.",
    named: [],
    near: ["public_reward"],
    begins: 0,
    patches: [rewardIs("Number(info.hiddenPass)")],
  },
  {
    name: "reward_public",
    kind: "rewards",
    summary: "The verifier runs the public tests although the hidden ones are configured.",
    shows: "The reward rises faster than usual, the held-out pass rate does not.",
    named: ["public_reward"],
    near: [],
    begins: 0,
    patches: [rewardIs('bugFixReward(info, "public")')],
  },
  {
    name: "reward_any_submit",
    kind: "rewards",
    summary: "Every submitted program is paid, whatever the tests say.",
    shows: "The reward reaches 1 within a few steps: the agent submits at once.",
    named: [],
    near: ["public_reward"],
    begins: 0,
    patches: [rewardIs("Number(info.submitted)")],
  },
  {
    name: "reward_turn_bonus",
    kind: "rewards",
    summary: "A bonus of 0.05 a call, left over from an experiment, is added to every reward.",
    shows: "Episodes get longer; the reward is a little above the pass rate.",
    named: [],
    near: ["length_bias"],
    begins: 0,
    patches: [rewardIs("bugFixReward(info, reward) + 0.05 * info.turns")],
  },
];
