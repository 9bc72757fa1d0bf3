/** What verl logs, and those that grew out of it: TinyZero, Agent-R1, siiRL, verl-tool. */
import type { MetricDefinition } from "./definition.ts";
import { OF_MINIBATCHES, OF_SAMPLES, OF_SEQUENCES, OF_STEP, OF_TOKENS } from "./shapes.ts";

const REWARDS: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: "critic/score/mean",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean score of the sequences, before a KL penalty; aborted ones are left out.",
    nan: "All samples of the step were aborted.",
  },
  {
    metric: "reward",
    key: "critic/rewards/mean",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward of the sequences, after the KL penalty where use_kl_in_reward is on.",
    nan: "All samples of the step were aborted.",
  },
  {
    metric: "reward_max",
    key: "critic/score/max",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says:
      "The best score of the step's sequences: where it is the worst as well, no group can teach anything.",
  },
  {
    metric: "reward_min",
    key: "critic/score/min",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "The worst score of the step's sequences.",
  },
  {
    metric: "advantage_mean",
    key: "critic/advantages/mean",
    ...OF_TOKENS,
    unit: "1",
    signed: true,
    says:
      "Mean advantage over the trained tokens; not 0 under GRPO, because long answers count with all their tokens.",
    zero: "The advantages are whitened over the tokens.",
  },
  {
    metric: "eval_score",
    key: /val-core\/(?<part>.+)\/mean@\d+/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean of a data set's main score over N answers per prompt, sampled with val_kwargs.",
  },
  {
    metric: "eval_score",
    key: /val-aux\/(?<part>.+\/(?:reward|score|acc))\/mean@\d+/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean of a data set's other score over N answers per prompt.",
  },
  {
    metric: "eval_score",
    key: /val\/test_score\/(?<part>.+)/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean score on a data set, in logs of 2024 and early 2025.",
  },
];

const LENGTHS: readonly MetricDefinition[] = [
  {
    metric: "truncated",
    key: "response_length_non_aborted/clip_ratio",
    ...OF_SAMPLES,
    quantity: "at_cap",
    unit: "share",
    says: "Share of the responses that are as long as the padded maximum, without aborted ones.",
  },
  {
    metric: "truncated",
    key: "response_length/clip_ratio",
    ...OF_SAMPLES,
    quantity: "at_cap",
    unit: "share",
    says: "Share of the responses that are as long as the padded maximum; results of tools count.",
  },
  {
    metric: "length",
    key: "response_length_non_aborted/mean",
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Mean length of the responses without aborted ones; results of tools count.",
  },
  {
    metric: "length",
    key: "response_length/mean",
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Mean length of the responses by the attention mask; results of tools count.",
  },
  {
    metric: "length_max",
    key: "response_length/max",
    ...OF_SAMPLES,
    unit: "tokens",
    says: "The longest response of the step.",
  },
  {
    metric: "turns",
    key: /(?:training\/)?num_turns\/mean/,
    ...OF_SAMPLES,
    unit: "turns",
    says: "Mean number of messages of a multi-turn rollout.",
  },
  {
    metric: "errors",
    key: "response/aborted_ratio",
    ...OF_SAMPLES,
    unit: "share",
    says: "Share of samples whose response is empty because it was aborted.",
  },
];

const KL_NAN = "A mini-batch was not finite.";

const POLICY: readonly MetricDefinition[] = [
  {
    metric: "entropy",
    key: "actor/entropy",
    ...OF_TOKENS,
    quantity: "full",
    unit: "nats",
    says:
      "Mean entropy of the next-token distribution before the update, aggregated as the loss (over tokens by default).",
  },
  {
    metric: "entropy",
    key: "actor/entropy_loss",
    ...OF_TOKENS,
    quantity: "full",
    unit: "nats",
    says:
      "Mean entropy during the update (not a loss, whatever its name); in logs before April 2025 the only entropy.",
  },
  {
    metric: "kl_reference",
    key: "actor/kl_loss",
    ...OF_TOKENS,
    quantity: "chosen_at_runtime",
    unit: "nats",
    says:
      "KL to the reference by the estimator of kl_loss_type (low_var_kl is k3), aggregated as the loss, without its coefficient.",
    onlyWith: "klCoef",
    zero:
      "About 0 in the first step; exactly 0 later means that policy and reference are one model.",
    nan: KL_NAN,
  },
  {
    metric: "kl_reference",
    key: /actor\/reward_kl_penalty|critic\/kl/,
    ...OF_SEQUENCES,
    quantity: "chosen_at_runtime",
    unit: "nats",
    signed: true,
    says:
      "KL penalty in the reward by the estimator of kl_penalty (kl is k1, which can be negative), a mean of the sequences' means, without its coefficient.",
    zero:
      "About 0 in the first step; exactly 0 later means that policy and reference are one model.",
    nan: KL_NAN,
  },
  {
    metric: "kl_old",
    key: "actor/ppo_kl",
    ...OF_TOKENS,
    quantity: "k1",
    unit: "nats",
    signed: true,
    says:
      "Mean of old − new log-prob over tokens, the plain mean of the step's micro-batches; signed, and clamped to ±20 a token.",
    zero:
      "With one mini-batch per step it is 0 by construction, and three decimals hide what is small.",
    nan: KL_NAN,
  },
  {
    metric: "clip_fraction",
    key: "actor/pg_clipfrac",
    ...OF_TOKENS,
    unit: "share",
    says:
      "Share of tokens whose clipped loss is the larger one, the plain mean of the micro-batches.",
    zero: "With one mini-batch per step it is 0 by construction.",
  },
  {
    metric: "clip_fraction",
    key: /actor\/pg_clipfrac_(?<part>lower)/,
    ...OF_TOKENS,
    unit: "share",
    says: "Share of tokens that the dual clip's lower bound holds, at negative advantages only.",
    zero: "The ordinary case: few ratios reach clip_ratio_c.",
  },
  {
    metric: "loss",
    key: "actor/pg_loss",
    ...OF_MINIBATCHES,
    unit: "1",
    signed: true,
    says:
      "The policy-gradient loss alone, without KL and entropy terms; not a measure of progress.",
  },
  {
    metric: "loss",
    key: "actor/loss",
    ...OF_MINIBATCHES,
    unit: "1",
    signed: true,
    says: "The actor's loss with its KL and entropy terms; not a measure of progress.",
  },
  {
    metric: "grad_norm",
    key: "actor/grad_norm",
    ...OF_MINIBATCHES,
    unit: "norm",
    says: "Norm of the gradient before clipping, mean over the mini-batches of the step.",
    zero: "Every token had advantage 0 and there is no KL or entropy term.",
    nan: "The gradient was not finite and that update was skipped.",
  },
  {
    metric: "learning_rate",
    key: /actor\/lr(?:\(1e-4\))?/,
    ...OF_STEP,
    unit: "1",
    says: "Learning rate of the actor; under the key actor/lr(1e-4) in that unit.",
  },
  {
    metric: "value_loss",
    key: "critic/vf_loss",
    ...OF_MINIBATCHES,
    unit: "1",
    says: "Clipped squared error of the critic; only with a critic.",
  },
  {
    metric: "value_explained",
    key: "critic/vf_explained_var",
    ...OF_TOKENS,
    unit: "1",
    signed: true,
    says: "1 − var(return − value) / var(return) over tokens; only with a critic.",
  },
];

const SAMPLER: readonly MetricDefinition[] = [
  {
    metric: "gap",
    key: "training/rollout_probs_diff_mean",
    ...OF_TOKENS,
    quantity: "abs_probability",
    unit: "probability",
    says:
      "Mean |π_trainer − π_sampler| of the sampled tokens' probabilities, not of their log-probs.",
  },
  {
    metric: "gap",
    key: /(?:rollout_corr|mismatch)\/(?:(?:rollout_corr|mismatch)_)?k3_kl/,
    ...OF_TOKENS,
    quantity: "k3",
    unit: "nats",
    says: "Mean k3 estimate of KL(sampler ‖ trainer) over tokens.",
  },
  {
    metric: "gap",
    key: /(?:rollout_corr|mismatch)\/(?:(?:rollout_corr|mismatch)_)?kl/,
    ...OF_TOKENS,
    quantity: "signed_log_prob",
    unit: "nats",
    signed: true,
    says: "Mean of sampler − trainer log-prob over tokens; near 0 it can hide a large spread.",
  },
  {
    metric: "gap_max",
    key: "training/rollout_probs_diff_max",
    ...OF_TOKENS,
    quantity: "abs_probability",
    unit: "probability",
    says: "Largest |π_trainer − π_sampler| of a sampled token's probability; near 1 is not rare.",
  },
  {
    metric: "importance_weight",
    key: /(?:rollout_corr|mismatch)\/rollout_is_mean/,
    ...OF_TOKENS,
    unit: "ratio",
    says: "Mean importance weight of trainer against sampler, after its cap.",
  },
  {
    metric: "masked_by_correction",
    key: "rollout_corr/rollout_rs_masked_fraction",
    ...OF_TOKENS,
    unit: "share",
    says: "Share of tokens that rejection sampling leaves out of the loss.",
  },
  {
    metric: "staleness",
    key: "training/off_policy/trajectory_staleness/mean",
    ...OF_SAMPLES,
    unit: "steps",
    says:
      "Mean number of steps between the newest weights that sampled a trajectory and this step.",
    zero: "The trainer is synchronous.",
  },
];

const TIME: readonly MetricDefinition[] = [
  {
    metric: "step_time",
    key: /timing_s\/step|perf\/time_per_step|timing\/step/,
    ...OF_STEP,
    unit: "s",
    says: "Wall time of the step.",
  },
  {
    metric: "throughput",
    key: "perf/throughput",
    ...OF_STEP,
    unit: "tokens/s",
    says: "Tokens of prompts and responses per second and GPU.",
  },
  {
    metric: "tokens",
    key: "perf/total_num_tokens",
    ...OF_STEP,
    unit: "tokens",
    says: "Tokens of the step, prompts and responses.",
  },
  {
    metric: "epoch",
    key: "training/epoch",
    ...OF_STEP,
    unit: "epochs",
    says: "Passes over the prompts so far.",
  },
];

/** All of verl's. */
export const VERL_DEFINITIONS: readonly MetricDefinition[] = [
  ...REWARDS,
  ...LENGTHS,
  ...POLICY,
  ...SAMPLER,
  ...TIME,
];
