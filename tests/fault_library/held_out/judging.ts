/** Faults in what an episode is worth: rewards and advantages. */
import type { PlantedFault } from "../fault.ts";
import { advantagesAre, remembers, rewardIs, TRAINER } from "../places.ts";

/** Of the group of episode b. */
const GROUP_STD = `const own = rewards_B.filter((_, i) => groupId_B[i] === groupId_B[b]);
      const mean = own.reduce((sum, r) => sum + r, 0) / own.length;
      const std = Math.sqrt(own.reduce((sum, r) => sum + (r - mean) ** 2, 0) / (own.length - 1));`;

export const JUDGING: readonly PlantedFault[] = [
  {
    name: "advantage_uncentred",
    kind: "advantages",
    summary: "Rewards are divided by their group's standard deviation, but the mean stays in them.",
    shows: "The policy is pushed towards all winners and never away from a failure.",
    named: [],
    near: [],
    begins: 0,
    patches: [advantagesAre(
      `Float64Array.from(rewards_B, (reward, b) => {
      ${GROUP_STD}
      return std === 0 ? 0 : reward / (std + advantageEps);
    })`,
    )],
  },
  {
    name: "advantage_batch_std",
    kind: "advantages",
    summary: "The mean is the group's, the standard deviation that of the whole batch.",
    shows: "Little: groups of almost equal rewards count less.",
    named: [],
    near: [],
    begins: 0,
    patches: [advantagesAre(
      `(() => {
      const mean = rewards_B.reduce((sum, r) => sum + r, 0) / rewards_B.length;
      const square = rewards_B.reduce((sum, r) => sum + (r - mean) ** 2, 0);
      const all = Math.sqrt(square / (rewards_B.length - 1));
      return right.advantage_B.map((a, b) => {
        ${GROUP_STD}
        return a * std / (all + advantageEps);
      });
    })()`,
    )],
  },
  {
    name: "advantage_positive_only",
    kind: "advantages",
    summary: "Negative advantages are set to 0, so that failures teach nothing.",
    shows: "The reward rises more slowly, entropy falls faster.",
    named: [],
    near: [],
    begins: 0,
    patches: [advantagesAre("right.advantage_B.map((a) => Math.max(a, 0))")],
  },
  {
    name: "advantage_eps_large",
    kind: "advantages",
    summary: "The constant below the standard deviation is 1 instead of 1e-6.",
    shows: "Nothing: advantages are about a third as large.",
    named: [],
    near: [],
    begins: 0,
    patches: [advantagesAre(
      "ALGORITHMS[algorithm].advantage({ ...input, advantageEps: 1 }).advantage_B",
    )],
  },
  {
    name: "advantage_previous_batch",
    kind: "advantages",
    summary: "The advantages are those of the batch before.",
    shows: "The reward stays where it was, with gradients of the usual size.",
    named: [],
    near: ["group_shuffle"],
    begins: 1,
    patches: [
      remembers("#lateAdvantages: Float64Array | undefined"),
      {
        file: TRAINER,
        find:
          "    return this.stages.advantages(batch, { config: this.config, baseline: this.#state.baseline });",
        put: `    const { config } = this;
    const right = this.stages.advantages(batch, { config, baseline: this.#state.baseline });
    const advantage_B = this.#lateAdvantages ?? right.advantage_B;
    this.#lateAdvantages = right.advantage_B;
    return { ...right, advantage_B };`,
      },
    ],
  },
  {
    name: "groups_by_stride",
    kind: "advantages",
    summary:
      "Groups are laid out by the remainder of an episode's place instead of by its quotient.",
    shows: "Training works, somewhat slower: a group holds one episode of each problem.",
    named: ["group_shuffle"],
    near: [],
    begins: 0,
    patches: [{
      file: "src/rl/draw_tasks.ts",
      find: "groupId_B: problems.flatMap((_, group) => members.map(() => group)),",
      put: "groupId_B: problems.flatMap(() => members),",
    }],
  },
  {
    name: "reward_previous_batch",
    kind: "rewards",
    summary:
      "A queue of verdicts is off by one batch: each episode gets the reward of one before it.",
    shows: "The reward stays where it was.",
    named: [],
    near: ["group_shuffle"],
    begins: 1,
    patches: [
      remembers("#lateRewards: readonly number[] | undefined"),
      {
        file: TRAINER,
        find: "    return collateEnded(trajectories, { groupId_B, vocabSize, ...options });",
        put: `    const rewards_B = this.#lateRewards ?? trajectories.map(({ reward }) => reward);
    this.#lateRewards = trajectories.map(({ reward }) => reward);
    const judged = trajectories.map((trajectory, b) => ({ ...trajectory, reward: rewards_B[b] }));
    return collateEnded(judged, { groupId_B, vocabSize, ...options });`,
      },
    ],
  },
  {
    name: "reward_constant",
    kind: "rewards",
    summary: "The verifier fails silently, and every episode gets 0.",
    shows: "The reward is 0 from the first step on.",
    named: [],
    near: [],
    begins: 0,
    patches: [rewardIs("0")],
  },
  {
    name: "reward_flipped",
    kind: "rewards",
    summary: "The verifier's exit code is read as a truth value: failures are paid.",
    shows: "The reward begins near 1 and rises, while nothing passes.",
    named: [],
    near: ["sign_flip", "public_reward"],
    begins: 0,
    patches: [rewardIs("1 - bugFixReward(info, reward)")],
  },
  {
    name: "reward_noisy",
    kind: "rewards",
    summary: "One verdict in five is wrong: the verifier's time limit is too short.",
    shows: "The reward begins near 0.2 and rises slowly.",
    named: [],
    near: [],
    begins: 0,
    patches: [rewardIs(
      `(tokens.logps.reduce((sum, p) => sum + p, 0) * -1e4 % 100 < 20)
      ? 1 - bugFixReward(info, reward)
      : bugFixReward(info, reward)`,
    )],
  },
  {
    name: "reward_stale_program",
    kind: "rewards",
    summary: "The verifier runs the program as it was before the last edit.",
    shows: "The reward stays near 0.",
    named: [],
    near: [],
    begins: 0,
    patches: [
      {
        file: "src/rollout/resident.ts",
        find: "  let isSubmitted = false;",
        put: "  let isSubmitted = false;\n  let judged = state;",
      },
      {
        file: "src/rollout/resident.ts",
        find: "    state = transition.nextState;",
        put:
          "    if (transition.nextState !== state) judged = state;\n    state = transition.nextState;",
      },
      {
        file: "src/rollout/resident.ts",
        find: "publicPass: gym.publicPass_S[state] === 1,",
        put: "publicPass: gym.publicPass_S[judged] === 1,",
      },
      {
        file: "src/rollout/resident.ts",
        find: "hiddenPass: gym.hiddenPass_S[state] === 1,",
        put: "hiddenPass: gym.hiddenPass_S[judged] === 1,",
      },
    ],
  },
];
