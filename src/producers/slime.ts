/** slime: rollouts and optimizer steps are counted apart, and every key says of which it is. */
import { certainty } from "./log_traits.ts";
import { OF_SAMPLES, OF_SEQUENCES, OF_STEP } from "./shapes.ts";
import type { MetricDefinition, Producer } from "./definition.ts";

const ROLLOUT: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: "rollout/raw_reward",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward of the samples, before normalisation (rollout/rewards is after, about 0).",
  },
  {
    metric: "truncated",
    key: /rollout\/truncated(?:_ratio)?/,
    ...OF_SAMPLES,
    quantity: "stopped_by_length",
    unit: "share",
    says: "Share of the responses that the engine stopped at the limit of their length.",
  },
  {
    metric: "length",
    key: /rollout\/(?:response_lengths|response_len\/mean)/,
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Mean length of the responses.",
  },
  {
    metric: "length_max",
    key: "rollout/response_len/max",
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Longest response of the rollout.",
  },
  {
    metric: "eval_score",
    key: /eval\/(?<part>(?!step$)[^/]+?)(?<!-truncated_ratio)/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward on an evaluation data set.",
  },
];

const TRAIN: readonly MetricDefinition[] = [
  {
    metric: "entropy",
    key: "train/entropy_loss",
    ...OF_SEQUENCES,
    quantity: "full",
    unit: "nats",
    says:
      "Mean of the sequences' mean entropy of the next-token distribution; not a loss by itself.",
  },
  {
    metric: "kl_reference",
    key: "train/kl_loss",
    ...OF_SEQUENCES,
    quantity: "chosen_at_runtime",
    unit: "nats",
    says: "KL to the reference by the estimator of --kl-loss-type, without its coefficient.",
    zero: "Exactly 0 at the first step: the policy is still the reference.",
  },
  {
    metric: "kl_old",
    key: "train/ppo_kl",
    ...OF_SEQUENCES,
    quantity: "k1",
    unit: "nats",
    signed: true,
    says: "Mean of old − new log-prob over the sequences.",
    zero: "By construction with one step per rollout, where old is new without its gradient.",
  },
  {
    metric: "clip_fraction",
    key: "train/pg_clipfrac",
    ...OF_SEQUENCES,
    unit: "share",
    says: "Share of tokens whose clipped loss is the larger one, a mean of the sequences.",
    zero: "By construction with one step per rollout.",
  },
  {
    metric: "gap",
    key: "train/train_rollout_logprob_abs_diff",
    ...OF_SEQUENCES,
    quantity: "abs_log_prob",
    unit: "nats",
    says:
      "Mean of the sequences' mean |old − sampler| log-prob; with --use-rollout-logprobs old is the sampler's own and it is 0.",
    zero: "By construction with --use-rollout-logprobs.",
  },
  {
    metric: "importance_weight",
    key: "train/tis",
    ...OF_SEQUENCES,
    unit: "ratio",
    says: "Mean importance weight of trainer against sampler, before it is truncated.",
  },
  {
    metric: "loss",
    key: /train\/(?:pg_)?loss/,
    ...OF_STEP,
    unit: "1",
    signed: true,
    says: "The loss of the optimizer step; not a measure of progress.",
  },
  {
    metric: "grad_norm",
    key: "train/grad_norm",
    ...OF_STEP,
    unit: "norm",
    says: "Norm of the gradient before clipping, of one optimizer step.",
  },
  {
    metric: "learning_rate",
    key: /train\/lr-pg_\d+/,
    ...OF_STEP,
    unit: "1",
    says: "Learning rate of a group of parameters.",
  },
  {
    metric: "value_explained",
    key: "train/critic-explained_variance",
    ...OF_STEP,
    unit: "1",
    signed: true,
    says: "Explained variance of the value function; only with a critic.",
  },
  {
    metric: "step_time",
    key: "perf/step_time",
    ...OF_STEP,
    unit: "s",
    says: "Wall time of a rollout and its training.",
  },
];

/** slime. */
export const SLIME: Producer = {
  id: "slime",
  title: "slime",
  kind: "rl",
  recognise: (traits) =>
    certainty(traits, {
      sure: [
        "rollout/raw_reward",
        "rollout/truncated_ratio",
        "rollout/response_lengths",
        "rollout/log_probs",
        "train/train_rollout_logprob_abs_diff",
        "train/pg_clipfrac",
        /^train\/lr-pg_\d+$/,
        /^rollout\/zero_std\/.+$/,
      ],
      likely: [
        "train/loss",
        "train/pg_loss",
        "train/entropy_loss",
        "train/ppo_kl",
        "rollout/rewards",
      ],
    }),
  stepUnit: "rollout",
  eras: [],
  definitions: [...ROLLOUT, ...TRAIN],
  alsoLogs: [/(?:rollout|train|perf|eval|passrate|multi_turn_metric)\/.+/],
  switchOn: {
    kl_reference: "--use-kl-loss --ref-load PATH",
    kl_old: "more than one optimizer step per rollout: --num-steps-per-rollout above 1",
    clip_fraction: "more than one optimizer step per rollout: --num-steps-per-rollout above 1",
    eval_score: "--eval-interval with --eval-prompt-data",
    tokens: "--save-debug-rollout-data and --save-debug-train-data",
  },
  knobs: {
    maxLength: "--rollout-max-response-len",
    groupSize: "--n-samples-per-prompt",
    learningRate: "--lr",
    gradientClip: "--clip-grad",
    klCoef: "--kl-loss-coef",
    entropyCoef: "--entropy-coef",
    temperature: "--rollout-temperature",
    updatesPerBatch: "--num-steps-per-rollout",
    clipRange: "--eps-clip and --eps-clip-high",
    lossAggregation: "--calculate-per-token-loss",
    dynamicSampling: "--dynamic-sampling-filter-path",
    samplerCorrection: "--use-tis",
    plannedSteps: "--num-rollout",
    checkpoint: "--save-interval",
  },
};
