/** Names that mean the same wherever they stand, for logs whose writer is not known. */
import type { CanonicalMetric, MetricDefinition, Unit } from "./definition.ts";

/** A metric whose definition the log does not tell: rules that need one cannot use it. */
function untold(
  metric: CanonicalMetric,
  { key, unit, signed = false }: {
    readonly key: RegExp;
    readonly unit: Unit;
    readonly signed?: boolean;
  },
): MetricDefinition {
  return {
    metric,
    key,
    quantity: "chosen_at_runtime",
    over: "unknown",
    window: "step",
    unit,
    signed,
    says: "Known by its name alone: the log does not tell how it is averaged or estimated.",
  };
}

/** The definitions for a log that is nobody's that is known. */
export const GENERIC_DEFINITIONS: readonly MetricDefinition[] = [
  untold("reward", {
    key: /(?:mean_|avg_|train_)?reward(?:_mean|\/mean)?|reward\/avg/,
    unit: "reward",
    signed: true,
  }),
  untold("reward_component", {
    key: /rewards?\/(?<part>(?!mean$|avg$|std$|max$|min$).+?)(?:\/mean)?/,
    unit: "reward",
    signed: true,
  }),
  untold("reward_std", { key: /reward_std|reward\/std/, unit: "reward" }),
  untold("eval_score", {
    key: /(?:eval|val|test)[_/](?:reward|score|acc|accuracy|pass_rate|success_rate)/,
    unit: "reward",
    signed: true,
  }),
  untold("entropy", { key: /(?:policy_|actor\/|policy\/)?entropy/, unit: "nats" }),
  untold("kl_reference", { key: /(?:ref_kl|kl_ref|kl_to_ref|kl_reference)/, unit: "nats" }),
  untold("length", {
    key: /(?:mean_|avg_)?(?:response|completion)_length(?:_mean|\/mean)?/,
    unit: "tokens",
  }),
  untold("loss", { key: /(?:train_|actor\/|policy\/)?(?:policy_)?loss/, unit: "1", signed: true }),
  untold("grad_norm", { key: /(?:actor\/|policy\/|optim\/)?grad(?:ient)?_norm/, unit: "norm" }),
  untold("learning_rate", { key: /(?:actor\/|optim\/)?(?:lr|learning_rate)/, unit: "1" }),
  untold("step_time", { key: /step_time|time\/step|time_per_step/, unit: "s" }),
  untold("epoch", { key: /epoch/, unit: "epochs" }),
];
