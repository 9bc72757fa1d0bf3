/** What each invariant tests, as a noun: where to look when no cause that is known explains that it is violated. */

/** By the invariants' keys. */
export const CHECK_AREAS: Readonly<Record<string, string>> = {
  policy_mask: "the loss mask",
  sampler_is_trainer: "the sampler's record and its weights",
  ratio_one_before_step: "the old log-probs",
  group_mean_zero: "the advantages",
  padding_invariant: "how the terms of the tokens become one loss",
  accumulated_is_one_pass: "how gradients are accumulated",
  old_logp_frozen: "when the old log-probs are computed",
  update_follows_advantage: "the sign of the update",
  reference_stays_behind: "the KL reference",
  no_signal_no_change: "what moves the weights without a signal",
  own_group_advantages: "how groups are laid out",
  sampled_as_said: "the distribution that is sampled from",
  advantage_of_episode: "the advantages and their order",
  reward_of_episode: "the rewards and their order",
  term_directions: "the sign and weight of each term of the loss",
  ratio_and_clip: "the ratio and its clip",
  optimizer_step: "the optimizer",
  all_data_once: "how the batch is cut into minibatches",
};
