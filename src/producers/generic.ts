/** Names that need no producer: those that everybody uses, and ours, which `--map theirs=ours` gives to any key. */
import {
  CANONICAL,
  type CanonicalMetric,
  type MetricDefinition,
  type Quantity,
  type Unit,
} from "./definition.ts";

const BY_NAME = "Known by its name alone: the log does not say how it is averaged or estimated.";

/** A metric whose definition the log does not tell: rules that need one cannot use it. */
function untold(
  metric: CanonicalMetric,
  options: { readonly key: string | RegExp; readonly unit: Unit; readonly signed?: boolean },
): MetricDefinition {
  const { key, unit, signed = false } = options;
  return {
    metric,
    key,
    quantity: "chosen_at_runtime",
    over: "unknown",
    window: "step",
    unit,
    signed,
    says: BY_NAME,
  };
}

/** The units of the canonical metrics where no producer says another. */
const UNITS: Readonly<Record<CanonicalMetric, Unit>> = {
  reward: "reward",
  reward_component: "reward",
  reward_component_std: "reward",
  reward_std: "reward",
  eval_score: "reward",
  advantage_mean: "1",
  flat_groups: "share",
  all_solved: "share",
  none_solved: "share",
  truncated: "share",
  length: "tokens",
  length_max: "tokens",
  length_terminated: "tokens",
  turns: "turns",
  errors: "share",
  entropy: "nats",
  kl_reference: "nats",
  kl_teacher: "nats",
  kl_old: "nats",
  kl_update: "nats",
  ratio: "ratio",
  ratio_max: "ratio",
  clip_fraction: "share",
  gap: "nats",
  gap_max: "nats",
  importance_weight: "ratio",
  masked_by_correction: "share",
  staleness: "steps",
  loss: "1",
  grad_norm: "norm",
  learning_rate: "1",
  reward_max: "reward",
  reward_min: "reward",
  value_loss: "1",
  value_explained: "1",
  step_time: "s",
  throughput: "tokens/s",
  tokens: "tokens",
  epoch: "epochs",
};

/** Metrics that can be negative. */
const SIGNED: ReadonlySet<CanonicalMetric> = new Set([
  "reward",
  "reward_component",
  "reward_max",
  "reward_min",
  "eval_score",
  "advantage_mean",
  "loss",
  "value_explained",
]);

const KL: readonly Quantity[] = ["k1", "k1_sum", "k2", "k3", "half_square"];
const GAP: readonly Quantity[] = [
  "abs_log_prob",
  "signed_log_prob",
  "k3",
  "half_square",
  "abs_probability",
  "exp_abs_log_prob",
];

/** What a user can say of a metric that has several definitions: `gap:abs_log_prob`. */
const QUANTITIES: Partial<Readonly<Record<CanonicalMetric, readonly Quantity[]>>> = {
  reward_std: ["batch_std", "group_std", "std_used_for_scaling"],
  truncated: ["no_end_token", "at_cap", "stopped_by_length"],
  entropy: ["full", "sampled", "sampled_sum"],
  kl_reference: KL,
  kl_teacher: KL,
  kl_old: KL,
  kl_update: KL,
  gap: GAP,
  gap_max: GAP,
};

/** Units and signs that a quantity decides. */
function unitOf(metric: CanonicalMetric, quantity: Quantity): Unit {
  if (quantity === "abs_probability") return "probability";
  return quantity === "exp_abs_log_prob" ? "ratio" : UNITS[metric];
}

const METRIC_NAMES = Object.keys(CANONICAL) as readonly CanonicalMetric[];

/** Our names with what the user says of them: `kl_reference:k3`. They are taken in any log. */
export const STATED_DEFINITIONS: readonly MetricDefinition[] = METRIC_NAMES.flatMap((metric) =>
  (QUANTITIES[metric] ?? []).map((quantity): MetricDefinition => ({
    metric,
    key: `${metric}:${quantity}`,
    quantity,
    over: "unknown",
    window: "step",
    unit: unitOf(metric, quantity),
    signed: ["k1", "k1_sum", "signed_log_prob"].includes(quantity),
    says: "The user has said what it is.",
  }))
);

/** Our names by themselves; the part of a metric that has parts follows after a slash. */
export const OUR_NAMES: readonly MetricDefinition[] = METRIC_NAMES.map((metric) =>
  untold(metric, {
    key: /^(?:reward_component|reward_component_std|eval_score)$/.test(metric)
      ? new RegExp(`${metric}(?:/(?<part>.+))?`)
      : metric,
    unit: UNITS[metric],
    signed: SIGNED.has(metric),
  })
);

/** The definitions for a log that is nobody's that is known. */
export const GENERIC_DEFINITIONS: readonly MetricDefinition[] = [
  ...OUR_NAMES,
  untold("reward", {
    key: /(?:mean|avg|average|train)_reward|reward[_/](?:mean|avg)/,
    unit: "reward",
    signed: true,
  }),
  untold("reward_component", {
    key: /rewards?\/(?<part>(?!(?:mean|avg|std|max|min)$).+?)(?:\/mean)?/,
    unit: "reward",
    signed: true,
  }),
  untold("reward_std", { key: "reward/std", unit: "reward" }),
  untold("eval_score", {
    key: /(?:eval|val|test)[_/](?:reward|score|acc|accuracy|pass_rate|success_rate)/,
    unit: "reward",
    signed: true,
  }),
  untold("entropy", { key: /(?:policy_|actor\/|policy\/)entropy/, unit: "nats" }),
  untold("kl_reference", { key: /(?:ref_kl|kl_ref|kl_to_ref)/, unit: "nats" }),
  untold("length", {
    key: /(?:(?:mean|avg)_)?(?:response|completion)_length(?:[_/]mean)?/,
    unit: "tokens",
  }),
  untold("loss", {
    key: /(?:train_loss|(?:actor\/|policy\/)(?:policy_)?loss|policy_loss)/,
    unit: "1",
    signed: true,
  }),
  untold("grad_norm", { key: /(?:actor|policy|optim)\/grad_norm|gradient_norm/, unit: "norm" }),
  untold("learning_rate", { key: /(?:actor\/|optim\/)?lr/, unit: "1" }),
  untold("step_time", { key: /time\/step|time_per_step/, unit: "s" }),
];
