/** The algorithms, each a record that composes an advantage, a surrogate and an aggregation; a new objective is one more record. */
import {
  groupCenteredAdvantage,
  groupStandardizedAdvantage,
  leaveOneOutAdvantage,
  movingBaselineAdvantage,
} from "../equations/advantage.ts";
import { type Algorithm, grouped } from "./algorithm.ts";

const MOVING_BASELINE = {
  advantage: ({ rewards_B, baseline, baselineDecay: decay }) =>
    movingBaselineAdvantage(rewards_B, baseline, { decay }),
  advantageRule: "moving_baseline",
  advantageSettings: ["baselineDecay"],
} as const satisfies Partial<Algorithm>;

/** REINFORCE with a moving baseline (Williams 1992). */
export const REINFORCE: Algorithm = {
  title: "REINFORCE",
  grouped: false,
  ...MOVING_BASELINE,
  surrogate: "reinforce",
  aggregation: "token_mean",
};

/** PPO's clipped surrogate (Schulman et al. 2017, arXiv:1707.06347) with the moving baseline in the critic's place. */
export const PPO: Algorithm = {
  title: "PPO-clip (no critic)",
  grouped: false,
  ...MOVING_BASELINE,
  surrogate: "clipped",
  aggregation: "token_mean",
};

/**
 * GRPO (Shao et al. 2024, arXiv:2402.03300). The paper averages within each episode first (`seq_mean_token_mean`); the
 * default here is the token mean, which does not reward long failures.
 */
export const GRPO: Algorithm = {
  title: "GRPO",
  grouped: true,
  advantage: grouped(({ rewards_B, groupId_B, advantageEps: eps }) =>
    groupStandardizedAdvantage(rewards_B, groupId_B, { eps })
  ),
  advantageRule: "group_standardized",
  advantageSettings: ["advantageEps"],
  surrogate: "clipped",
  aggregation: "token_mean",
};

/** Dr. GRPO (Liu et al. 2025, arXiv:2503.20783): neither the standard deviation nor the length divides. */
export const DR_GRPO: Algorithm = {
  title: "Dr. GRPO",
  grouped: true,
  advantage: grouped(({ rewards_B, groupId_B }) => groupCenteredAdvantage(rewards_B, groupId_B)),
  advantageRule: "group_centred",
  surrogate: "clipped",
  aggregation: "constant",
};

/** RLOO (Ahmadian et al. 2024, arXiv:2402.14740): REINFORCE with the leave-one-out baseline, a sum over each episode. */
export const RLOO: Algorithm = {
  title: "RLOO",
  grouped: true,
  advantage: grouped(({ rewards_B, groupId_B }) => leaveOneOutAdvantage(rewards_B, groupId_B)),
  advantageRule: "leave_one_out",
  surrogate: "reinforce",
  aggregation: "seq_mean_token_sum",
};

/** Every algorithm under the name that the command line and configurations use. */
export const ALGORITHMS = {
  reinforce: REINFORCE,
  ppo: PPO,
  grpo: GRPO,
  drgrpo: DR_GRPO,
  rloo: RLOO,
} as const satisfies Readonly<Record<string, Algorithm>>;

/** Name of an algorithm. */
export type AlgorithmName = keyof typeof ALGORITHMS;
