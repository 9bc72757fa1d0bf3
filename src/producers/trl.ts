/** TRL: GRPO, AsyncGRPO, RLOO and PPO of Hugging Face, and open-r1, which logs what TRL logs. */
import { certainty, hasKey } from "./log_traits.ts";
import { HF_TRAINER_ALSO_LOGS, HF_TRAINER_KNOBS, isFromHfTrainer } from "./hf_trainer.ts";
import { TRL_DEFINITIONS } from "./trl_definitions.ts";
import { TRL_ERAS } from "./trl_eras.ts";
import type { LogTraits, Producer } from "./definition.ts";
import type { LogSettings } from "../logs/run_log.ts";

/** Other columns of TRL's online trainers. */
export const TRL_ALSO_LOGS: readonly RegExp[] = [
  ...HF_TRAINER_ALSO_LOGS,
  /eval_.+/,
  /completions\/(?:min_length|(?:min|max)_terminated_length)/,
  /clip_ratio\/(?:low_min|high_max)|cispo_clip_ratio|vespo\/.+/,
  /sampling\/importance_sampling_ratio\/(?:min|max)/,
  /tools\/.+|policy_loss|entropy_coef|aux_loss|profiling\/.+/,
  /(?:objective|policy|val|loss)\/.+|eps|episode/,
];

/** Since March 2025 the KL is logged wherever there is one, so that a complete row without it means beta 0. */
export function impliedByTrl(traits: LogTraits): LogSettings {
  const isComplete = ["completions/mean_length", "reward", "loss", "clip_ratio/region_mean"]
    .every((key) => hasKey(traits, key));
  return isComplete && !hasKey(traits, "kl") ? { klCoef: 0 } : {};
}

/** Keys of TRL that no other family has. */
export const TRL_MARKS = {
  sure: [
    "completions/clipped_ratio",
    "completions/mean_length",
    "frac_reward_zero_std",
    "clip_ratio/region_mean",
    /^rewards\/(?!(?:chosen|rejected|margins|accuracies)\/).+\/mean$/,
    "objective/rlhf_reward",
    "objective/non_score_reward",
    "policy/approxkl_avg",
  ],
  likely: [
    "reward",
    "reward_std",
    "completion_length",
    "kl",
    "loss",
    "grad_norm",
    "learning_rate",
    "epoch",
    /^rewards\/(?!(?:chosen|rejected|margins|accuracies)$).+$/,
  ],
} as const;

/** Forms of the Trainer's table in a notebook, which has neither the gradient nor the learning rate. */
const TABLES = new Set(["notebook", "html_tables", "markdown"]);

function recognise(traits: LogTraits): number {
  // Rows of a Trainer with rewards are of an online trainer, and TRL's are the common ones.
  const isOnline = hasKey(traits, "reward") &&
    (isFromHfTrainer(traits) ||
      TABLES.has(traits.form) && hasKey(traits, "loss") && hasKey(traits, "reward_std"));
  return Math.max(certainty(traits, TRL_MARKS), isOnline ? 0.7 : 0);
}

/** TRL. */
export const TRL: Producer = {
  id: "trl",
  title: "TRL",
  kind: "rl",
  recognise,
  stepUnit: "optimizer step",
  eras: TRL_ERAS,
  definitions: TRL_DEFINITIONS,
  alsoLogs: TRL_ALSO_LOGS,
  implied: impliedByTrl,
  switchOn: {
    gap: "use_vllm=True with vllm_importance_sampling_correction=True",
    truncated: "a TRL of March 2025 or later, which logs completions/clipped_ratio",
    entropy: "a TRL of mid-2025 or later, which logs entropy",
    kl_reference: "beta > 0 in GRPOConfig (without it the reference is not scored)",
    clip_fraction: "num_iterations > 1, or steps_per_generation > gradient_accumulation_steps",
    flat_groups: "a TRL of May 2025 or later, which logs frac_reward_zero_std",
    reward_components: "one function for each part in reward_funcs",
    eval_score: 'eval_dataset with eval_strategy="steps"',
    grad_norm: "report rows of the Trainer (logging_steps)",
    every_step: "logging_steps=1",
    tokens: "log_completions=True (texts and advantages; ids and log-probs need an exporter)",
  },
  knobs: {
    ...HF_TRAINER_KNOBS,
    maxLength: "max_completion_length",
    groupSize: "num_generations",
    klCoef: "beta",
    temperature: "temperature",
    updatesPerBatch: "num_iterations",
    clipRange: "epsilon and epsilon_high",
    rewardWeights: "reward_weights",
    overlongPenalty: "mask_truncated_completions",
    lossAggregation: "loss_type",
    samplerCorrection: "vllm_importance_sampling_correction",
  },
};
