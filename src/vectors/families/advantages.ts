/** The family `advantages`: from rewards of a batch to the advantage of each episode. */
import { groupCenteredAdvantage, leaveOneOutAdvantage } from "../../equations/advantage.ts";
import {
  greedyBaselineAdvantage,
  groupMembers,
  normalizedAdvantage,
  standardDeviation,
  whitened,
} from "../../reference/baselines.ts";
import { type Compute, type Dialect, type Family, input, type VectorCase } from "../family.ts";
import { row } from "../values.ts";
import { ADVANTAGE_CASES } from "./advantage_cases.ts";
import { ADVANTAGE_MISTAKES } from "./advantage_mistakes.ts";

interface Batch {
  readonly rewards: readonly number[];
  readonly groups: readonly number[];
  readonly greedy: readonly number[];
  readonly lengths: readonly number[];
}

function batchOf(vectorCase: VectorCase): Batch {
  const of = (name: string) => input(vectorCase, name).values;
  return {
    rewards: of("reward"),
    groups: of("group"),
    greedy: of("greedyReward"),
    lengths: of("length"),
  };
}

const advantages = (compute: (batch: Batch) => ArrayLike<number>): Compute => (vectorCase) => ({
  advantage: row(Array.from(compute(batchOf(vectorCase)))),
});

/** Episodes alone in their group get `of` their reward, the others what the equation gives. */
function withSingles(
  { rewards, groups }: Batch,
  equation: (rewards: readonly number[], groups: readonly number[]) => ArrayLike<number>,
  of: (reward: number) => number,
): number[] {
  const members = groupMembers(groups);
  const isAlone = groups.map((id) => members.get(id)?.length === 1);
  const rest = rewards.flatMap((_, b) => isAlone[b] ? [] : [b]);
  const found = equation(rest.map((b) => rewards[b] ?? NaN), rest.map((b) => groups[b] ?? NaN));
  const places = new Map(rest.map((b, i) => [b, i]));
  return rewards.map((reward, b) => {
    const place = places.get(b);
    return place === undefined ? of(reward) : found[place] ?? NaN;
  });
}

const zero = () => 0;
const raw = (reward: number) => reward;

const USERS: Readonly<Record<string, readonly string[]>> = {
  "grpo_n-1_eps1e-4_single-0": ["TRL scale_rewards=group (std + 1e-4)"],
  "grpo_n-1_eps1e-6_single-raw": ["verl grpo (epsilon 1e-6)"],
  "grpo_n-1_eps1e-6_single-0": ["agentrl grpo, for groups of two or more"],
  "grpo_n-1_eps1e-9_single-0": ["OpenRLHF group_norm (std + 1e-9)"],
  "grpo_n-1_eps1e-8_single-0": ["Oat, and many of one file"],
};

const EPS = ["1e-4", "1e-6", "1e-8", "1e-9"] as const;

const GRPO: readonly Dialect[] = ([1, 0] as const).flatMap((ddof) =>
  EPS.flatMap((eps) =>
    (["zero", "raw"] as const).map((single) => {
      const name = `grpo_${ddof === 1 ? "n-1" : "n"}_eps${eps}_single-${
        single === "zero" ? "0" : "raw"
      }`;
      return {
        name,
        sentence: `(r − mean) / (std + ${eps}) of the group, ${
          ddof === 1 ? "n − 1" : "n"
        } in the denominator of the variance; an episode alone in its group gets ${
          single === "zero" ? "0" : `its reward over 1 + ${eps}`
        }`,
        usedBy: USERS[name] ?? [],
        compute: advantages(({ rewards, groups }) =>
          normalizedAdvantage(rewards, groups, { ddof, eps: Number(eps), single })
        ),
      };
    })
  )
);

const OTHERS: readonly Dialect[] = [
  {
    name: "centered_single-0",
    sentence: "r − mean of the group",
    usedBy: ["Dr. GRPO's paper", "TRL scale_rewards=none", "agentrl drgrpo"],
    compute: advantages(({ rewards, groups }) => groupCenteredAdvantage(rewards, groups)),
  },
  {
    name: "centered_single-raw",
    sentence: "r − mean of the group; an episode alone in its group gets its reward",
    usedBy: ["verl grpo with norm_adv_by_std_in_grpo=False"],
    compute: advantages((batch) => withSingles(batch, groupCenteredAdvantage, raw)),
  },
  {
    name: "rloo_single-raw",
    sentence: "r − mean of the others of the group; an episode alone gets its reward",
    usedBy: ["verl rloo"],
    compute: advantages((batch) => withSingles(batch, leaveOneOutAdvantage, raw)),
  },
  {
    name: "rloo_single-0",
    sentence: "r − mean of the others of the group; an episode alone gets 0",
    usedBy: ["agentrl rloo, for groups of two or more", "OpenRLHF rloo", "TRL RLOOTrainer"],
    compute: advantages((batch) => withSingles(batch, leaveOneOutAdvantage, zero)),
  },
  {
    name: "grpo_batch-std_eps1e-4",
    sentence: "(r − mean of the group) / (std of the whole batch + 1e-4), n − 1",
    usedBy: ["TRL scale_rewards=batch"],
    compute: advantages(({ rewards, groups }) => {
      const std = standardDeviation(rewards, 1);
      return groupCenteredAdvantage(rewards, groups).map((value) => value / (std + 1e-4));
    }),
  },
  {
    name: "whitened_tokens",
    sentence: "(r − mean) / √(var + 1e-8) over all trained tokens of the batch, n − 1, so that " +
      "long answers count more",
    usedBy: ["verl reinforce_plus_plus, for one reward at the end and γ = 1"],
    compute: advantages(({ rewards, lengths }) => whitened(rewards, lengths)),
  },
  {
    name: "whitened_sequences",
    sentence: "(r − mean) / √(var + 1e-8) over the episodes of the batch, n − 1",
    usedBy: ["batch-normalised REINFORCE"],
    compute: advantages(({ rewards }) => whitened(rewards, rewards.map(() => 1))),
  },
  {
    name: "baseline_whitened_tokens",
    sentence: "r − mean of the group (raw where alone), then whitened over all trained tokens",
    usedBy: ["verl reinforce_plus_plus_baseline"],
    compute: advantages((batch) =>
      whitened(withSingles(batch, groupCenteredAdvantage, raw), batch.lengths)
    ),
  },
  {
    name: "remax",
    sentence: "r − reward of the greedy answer to the same prompt",
    usedBy: ["verl remax", "ReMax's paper"],
    compute: advantages(({ rewards, greedy }) => greedyBaselineAdvantage(rewards, greedy)),
  },
];

/** The family. */
export const ADVANTAGES: Family = {
  name: "advantages",
  sentence: "from the rewards of a batch to the advantage of each episode",
  inputs: {
    reward: "reward of every episode [B]",
    group: "group of every episode: those that share a number share a prompt, wherever they " +
      "stand [B]",
    greedyReward: "reward of the greedy answer to the episode's prompt; ReMax only [B]",
    length: "trained tokens of every episode; whitening only [B]",
  },
  config: {},
  outputs: { advantage: "advantage of every episode, the same for all of its tokens [B]" },
  tolerance: {
    relative: 2e-5,
    absolute: 1e-9,
    reason: "sums of at most 36 float32 terms and a square root; rewards differ from their mean " +
      "by no less than a tenth of their size",
  },
  cases: ADVANTAGE_CASES,
  dialects: [...GRPO, ...OTHERS],
  mistakes: ADVANTAGE_MISTAKES,
};
