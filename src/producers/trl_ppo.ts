/** What TRL's PPO logs, and its RLOO before 2025: values of a whole answer where others average over tokens. */
import type { MetricDefinition } from "./definition.ts";

const OF_SAMPLES = { quantity: "plain", over: "samples", window: "mean" } as const;

/** Its definitions. */
export const TRL_PPO_DEFINITIONS: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: "objective/scores",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "PPO and old RLOO: mean score of the reward model, before the KL penalty.",
  },
  {
    metric: "kl_reference",
    key: "objective/kl",
    quantity: "k1_sum",
    over: "samples",
    window: "mean",
    unit: "nats",
    signed: true,
    says:
      "PPO and old RLOO: log-ratio to the reference summed over the answer, mean over samples; 6.8 is ordinary, it is not per token.",
    zero: "0 in the first row: the policy is still the reference.",
  },
  {
    metric: "entropy",
    key: "policy/entropy_avg",
    quantity: "full",
    over: "tokens",
    window: "mean",
    unit: "nats",
    says: "PPO: mean entropy of the next-token distribution over all positions, padding included.",
  },
  {
    metric: "entropy",
    key: "objective/entropy",
    quantity: "sampled_sum",
    over: "samples",
    window: "mean",
    unit: "nats",
    says:
      "PPO and old RLOO: minus the log-prob of the answer, summed over its tokens; it grows with the length.",
  },
  {
    metric: "kl_old",
    key: "policy/approxkl_avg",
    quantity: "half_square",
    over: "minibatches",
    window: "mean",
    unit: "nats",
    says: "PPO: half the mean squared log-ratio to the policy that scored the batch.",
    zero: "With one update per batch nothing has moved yet.",
  },
  {
    metric: "ratio",
    key: "val/ratio",
    quantity: "plain",
    over: "minibatches",
    window: "mean",
    unit: "ratio",
    says: "PPO: mean ratio to the policy that scored the batch.",
  },
  {
    metric: "clip_fraction",
    key: "policy/clipfrac_avg",
    quantity: "plain",
    over: "minibatches",
    window: "mean",
    unit: "share",
    says: "PPO: share of tokens whose clipped loss is the larger one.",
    zero: "With one update per batch nothing has moved yet.",
  },
  {
    metric: "loss",
    key: "loss/policy_avg",
    quantity: "plain",
    over: "minibatches",
    window: "mean",
    unit: "1",
    signed: true,
    says: "PPO: mean policy loss over the mini-batches, without the value loss.",
  },
  {
    metric: "value_loss",
    key: "loss/value_avg",
    quantity: "plain",
    over: "minibatches",
    window: "mean",
    unit: "1",
    says: "PPO: mean loss of the value head over the mini-batches.",
  },
  {
    metric: "learning_rate",
    key: "lr",
    quantity: "plain",
    over: "step",
    window: "last",
    unit: "1",
    says: "PPO: learning rate of the scheduler.",
  },
];
