/** Unsloth: TRL's GRPO with its own loss, under the same keys. */
import { hasKey } from "./log_traits.ts";
import { TRL } from "./trl.ts";
import { replacing, TRL_DEFINITIONS } from "./trl_definitions.ts";
import type { LogTraits, MetricDefinition, Producer } from "./definition.ts";

const DIFFERENT: readonly MetricDefinition[] = [
  {
    metric: "length",
    key: "completion_length",
    quantity: "plain",
    over: "samples",
    window: "mean",
    unit: "tokens",
    says: "Mean number of trained tokens of a completion.",
  },
  {
    metric: "kl_reference",
    key: "kl",
    quantity: "k3",
    over: "sequences",
    window: "mean",
    unit: "nats",
    says:
      "Mean over completions of each one's mean k3 estimate against the reference; logged with beta 0 as well.",
    zero: "About 0 while the policy is still the reference.",
    nan: "A completion had no trained token: its mean is 0/0, and one such row is enough.",
  },
  {
    metric: "gap",
    key: "sampling/sampling_logp_difference/mean",
    quantity: "abs_log_prob",
    over: "unknown",
    window: "mean",
    unit: "nats",
    says:
      "Mean |trainer − vLLM| log-prob over the padded matrix: padding counts as 0, so it is too small by the share of padding.",
  },
];

/** Above TRL, whose keys it has; below those that have a column which nobody else writes. */
const UNLESS_OTHERS_SHOW = 0.98;

/** TRL's early logs have one of the two names, those of today the other; only Unsloth's have both. */
const recognise = (traits: LogTraits): number =>
  hasKey(traits, "completion_length") && hasKey(traits, "completions/mean_length")
    ? UNLESS_OTHERS_SHOW
    : 0;

/** Unsloth. */
export const UNSLOTH: Producer = {
  ...TRL,
  id: "unsloth",
  title: "Unsloth",
  recognise,
  definitions: replacing(TRL_DEFINITIONS, DIFFERENT),
  // It logs the KL with beta 0 as well: its absence tells nothing.
  implied: () => ({}),
};
