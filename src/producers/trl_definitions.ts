/** What TRL's online trainers log: GRPO, AsyncGRPO and RLOO under the names of today and of early 2025. */
import { HF_TRAINER_DEFINITIONS } from "./hf_trainer.ts";
import { CURRENT_NAMES_ERAS, GROUP_STD_ERAS } from "./trl_eras.ts";
import type { MetricDefinition } from "./definition.ts";
import { TRL_PPO_DEFINITIONS } from "./trl_ppo.ts";

const MEAN_OF_SAMPLES = { quantity: "plain", over: "samples", window: "mean" } as const;

const REWARDS: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: "reward",
    ...MEAN_OF_SAMPLES,
    unit: "reward",
    signed: true,
    says:
      "Mean over the samples of the weighted sum of the reward functions, before normalisation.",
    nan: "No reward function scored any sample.",
  },
  {
    metric: "reward_component",
    key: /rewards\/(?<part>.+)\/mean/,
    ...MEAN_OF_SAMPLES,
    unit: "reward",
    signed: true,
    eras: CURRENT_NAMES_ERAS,
    says: "Mean of one reward function over the samples that it scored, without its weight.",
    nan: "The function returned None for every sample.",
  },
  {
    metric: "reward_component",
    key: /rewards\/(?<part>(?!.+\/(?:mean|std)$).+)/,
    ...MEAN_OF_SAMPLES,
    unit: "reward",
    signed: true,
    eras: ["to-0.15"],
    says: "Mean of one reward function over all samples, without its weight.",
  },
  {
    metric: "reward_component_std",
    key: /rewards\/(?<part>.+)\/std/,
    quantity: "batch_std",
    over: "samples",
    window: "mean",
    unit: "reward",
    eras: CURRENT_NAMES_ERAS,
    says:
      "Spread of one reward function over the whole batch; it can be large while every group is flat.",
    zero: "The function gave every sample of the batch the same value.",
  },
  {
    metric: "reward_std",
    key: "reward_std",
    quantity: "group_std",
    over: "groups",
    window: "mean",
    unit: "reward",
    eras: GROUP_STD_ERAS,
    says: "Mean over the groups of the spread within each group.",
    zero: "Every group is flat: no sample has an advantage.",
  },
  {
    metric: "reward_std",
    key: "reward_std",
    quantity: "std_used_for_scaling",
    over: "samples",
    window: "mean",
    unit: "reward",
    eras: ["2025-08-21"],
    says:
      "Mean of the spread that scales the advantages, of the group or of the batch by scale_rewards.",
    zero: "Every group is flat (with scale_rewards=batch: the batch is).",
  },
  {
    metric: "reward_std",
    key: "reward_std",
    quantity: "batch_std",
    over: "samples",
    window: "mean",
    unit: "reward",
    eras: ["2026-01-15", "2026-07-20"],
    says: "Spread of the rewards over the whole batch; it says nothing about flat groups.",
    zero: "All samples of the batch got the same reward.",
  },
  {
    metric: "flat_groups",
    key: "frac_reward_zero_std",
    ...MEAN_OF_SAMPLES,
    unit: "share",
    says:
      "Share of samples whose scaling spread is about 0; with scale_rewards=batch it can only be 0 or 1.",
  },
];

const LENGTHS: readonly MetricDefinition[] = [
  {
    metric: "truncated",
    key: "completions/clipped_ratio",
    quantity: "no_end_token",
    over: "samples",
    window: "mean",
    unit: "share",
    says:
      "Share of completions whose last token is neither the end nor the padding token, whatever cut them.",
  },
  {
    metric: "length",
    key: "completions/mean_length",
    ...MEAN_OF_SAMPLES,
    unit: "tokens",
    says: "Mean number of the model's own tokens in a completion; results of tools are left out.",
  },
  {
    metric: "length",
    key: "completion_length",
    ...MEAN_OF_SAMPLES,
    unit: "tokens",
    eras: ["to-0.15"],
    says: "Mean number of tokens of a completion up to its first end token.",
  },
  {
    metric: "length_max",
    key: "completions/max_length",
    quantity: "plain",
    over: "samples",
    window: "mean_of_extremes",
    unit: "tokens",
    says: "Longest completion of each batch, averaged over the batches since the last row.",
  },
  {
    metric: "length_terminated",
    key: "completions/mean_terminated_length",
    ...MEAN_OF_SAMPLES,
    unit: "tokens",
    says: "Mean length of the completions that ended by themselves.",
    zero: "No completion of the batch ended by itself.",
  },
  {
    metric: "turns",
    key: "tools/call_frequency",
    ...MEAN_OF_SAMPLES,
    unit: "turns",
    says: "Tool calls of a completion, mean.",
  },
];

const POLICY: readonly MetricDefinition[] = [
  {
    metric: "entropy",
    key: "entropy",
    quantity: "full",
    over: "tokens",
    window: "mean",
    unit: "nats",
    says: "Mean entropy of the whole next-token distribution over the completions' tokens.",
  },
  {
    metric: "kl_reference",
    key: "kl",
    quantity: "k3",
    over: "sequences",
    window: "mean",
    unit: "nats",
    eras: ["to-0.15", "2025-03", "2025-08-21", "2026-01-15"],
    says:
      "Mean over completions of each one's mean k3 estimate against the reference, without the coefficient; absent where beta is 0.",
    onlyWith: "klCoef",
    zero:
      "About 0 while the policy is still the reference; exactly 0 later means that they are one model.",
  },
  {
    metric: "kl_reference",
    key: "kl",
    quantity: "k3",
    over: "tokens",
    window: "mean",
    unit: "nats",
    eras: ["2026-07-20"],
    says:
      "Mean k3 estimate against the reference over the completions' tokens, without the coefficient; absent where beta is 0.",
    onlyWith: "klCoef",
    zero:
      "About 0 while the policy is still the reference; exactly 0 later means that they are one model.",
  },
  {
    metric: "clip_fraction",
    key: "clip_ratio/region_mean",
    quantity: "plain",
    over: "tokens",
    window: "mean",
    unit: "share",
    says:
      "Share of tokens that the clip acts on, on the side that the sign of the advantage opens.",
    zero:
      "With one update per batch the ratio is 1 by construction (num_iterations=1, gradient_accumulation_steps a multiple of steps_per_generation).",
  },
  {
    metric: "clip_fraction",
    key: /clip_ratio\/(?<part>low|high)_mean/,
    quantity: "plain",
    over: "tokens",
    window: "mean",
    unit: "share",
    says:
      "Share of tokens clipped on one side: low where the advantage is negative, high where positive.",
    zero: "As clip_ratio/region_mean.",
  },
  {
    metric: "clip_fraction",
    key: "clip_ratio",
    quantity: "plain",
    over: "tokens",
    window: "mean",
    unit: "share",
    eras: ["to-0.15", "2025-03"],
    says: "Share of tokens that the clip acts on.",
    zero: "With one update per batch (num_iterations=1) the ratio is 1 by construction.",
  },
  {
    metric: "ratio",
    key: "ratio",
    quantity: "plain",
    over: "tokens",
    window: "mean",
    unit: "ratio",
    says:
      "AsyncGRPO: mean ratio of the policy to the weights that sampled, which may be steps older.",
  },
];

const SAMPLER: readonly MetricDefinition[] = [
  {
    metric: "gap",
    key: "sampling/sampling_logp_difference/mean",
    quantity: "abs_log_prob",
    over: "tokens",
    window: "mean",
    unit: "nats",
    says:
      "Mean |trainer − vLLM| log-prob over tokens, a mean of the ranks' means; needs vLLM with the importance correction on.",
  },
  {
    metric: "gap_max",
    key: "sampling/sampling_logp_difference/max",
    quantity: "abs_log_prob",
    over: "tokens",
    window: "mean_of_extremes",
    unit: "nats",
    says: "Largest |trainer − vLLM| log-prob of each batch, averaged since the last row.",
  },
  {
    metric: "importance_weight",
    key: "sampling/importance_sampling_ratio/mean",
    quantity: "plain",
    over: "samples",
    window: "mean",
    unit: "ratio",
    says:
      "Mean importance weight after the cap and the mask, by default one product per sequence; below 1 by construction where top_p or top_k cut the sampler.",
    zero: "Every sequence was masked by the cap.",
  },
];

const EVALUATION: readonly MetricDefinition[] = [
  {
    metric: "eval_score",
    key: /eval_(?:(?<part>.+)_)?reward/,
    ...MEAN_OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward over the evaluation set, sampled as in training.",
  },
];

const TIME: readonly MetricDefinition[] = [
  {
    metric: "step_time",
    key: "step_time",
    quantity: "plain",
    over: "step",
    window: "mean",
    unit: "s",
    says: "Mean wall time of an optimizer step since the last row, generation included.",
  },
];

/** All of TRL's. */
export const TRL_DEFINITIONS: readonly MetricDefinition[] = [
  ...REWARDS,
  ...LENGTHS,
  ...POLICY,
  ...SAMPLER,
  ...HF_TRAINER_DEFINITIONS,
  ...TRL_PPO_DEFINITIONS,
  ...EVALUATION,
  ...TIME,
];

/**
 * Another trainer's definitions, where it logs under a base's keys and means something else by some of them.
 *
 * @param base The definitions of those whose keys it has.
 * @param different Its own; each takes the place of every definition of the same key, whatever its era.
 */
export function replacing(
  base: readonly MetricDefinition[],
  different: readonly MetricDefinition[],
): readonly MetricDefinition[] {
  const keys = new Set(different.map(({ key }) => String(key)));
  return [...different, ...base.filter(({ key }) => !keys.has(String(key)))];
}
