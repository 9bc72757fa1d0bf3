/** Common mistakes with advantages. */
import { groupMembers, standardDeviation } from "../../reference/baselines.ts";
import {
  input,
  inputMistake,
  mapOutputs,
  type Mistake,
  outputMistake,
  type VectorCase,
  withInput,
} from "../family.ts";
import { mapValues, row } from "../values.ts";

interface Member {
  readonly reward: number;
  /** Rewards of its group, in the batch's order. */
  readonly rewards: readonly number[];
  /** Rewards of the whole batch. */
  readonly all: readonly number[];
  /** Added to the standard deviation. */
  readonly eps: number;
  readonly ddof: 0 | 1;
}

const meanOf = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The median, the mean of both middle ones where there are two. */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return meanOf(sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1));
}

const membersOf = (vectorCase: VectorCase) => {
  const all = input(vectorCase, "reward").values;
  const groups = input(vectorCase, "group").values;
  const members = groupMembers(groups);
  return all.map((reward, b) => ({
    reward,
    rewards: (members.get(groups[b] ?? NaN) ?? []).map((i) => all[i] ?? NaN),
    all,
  }));
};

/** A mistake in GRPO's own normalisation: another formula for groups of two or more, by the dialect's ε and denominator. */
function normalizing(
  name: string,
  sentence: string,
  formula: (member: Member) => number,
): Mistake {
  return {
    name,
    sentence,
    compute: (vectorCase, right, dialect) => {
      const [, n, eps] = /^grpo_(n(?:-1)?)_eps(1e-\d)/.exec(dialect) ?? [];
      if (eps === undefined) return undefined;
      const values = right(vectorCase).advantage?.values ?? [];
      const ddof = n === "n" ? 0 : 1;
      return {
        advantage: row(
          membersOf(vectorCase).map((member, b) =>
            member.rewards.length < 2
              ? values[b] ?? NaN
              : formula({ ...member, eps: Number(eps), ddof })
          ),
        ),
      };
    },
  };
}

/** A mistake in the groups, for dialects that have any. */
function grouping(
  name: string,
  sentence: string,
  regroup: (groups: readonly number[]) => number[],
): Mistake {
  return inputMistake(
    name,
    sentence,
    (vectorCase) => withInput(vectorCase, "group", ({ values }) => row(regroup(values))),
  );
}

const std = ({ rewards, ddof }: Member) => standardDeviation(rewards, ddof);

/** The mistakes. */
export const ADVANTAGE_MISTAKES: readonly Mistake[] = [
  outputMistake(
    "negated",
    "has the wrong sign: baseline − reward",
    (outputs) => mapOutputs(outputs, (value) => -value),
  ),
  grouping("one_group", "takes the whole batch as one group", (groups) => groups.map(() => 0)),
  grouping(
    "groups_by_position",
    "takes every stretch of equal length as a group, whatever the group ids say",
    (groups) => {
      const size = Math.max(1, Math.floor(groups.length / new Set(groups).size));
      return groups.map((_, b) => Math.floor(b / size));
    },
  ),
  grouping(
    "groups_by_run",
    "begins a new group where the id changes, so that interleaved groups fall apart",
    (groups) => {
      let run = 0;
      return groups.map((id, b) => b > 0 && id !== groups[b - 1] ? ++run : run);
    },
  ),
  grouping(
    "groups_strided",
    "lays the batch out as [answers, prompts] where [prompts, answers] was meant",
    (groups) => groups.map((_, b) => b % new Set(groups).size),
  ),
  normalizing(
    "not_centered",
    "divides by the std without subtracting the mean",
    (member) => member.reward / (std(member) + member.eps),
  ),
  normalizing(
    "variance",
    "divides by the variance instead of its root",
    (member) => (member.reward - meanOf(member.rewards)) / (std(member) ** 2 + member.eps),
  ),
  normalizing(
    "times_std",
    "multiplies by the std instead of dividing",
    (member) => (member.reward - meanOf(member.rewards)) * (std(member) + member.eps),
  ),
  normalizing(
    "eps_missing",
    "divides by the std alone: 0/0 in a flat group",
    (member) => (member.reward - meanOf(member.rewards)) / std(member),
  ),
  normalizing(
    "eps_in_root",
    "adds ε to the variance, under the root",
    (member) => (member.reward - meanOf(member.rewards)) / Math.sqrt(std(member) ** 2 + member.eps),
  ),
  normalizing("eps_outside", "adds ε to the quotient instead of the std", (member) => {
    const deviation = std(member);
    return (deviation === 0 ? 0 : (member.reward - meanOf(member.rewards)) / deviation) +
      member.eps;
  }),
  normalizing(
    "std_floor_1",
    "divides by max(std, 1)",
    (member) => (member.reward - meanOf(member.rewards)) / Math.max(std(member), 1),
  ),
  normalizing(
    "batch_std",
    "takes the mean of the group and the std of the batch",
    (member) =>
      (member.reward - meanOf(member.rewards)) /
      (standardDeviation(member.all, member.ddof) + member.eps),
  ),
  normalizing(
    "batch_mean",
    "takes the mean of the batch and the std of the group",
    (member) => (member.reward - meanOf(member.all)) / (std(member) + member.eps),
  ),
  normalizing(
    "median",
    "takes the median of the group as its baseline",
    (member) => (member.reward - medianOf(member.rewards)) / (std(member) + member.eps),
  ),
  normalizing(
    "range",
    "divides by the range (largest − smallest) instead of the std",
    (member) =>
      (member.reward - meanOf(member.rewards)) /
      (Math.max(...member.rewards) - Math.min(...member.rewards) + member.eps),
  ),
  normalizing(
    "standard_error",
    "divides by std/√n, the error of the mean",
    (member) =>
      (member.reward - meanOf(member.rewards)) /
      (std(member) / Math.sqrt(member.rewards.length) + member.eps),
  ),
  normalizing(
    "others_mean",
    "subtracts the mean of the others where that of the group was meant",
    (member) => {
      const { reward, rewards } = member;
      const n = rewards.length;
      return (reward - meanOf(rewards)) * n / (n - 1) / (std(member) + member.eps);
    },
  ),
  {
    name: "single_nan",
    sentence: "has NaN for an episode alone in its group: n − 1 is 0",
    compute: (vectorCase, right) => {
      const members = membersOf(vectorCase);
      const { values = [] } = right(vectorCase).advantage ?? {};
      return {
        advantage: row(values.map((value, b) => members[b]?.rewards.length === 1 ? NaN : value)),
      };
    },
  },
  {
    name: "others_over_n",
    sentence: "sums the others' rewards and divides by n where n − 1 was meant",
    compute: (vectorCase, right, dialect) => {
      if (!dialect.startsWith("rloo")) return undefined;
      const { values = [] } = right(vectorCase).advantage ?? {};
      return {
        advantage: row(
          membersOf(vectorCase).map(({ reward, rewards }, b) =>
            rewards.length === 1
              ? values[b] ?? NaN
              : reward - (meanOf(rewards) * rewards.length - reward) / rewards.length
          ),
        ),
      };
    },
  },
  inputMistake(
    "integer_rewards",
    "holds rewards as integers, so that fractions are cut off",
    (vectorCase) => withInput(vectorCase, "reward", (reward) => mapValues(reward, Math.trunc)),
  ),
  inputMistake(
    "rewards_clipped",
    "clips rewards to ±1 before anything else",
    (vectorCase) =>
      withInput(
        vectorCase,
        "reward",
        (reward) => mapValues(reward, (value) => Math.min(Math.max(value, -1), 1)),
      ),
  ),
  inputMistake(
    "rewards_one_late",
    "gives each episode the reward of the one before it",
    (vectorCase) =>
      withInput(
        vectorCase,
        "reward",
        ({ values }) => row(values.map((_, b) => values.at(b - 1) ?? NaN)),
      ),
  ),
  outputMistake(
    "clipped",
    "clips advantages to ±1",
    (outputs) => mapOutputs(outputs, (value) => Math.min(Math.max(value, -1), 1)),
  ),
  outputMistake(
    "positive_only",
    "keeps positive advantages and sets the others to 0",
    (outputs) => mapOutputs(outputs, (value) => Math.max(value, 0)),
  ),
  outputMistake(
    "absolute",
    "loses the sign",
    (outputs) => mapOutputs(outputs, Math.abs),
  ),
];
