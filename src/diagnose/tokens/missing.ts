/** How a form of dump comes to hold what a check lacks. */

/** Checks that need log-probs of two sides. */
const LOG_PROBS = [
  "shifted_log_probs",
  "sampler_trainer_gap_tokens",
  "temperature_mismatch",
  "top_p_mismatch",
  "kl_outliers",
  "padding_dependent",
] as const;

/** Checks that need groups, rewards or advantages. */
const GROUPS = [
  "advantage_not_centred",
  "advantage_scale",
  "group_size_wrong",
  "group_of_one",
  "same_reward_different_advantage",
  "reward_scored_elsewhere",
] as const;

const OLD = ["old_is_not_sampler", "ratio_not_one_at_start"] as const;

type Hints = Readonly<Record<string, string>>;

const hint = (ids: readonly string[], words: string): Hints =>
  Object.fromEntries(ids.map((id) => [id, words]));

/** By form of dump, then by check. */
const BY_FORM: Readonly<Record<string, Hints>> = {
  token_exports: {
    ...hint(
      [...GROUPS, "errors_paid_as_zero", "prefix_broken"],
      "Give the folder that holds the rollouts' traces.jsonl as well: groups, rewards, ends and roles are joined by the ids.",
    ),
    ...hint(OLD, "prime-rl keeps no old policy: its ratio is of trainer and sampler."),
    stale_weights: "Export the tokens of two steps or more.",
  },
  traces: {
    ...hint(
      [...LOG_PROBS, "stale_weights"],
      "Set trainer.enable_token_export = true and give the folder that holds both: the trainer's log-probs are joined by the ids.",
    ),
    ...hint(OLD, "prime-rl keeps no old policy: its ratio is of trainer and sampler."),
  },
  nemo_rl: hint(
    [...OLD, "normaliser_wrong"],
    "NeMo-RL's train_data files hold log-probs only from before the update: write the common dump beside them.",
  ),
  common_dump: {
    ...hint(
      LOG_PROBS,
      "Write lp_sampler and lp_old or lp_new, for padding_dependent of one batch in two packings.",
    ),
    ...hint(OLD, 'Write lp_old and lp_new, and "phase": "pre" where no update came between.'),
    ...hint(GROUPS, "Write group, sample, reward and adv."),
    stale_weights: "Write step, and ver: the version of the weights that drew each token.",
    mask_on_unsampled: "Write mask, and sampled or role.",
    prefix_broken: "Write each turn as a row of its own, all with the name of their sample.",
    normaliser_wrong: "Write loss.agg and loss.denom.",
    lengths_disagree: "Write answer_len as the trainer counts it.",
    errors_paid_as_zero: "Write stop and reward.",
  },
};

/** What writes the tokens of runs whose own dumps hold texts alone. */
const TOKENS_BY_FORM: Hints = {
  verl_rollouts: "docs/exporters/verl_tokens.py writes the tokens of a DataProto.",
  trl_completions: "docs/exporters/trl_tokens.py writes the tokens of every generation batch.",
  tinker_rollouts: "docs/formats.md says how to write the tokens as the common dump.",
};

/** What to do for a check to become possible; undefined where nothing helps. */
export function howToCheck(form: string, id: string): string | undefined {
  return Object.hasOwn(BY_FORM, form) ? BY_FORM[form][id] : undefined;
}

/** What to do for a dump to hold tokens. */
export function howToGetTokens(form: string): string {
  return Object.hasOwn(TOKENS_BY_FORM, form)
    ? TOKENS_BY_FORM[form]
    : "docs/formats.md says how to write the tokens as the common dump.";
}
