/** ms-swift: GRPO of ModelScope, mostly under TRL's keys. */
import { hasKey } from "./log_traits.ts";
import { HF_TRAINER_KNOBS } from "./hf_trainer.ts";
import { impliedByTrl, TRL_ALSO_LOGS } from "./trl.ts";
import { replacing, TRL_DEFINITIONS } from "./trl_definitions.ts";
import type { LogTraits, MetricDefinition, Producer } from "./definition.ts";

const DIFFERENT: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: "reward",
    quantity: "plain",
    over: "groups",
    window: "mean",
    unit: "reward",
    signed: true,
    says: "Mean over the groups of their mean reward, the weighted sum of the reward functions.",
  },
  {
    metric: "reward_std",
    key: "reward_std",
    quantity: "group_std",
    over: "groups",
    window: "mean",
    unit: "reward",
    says: "Mean over the groups of the spread within each; with scale_rewards=batch the batch's.",
    zero: "Every group is flat: no sample has an advantage.",
  },
  {
    metric: "flat_groups",
    key: "frac_reward_zero_std",
    quantity: "plain",
    over: "groups",
    window: "mean",
    unit: "share",
    says: "Share of groups whose rewards are all equal.",
  },
  {
    metric: "entropy",
    key: "entropy/mean",
    quantity: "full",
    over: "unknown",
    window: "mean",
    unit: "nats",
    says: "Mean entropy of the next-token distribution over the completions.",
  },
  {
    metric: "kl_reference",
    key: "kl",
    quantity: "chosen_at_runtime",
    over: "unknown",
    window: "mean",
    unit: "nats",
    says:
      "k3 estimate against the reference, a mean of tokens or of sequences by version; with kl_in_reward it is summed over the answer.",
    zero: "About 0 while the policy is still the reference.",
  },
];

/** Columns that only its logs have; those of its supervised runs are the same but for the reward. */
const OWN = [/^memory\(GiB\)$/, /^train_speed\(.+\)$/, /^rewards\/.*ORM\/mean$/];

function recognise(traits: LogTraits): number {
  if (!hasKey(traits, "reward")) return 0;
  // Others call their entropy so as well, and have no plain `loss` beside it.
  const hasItsEntropy = hasKey(traits, "entropy/mean") && hasKey(traits, "loss") &&
    hasKey(traits, "reward_std") && !hasKey(traits, "loss/mean");
  const isOwn = traits.form === "swift_jsonl" || OWN.some((key) => hasKey(traits, key));
  return isOwn || hasItsEntropy ? 1 : 0;
}

/** ms-swift. */
export const MS_SWIFT: Producer = {
  id: "ms_swift",
  title: "ms-swift",
  kind: "rl",
  recognise,
  stepUnit: "optimizer step",
  eras: [],
  definitions: replacing(TRL_DEFINITIONS, DIFFERENT).filter(({ metric, eras, key }) =>
    // TRL's first names are not its: without an era they would match beside those of today.
    !(metric === "reward_component" && eras?.includes("to-0.15")) && key !== "completion_length"
  ).map(({ eras: _, ...definition }) => definition),
  alsoLogs: [...TRL_ALSO_LOGS, /entropy\/.+|percentage|elapsed_time|remaining_time/],
  implied: impliedByTrl,
  switchOn: {
    gap: "--use_vllm true with --rollout_importance_sampling_mode",
    entropy: "--log_entropy true",
    kl_reference: "--beta above 0",
    clip_fraction: "--num_iterations above 1",
    reward_components: "one function for each part in --reward_funcs",
    every_step: "--logging_steps 1",
    tokens: "--log_completions true (completions.jsonl: texts, rewards, advantages)",
  },
  knobs: {
    ...HF_TRAINER_KNOBS,
    resume: "--resume_from_checkpoint",
    maxLength: "--max_completion_length",
    groupSize: "--num_generations",
    klCoef: "--beta",
    temperature: "--temperature",
    updatesPerBatch: "--num_iterations",
    clipRange: "--epsilon and --epsilon_high",
    rewardWeights: "--reward_weights",
    overlongPenalty: "--overlong_filter",
    lossAggregation: "--loss_type",
    dynamicSampling: "--dynamic_sample",
  },
};
