/** NeMo-RL of NVIDIA: everything in W&B and TensorBoard, a few bullets on the console. */
import { certainty } from "./log_traits.ts";
import { OF_SAMPLES, OF_STEP, OF_TOKENS } from "./shapes.ts";
import type { MetricDefinition, Producer } from "./definition.ts";

const KL_FLOOR = {
  healthy: 1e-3,
  look: 1e-3,
  from: "NeMo-RL's guide: errors below 1e-3 are acceptable",
} as const;

const OUTCOME: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: /reward|Avg Reward/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward of the step's samples.",
  },
  {
    metric: "length",
    key: /mean_gen_tokens_per_sample|Mean Generation Length/,
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Mean number of generated tokens of a sample.",
  },
  {
    metric: "eval_score",
    key: "validation/accuracy",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward over the validation set.",
  },
];

const SAMPLER: readonly MetricDefinition[] = [
  {
    metric: "gap",
    key: "token_mult_prob_error",
    ...OF_TOKENS,
    quantity: "exp_abs_log_prob",
    unit: "ratio",
    says: "Mean of exp |trainer − sampler| log-prob: 1 is perfect.",
  },
  {
    metric: "gap",
    key: /gen_kl_error|Generation KL Error/,
    ...OF_TOKENS,
    quantity: "chosen_at_runtime",
    unit: "nats",
    floor: KL_FLOOR,
    says:
      "KL(sampler ‖ trainer) by the estimator of reference_policy_kl_type, k3 unless set; one token at −5 against −15 gives about 9.",
  },
  {
    metric: "gap",
    key: "policy_kl_error",
    ...OF_TOKENS,
    quantity: "chosen_at_runtime",
    unit: "nats",
    floor: KL_FLOOR,
    says:
      "KL(trainer ‖ sampler), the other direction; the same token gives about 22,000, so it cannot be compared with gen_kl_error.",
  },
  {
    metric: "importance_weight",
    key: "sampling_importance_ratio",
    ...OF_TOKENS,
    unit: "ratio",
    says: "Mean importance weight of trainer against sampler.",
  },
  {
    metric: "masked_by_correction",
    key: "is_oob_ratio",
    ...OF_TOKENS,
    unit: "share",
    says: "Share of tokens whose importance weight lies outside the allowed range.",
  },
];

const POLICY: readonly MetricDefinition[] = [
  {
    metric: "entropy",
    key: "approx_entropy",
    ...OF_TOKENS,
    quantity: "sampled",
    unit: "nats",
    says: "Minus the mean of ratio × log-prob of the sampled tokens; biased when off-policy.",
  },
  {
    metric: "kl_reference",
    key: "kl_penalty",
    ...OF_TOKENS,
    quantity: "chosen_at_runtime",
    unit: "nats",
    says:
      "KL to the reference by the estimator of reference_policy_kl_type, k3 unless set, without its coefficient.",
    zero: "By construction where reference_policy_kl_penalty is 0.",
  },
  {
    metric: "ratio",
    key: "probs_ratio",
    ...OF_TOKENS,
    unit: "ratio",
    says: "Mean ratio to the policy that scored the batch.",
  },
  {
    metric: "ratio_max",
    key: "probs_ratio_max",
    ...OF_TOKENS,
    unit: "ratio",
    says: "Largest ratio to the policy that scored the batch.",
    nan: "−∞ for a batch without a trained token.",
  },
  {
    metric: "loss",
    key: /loss|Loss/,
    ...OF_STEP,
    unit: "1",
    signed: true,
    says: "The loss of the step; not a measure of progress.",
  },
  {
    metric: "grad_norm",
    key: "grad_norm",
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
  {
    metric: "step_time",
    key: /timing\/train\/total_step_time|Total step time/,
    ...OF_STEP,
    unit: "s",
    says: "Wall time of the step.",
  },
];

/** NeMo-RL. */
export const NEMO_RL: Producer = {
  id: "nemo_rl",
  title: "NeMo-RL",
  kind: "rl",
  recognise: (traits) =>
    certainty(traits, {
      sure: [
        "token_mult_prob_error",
        "gen_kl_error",
        "policy_kl_error",
        "js_divergence_error",
        "probs_ratio",
        "probs_ratio_clamped",
        "sampling_importance_ratio",
        "approx_entropy",
        "mean_gen_tokens_per_sample",
        "Generation KL Error",
        "Mean Generation Length",
      ],
      likely: ["reward", "loss", "lr", "grad_norm", "kl_penalty", "num_valid_samples"],
    }),
  stepUnit: "rollout",
  eras: [],
  definitions: [...OUTCOME, ...SAMPLER, ...POLICY],
  alsoLogs: [
    // The console's bullets of times.
    /policy_training|generation|data_processing|training_prep|weight_sync|checkpointing/,
    /logprob_inference_prep|policy_and_reference_logprobs|reward_calculation|prepare_for_\w+\/\w+/,
    /probs_ratio_\w+|js_divergence_error|num_valid_samples|num_\w+|wd|global_\w+|baseline_\w+/,
    /(?:validation|timing|performance|histogram|moe|ray)\/.+|.+\/(?:mean|max|min|median|stddev)/,
    /(?:max|min|mean|natural|truncation|total)_\w+|advantages?\/.+|(?:un)?filtered_reward/,
  ],
  switchOn: {
    kl_reference: "loss_fn.reference_policy_kl_penalty above 0",
    flat_groups: "grpo.use_dynamic_sampling=true (it logs what it filters)",
    eval_score: "grpo.val_period above 0",
    tokens: "train_data_step*.jsonl in the log folder (token ids, masks and log-probs)",
  },
  knobs: {
    maxLength: "policy.generation.max_new_tokens",
    groupSize: "grpo.num_generations_per_prompt",
    learningRate: "policy.optimizer.kwargs.lr",
    gradientClip: "policy.max_grad_norm",
    klCoef: "loss_fn.reference_policy_kl_penalty",
    temperature: "policy.generation.temperature",
    updatesPerBatch: "policy.train_global_batch_size",
    clipRange: "loss_fn.ratio_clip_min and ratio_clip_max",
    lossAggregation: "loss_fn.token_level_loss",
    dynamicSampling: "grpo.use_dynamic_sampling",
    samplerCorrection: "loss_fn.use_importance_sampling_correction",
    plannedSteps: "grpo.max_num_steps",
    checkpoint: "checkpointing.save_period",
  },
};
