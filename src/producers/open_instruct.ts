/** open-instruct of Ai2: GRPO under names that TRL's PPO began. */
import { certainty, hasKey } from "./log_traits.ts";
import { OF_SAMPLES, OF_STEP, OF_TOKENS } from "./shapes.ts";
import type { LogTraits, MetricDefinition, Producer } from "./definition.ts";

/** The estimators were numbered from 1 (the first without its number), and are from 0. */
const countsFromOne = (traits: LogTraits) => !hasKey(traits, "objective/kl0_avg");
const countsFromZero = (traits: LogTraits) =>
  !hasKey(traits, "objective/kl_avg") && !hasKey(traits, "objective/kl4_avg");

const K3 = {
  metric: "kl_reference",
  ...OF_TOKENS,
  quantity: "k3",
  unit: "nats",
  says: "Mean k3 estimate against the reference over tokens.",
} as const;
const HALF_SQUARE = {
  metric: "kl_reference",
  ...OF_TOKENS,
  quantity: "half_square",
  unit: "nats",
  says: "Half the mean squared log-ratio to the reference over tokens.",
} as const;
const SIGNED = {
  metric: "kl_reference",
  ...OF_TOKENS,
  quantity: "k1",
  unit: "nats",
  signed: true,
  says: "Mean log-ratio to the reference over tokens; it can be negative.",
} as const;

const DEFINITIONS: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: "scores",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean score of the responses, all rewards together.",
  },
  {
    metric: "reward_component",
    key: /objective\/(?<part>verifiable_(?:reward|correct_rate))/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward of the verifiers, or the share of responses that they accept.",
  },
  {
    metric: "eval_score",
    key: /eval\/(?<part>scores|objective\/verifiable_(?:reward|correct_rate))/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean score over the evaluation prompts.",
  },
  {
    metric: "length",
    key: "val/sequence_lengths",
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Mean length of the responses.",
  },
  {
    metric: "entropy",
    key: "policy/entropy_avg",
    ...OF_TOKENS,
    quantity: "full",
    unit: "nats",
    says: "Mean entropy of the next-token distribution over tokens; only with record_entropy.",
  },
  { ...K3, key: "objective/kl2_avg", eras: ["from-zero"] },
  { ...K3, key: "objective/kl3_avg", eras: ["from-one"] },
  { ...HALF_SQUARE, key: "objective/kl1_avg", eras: ["from-zero"] },
  { ...HALF_SQUARE, key: "objective/kl2_avg", eras: ["from-one"] },
  { ...SIGNED, key: "objective/kl0_avg", eras: ["from-zero"] },
  { ...SIGNED, key: "objective/kl_avg", eras: ["from-one"] },
  {
    metric: "ratio",
    key: "val/ratio",
    ...OF_TOKENS,
    unit: "ratio",
    says: "Mean ratio to the policy that scored the batch, weighted by tokens.",
  },
  {
    metric: "clip_fraction",
    key: "policy/clipfrac_avg",
    ...OF_TOKENS,
    unit: "share",
    says: "Share of tokens whose clipped loss is the larger one.",
    zero: "With one update per batch it is 0 by construction.",
  },
  {
    metric: "gap",
    key: "debug/vllm_vs_local_logprob_diff_mean",
    ...OF_TOKENS,
    quantity: "abs_log_prob",
    unit: "nats",
    says: "Mean |vLLM − trainer| log-prob over tokens; asynchronous rollouts are stale by design.",
  },
  {
    metric: "gap_max",
    key: "debug/vllm_vs_local_logprob_diff_max",
    ...OF_TOKENS,
    quantity: "abs_log_prob",
    unit: "nats",
    says: "Largest |vLLM − trainer| log-prob of a token.",
  },
  {
    metric: "importance_weight",
    key: "val/tis_ratio",
    ...OF_TOKENS,
    unit: "ratio",
    says: "Mean importance weight of trainer against sampler.",
  },
  {
    metric: "loss",
    key: /loss\/(?:total|policy)_avg/,
    ...OF_TOKENS,
    unit: "1",
    signed: true,
    says: "The loss of the step; not a measure of progress.",
  },
  {
    metric: "grad_norm",
    key: "optim/grad_norm",
    ...OF_STEP,
    unit: "norm",
    says: "Norm of the gradient before clipping.",
  },
  {
    metric: "learning_rate",
    key: "lr",
    ...OF_STEP,
    unit: "1",
    says: "Learning rate of the step.",
  },
];

/** open-instruct. */
export const OPEN_INSTRUCT: Producer = {
  id: "open_instruct",
  title: "open-instruct",
  kind: "rl",
  recognise: (traits) =>
    certainty(traits, {
      sure: [
        "debug/vllm_vs_local_logprob_diff_mean",
        /^objective\/kl\d?_avg$/,
        /^objective\/verifiable_(?:reward|correct_rate)$/,
        "val/sequence_lengths",
        "val/tis_ratio",
      ],
      likely: ["scores", "lr", "loss/policy_avg", "policy/clipfrac_avg", "val/ratio"],
    }),
  stepUnit: "rollout",
  eras: [
    { id: "from-one", title: "with estimators kl to kl4", fits: countsFromOne },
    { id: "from-zero", title: "with estimators kl0 to kl3", fits: countsFromZero },
  ],
  definitions: DEFINITIONS,
  alsoLogs: [
    /(?:objective|policy|loss|val|debug|time|batch|optim|tools|env|eval|format|perf)\/.+/,
    /(?:un)?\w+_batch_size_ratio|packed_ratio|training_step|episode|epoch|num_\w+|learner_\w+/,
  ],
  switchOn: {
    entropy: "--record_entropy",
    kl_reference: "--beta above 0 (it loads the reference)",
  },
  knobs: {
    maxLength: "--response_length",
    groupSize: "--num_samples_per_prompt_rollout",
    learningRate: "--learning_rate",
    gradientClip: "--max_grad_norm",
    klCoef: "--beta",
    temperature: "--temperature",
    updatesPerBatch: "--num_mini_batches and --num_epochs",
    clipRange: "--clip_lower and --clip_higher",
    checkpoint: "--save_freq",
  },
};
