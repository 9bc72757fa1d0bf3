/** verl, and those that grew out of it: TinyZero, Agent-R1, siiRL, verl-tool. */
import { certainty, hasKey } from "./log_traits.ts";
import { VERL_DEFINITIONS } from "./verl_definitions.ts";
import type { LogTraits, Producer } from "./definition.ts";
import type { LogSettings } from "../logs/run_log.ts";

/** Without either name of the entropy a log can be of any time. */
const hasEntropy = (traits: LogTraits) => hasKey(traits, "actor/entropy");
const hasOldEntropyAlone = (traits: LogTraits) =>
  !hasEntropy(traits) && hasKey(traits, "actor/entropy_loss");

function implied(traits: LogTraits): LogSettings {
  for (const key of ["actor/kl_coef", "actor/reward_kl_penalty_coeff", "critic/kl_coeff"]) {
    const coefficient = traits.values(key).at(-1);
    if (coefficient !== undefined) return { klCoef: coefficient };
  }
  const isComplete = ["actor/pg_loss", "actor/grad_norm", "critic/score/mean"]
    .every((key) => hasKey(traits, key));
  const hasKl = hasKey(traits, /^(?:actor\/kl_loss|actor\/reward_kl_penalty|critic\/kl)$/);
  return isComplete && !hasKl ? { klCoef: 0 } : {};
}

/** verl. */
export const VERL: Producer = {
  id: "verl",
  title: "verl",
  kind: "rl",
  recognise: (traits) =>
    certainty(traits, {
      sure: [
        "actor/pg_clipfrac",
        "actor/ppo_kl",
        "critic/score/mean",
        "critic/advantages/mean",
        "response_length/clip_ratio",
        "training/rollout_probs_diff_mean",
        /^val-core\/.+\/mean@\d+$/,
        /^timing_per_token_ms\/.+$/,
      ],
      likely: [
        "actor/entropy",
        "actor/entropy_loss",
        "actor/pg_loss",
        "actor/grad_norm",
        "actor/lr",
        "critic/rewards/mean",
        "response_length/mean",
        "prompt_length/mean",
      ],
    }),
  stepUnit: "rollout",
  eras: [
    {
      id: "2024",
      title: "before April 2025, when actor/entropy_loss was the entropy",
      fits: (traits) => !hasEntropy(traits),
    },
    {
      id: "2025-04",
      title: "since April 2025",
      fits: (traits) => !hasOldEntropyAlone(traits),
    },
  ],
  definitions: VERL_DEFINITIONS,
  alsoLogs: [
    /(?:actor|critic|response_length|response_length_non_aborted|response|prompt_length)\/.+/,
    /(?:timing_s|timing|timing_per_token_ms|perf|training|rollout_corr|mismatch)\/.+/,
    /(?:val-core|val-aux|val|num_turns|tool_call_counts|global_seqlen|mfu|variance_proxy)\/.+/,
  ],
  implied,
  switchOn: {
    gap: "actor_rollout_ref.rollout.calculate_log_probs=True",
    kl_reference: "actor_rollout_ref.actor.use_kl_loss=True, or algorithm.use_kl_in_reward=True",
    kl_old: "more than one mini-batch per step: data.train_batch_size > ppo_mini_batch_size",
    clip_fraction: "more than one mini-batch per step: data.train_batch_size > ppo_mini_batch_size",
    flat_groups: "trainer.rollout_data_dir=DIR (the scores of every group)",
    reward_components: "trainer.rollout_data_dir=DIR (the reward's extra keys of every sample)",
    eval_score: "trainer.test_freq=N and data.val_files",
    every_step: 'trainer.logger=["console","file"] (a row for each step)',
    tokens: "trainer.rollout_data_dir=DIR (texts and scores; ids and log-probs need an exporter)",
  },
  knobs: {
    maxLength: "data.max_response_length",
    groupSize: "actor_rollout_ref.rollout.n",
    learningRate: "actor_rollout_ref.actor.optim.lr",
    warmup: "actor_rollout_ref.actor.optim.lr_warmup_steps",
    gradientClip: "actor_rollout_ref.actor.grad_clip",
    klCoef: "actor_rollout_ref.actor.kl_loss_coef",
    entropyCoef: "actor_rollout_ref.actor.entropy_coeff",
    temperature: "actor_rollout_ref.rollout.temperature",
    updatesPerBatch: "actor_rollout_ref.actor.ppo_mini_batch_size and ppo_epochs",
    clipRange: "actor_rollout_ref.actor.clip_ratio_low and clip_ratio_high",
    lossAggregation: "actor_rollout_ref.actor.loss_agg_mode",
    dynamicSampling: "algorithm.filter_groups.enable (recipe DAPO)",
    samplerCorrection: "algorithm.rollout_correction.rollout_is",
    samplerPrecision: "actor_rollout_ref.rollout.dtype",
    resume: "trainer.resume_mode",
    plannedSteps: "trainer.total_training_steps",
    checkpoint: "trainer.save_freq",
  },
};
