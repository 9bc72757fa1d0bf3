/** TRL's first PPOTrainer, up to 0.11: every key begins with `ppo/`, `objective/`, `tokens/` or `env/`. */
import { certainty } from "./log_traits.ts";
import { OF_MINIBATCHES, OF_SAMPLES, OF_STEP } from "./shapes.ts";
import type { MetricDefinition, Producer } from "./definition.ts";

const DEFINITIONS: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: /env\/reward_mean|ppo\/mean_scores/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean score of the responses, before the KL penalty.",
  },
  {
    metric: "reward_std",
    key: /env\/reward_std|ppo\/std_scores/,
    ...OF_SAMPLES,
    quantity: "batch_std",
    unit: "reward",
    says: "Spread of the scores over the batch.",
  },
  {
    metric: "length",
    key: "tokens/responses_len_mean",
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Mean length of the responses.",
  },
  {
    metric: "kl_reference",
    key: "objective/kl",
    ...OF_SAMPLES,
    quantity: "k1_sum",
    unit: "nats",
    signed: true,
    says: "Log-ratio to the reference summed over the response, mean over samples; not per token.",
    zero: "0 in the first row: the policy is still the reference.",
  },
  {
    metric: "entropy",
    key: "ppo/policy/entropy",
    ...OF_MINIBATCHES,
    quantity: "full",
    unit: "nats",
    says: "Mean entropy of the next-token distribution over the responses' tokens.",
  },
  {
    metric: "kl_old",
    key: "ppo/policy/approxkl",
    ...OF_MINIBATCHES,
    quantity: "half_square",
    unit: "nats",
    says: "Half the mean squared log-ratio to the policy that scored the batch.",
    zero: "With one update per batch it is 0 by construction.",
  },
  {
    metric: "clip_fraction",
    key: "ppo/policy/clipfrac",
    ...OF_MINIBATCHES,
    unit: "share",
    says: "Share of tokens whose clipped loss is the larger one.",
    zero: "With one update per batch it is 0 by construction.",
  },
  {
    metric: "loss",
    key: /ppo\/loss\/(?:total|policy)/,
    ...OF_MINIBATCHES,
    unit: "1",
    signed: true,
    says: "The loss of the update; not a measure of progress.",
  },
  {
    metric: "learning_rate",
    key: "ppo/learning_rate",
    ...OF_STEP,
    unit: "1",
    says: "Learning rate of the step.",
  },
  {
    metric: "value_loss",
    key: "ppo/loss/value",
    ...OF_MINIBATCHES,
    unit: "1",
    says: "Loss of the value head.",
  },
  {
    metric: "value_explained",
    key: "ppo/val/var_explained",
    ...OF_STEP,
    unit: "1",
    signed: true,
    says: "Explained variance of the value head.",
  },
];

/** TRL's PPOTrainer of 2022 to 2024. */
export const TRL_PPO_2024: Producer = {
  id: "trl_ppo_2024",
  title: "TRL up to 0.11 (PPOTrainer)",
  kind: "rl",
  recognise: (traits) =>
    certainty(traits, {
      sure: [
        "ppo/mean_scores",
        "ppo/mean_non_score_reward",
        "ppo/policy/approxkl",
        "ppo/policy/clipfrac",
        "ppo/policy/entropy",
        "ppo/loss/policy",
        "tokens/responses_len_mean",
      ],
      likely: ["env/reward_mean", "objective/kl", "objective/kl_coef", "objective/entropy"],
    }),
  stepUnit: "rollout",
  eras: [],
  definitions: DEFINITIONS,
  alsoLogs: [/(?:ppo|objective|tokens|env|time)\/.+/],
  implied: (traits) => {
    const coefficient = traits.values("objective/kl_coef").at(-1);
    return coefficient === undefined ? {} : { klCoef: coefficient };
  },
  switchOn: {},
  knobs: {
    learningRate: "learning_rate",
    gradientClip: "max_grad_norm",
    klCoef: "init_kl_coef",
    updatesPerBatch: "ppo_epochs and mini_batch_size",
    clipRange: "cliprange",
  },
};
