/** An objective: leave-one-out advantages under PPO's clip, each episode a mean of its own tokens. */
import { leaveOneOutAdvantage } from "../../../src/equations/advantage.ts";
import { type Algorithm, grouped } from "../../../src/rl/algorithm.ts";

/** RLOO's baseline (arXiv:2402.14740) in a clipped surrogate, for several optimizer steps on one batch. */
export const RLOO_CLIP: Algorithm = {
  title: "RLOO with a clip",
  grouped: true,
  advantage: grouped(({ rewards_B, groupId_B }) => leaveOneOutAdvantage(rewards_B, groupId_B)),
  surrogate: "clipped",
  aggregation: "seq_mean_token_mean",
};
