/** What findings about tokens can bring about: further ones about tokens, and ones about the log of the same run. */

/** Log-probs of two engines that do not fit, whatever made them so. */
const DISAGREEMENT = [
  "sampler_trainer_gap_tokens",
  "ratio_not_one_at_start",
  "kl_outliers",
  "sampler_trainer_gap",
  "gap_jump",
  "gap_growth",
] as const;

/** By the id of the cause; causes in the order in which they stand when two are of one class. */
export const TOKEN_CONSEQUENCES: Readonly<Record<string, readonly string[]>> = {
  non_finite_token: ["old_is_not_sampler", ...DISAGREEMENT, "non_finite"],
  shifted_log_probs: [
    "temperature_mismatch",
    "top_p_mismatch",
    "stale_weights",
    "padding_dependent",
    "old_is_not_sampler",
    ...DISAGREEMENT,
  ],
  mask_on_unsampled: [
    "mask_leaves_out",
    "forced_end",
    "temperature_mismatch",
    "top_p_mismatch",
    "lengths_disagree",
    ...DISAGREEMENT,
  ],
  forced_end: ["top_p_mismatch", "temperature_mismatch", ...DISAGREEMENT],
  mask_leaves_out: ["lengths_disagree"],
  prefix_broken: DISAGREEMENT,
  padding_dependent: [
    "old_is_not_sampler",
    "stale_weights",
    "temperature_mismatch",
    ...DISAGREEMENT,
  ],
  // Sampler and trainer agree there, so that nothing is said of the sampler.
  old_is_not_sampler: ["stale_weights", "temperature_mismatch", "top_p_mismatch", ...DISAGREEMENT],
  top_p_mismatch: ["temperature_mismatch", ...DISAGREEMENT],
  temperature_mismatch: DISAGREEMENT,
  stale_weights: ["temperature_mismatch", ...DISAGREEMENT],
  sampler_trainer_gap_tokens: DISAGREEMENT.filter((id) => id !== "sampler_trainer_gap_tokens"),
  duplicate_samples: [
    "group_size_wrong",
    "advantage_scale",
    "advantage_not_centred",
    "groups_merged",
  ],
  groups_merged: [
    "group_size_wrong",
    "advantage_not_centred",
    "advantage_scale",
    "same_reward_different_advantage",
  ],
  group_of_one: ["group_size_wrong"],
  group_size_wrong: ["advantage_not_centred", "advantage_scale"],
  same_reward_different_advantage: ["advantage_not_centred", "advantage_scale"],
  advantage_not_centred: ["advantage_scale"],
  reward_scored_elsewhere: ["same_reward_different_advantage"],
  errors_paid_as_zero: ["rollouts_fail"],
};
