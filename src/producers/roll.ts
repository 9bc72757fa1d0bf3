/** ROLL of Alibaba: verl's names for the outcome, its own for the policy. */
import { certainty } from "./log_traits.ts";
import { OF_MINIBATCHES, OF_SAMPLES, OF_SEQUENCES, OF_STEP, OF_TOKENS } from "./shapes.ts";
import type { MetricDefinition, Producer } from "./definition.ts";

const OUTCOME: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: "critic/score/mean",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean score of the responses, before normalisation and KL penalty.",
  },
  {
    metric: "reward",
    key: "critic/rewards/mean",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward of the responses, after normalisation and KL penalty.",
  },
  {
    metric: "advantage_mean",
    key: "critic/advantages/mean",
    ...OF_TOKENS,
    unit: "1",
    signed: true,
    says: "Mean advantage over the trained tokens.",
    zero: "The advantages are whitened over the tokens.",
  },
  {
    metric: "length",
    key: /(?:token|tokens|rollout)\/response_length\/mean/,
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Mean length of the responses.",
  },
  {
    metric: "length_max",
    key: /(?:token|tokens|rollout)\/response_length\/max/,
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Longest response of the step.",
  },
  {
    metric: "eval_score",
    key: /val(?:_correct)?\/(?<part>.+)\/(?:mean|score\/mean)/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean score on an evaluation set.",
  },
];

const POLICY: readonly MetricDefinition[] = [
  {
    metric: "entropy",
    key: "critic/entropy/mean",
    ...OF_TOKENS,
    quantity: "full",
    unit: "nats",
    says: "Mean entropy of the next-token distribution over the responses' tokens.",
  },
  {
    metric: "kl_reference",
    key: "actor/kl_loss",
    ...OF_TOKENS,
    over: "unknown",
    quantity: "chosen_at_runtime",
    unit: "nats",
    says: "KL to the reference in the loss, aggregated by loss_agg_mode, without its coefficient.",
  },
  {
    metric: "kl_reference",
    key: "critic/kl",
    ...OF_SEQUENCES,
    quantity: "chosen_at_runtime",
    unit: "nats",
    signed: true,
    says: "KL penalty in the reward, a mean of the sequences' values.",
  },
  {
    metric: "kl_old",
    key: "actor/approxkl",
    ...OF_TOKENS,
    over: "unknown",
    quantity: "chosen_at_runtime",
    unit: "nats",
    says: "Divergence from the policy that scored the batch, aggregated by loss_agg_mode.",
    zero: "With one update per step it is 0 by construction.",
  },
  {
    metric: "ratio",
    key: "actor/ratio_mean",
    ...OF_SEQUENCES,
    unit: "ratio",
    says: "Mean of the sequences' mean ratio to the policy that scored the batch.",
  },
  {
    metric: "ratio_max",
    key: "actor/ratio_max",
    ...OF_MINIBATCHES,
    unit: "ratio",
    says: "Largest ratio of each micro-batch; the tracker keeps the largest or a mean by version.",
  },
  {
    metric: "clip_fraction",
    key: "actor/clipfrac",
    ...OF_TOKENS,
    over: "unknown",
    unit: "share",
    says: "Share of tokens whose clipped loss is the larger one, aggregated by loss_agg_mode.",
    zero: "With one update per step it is 0 by construction.",
  },
  {
    metric: "loss",
    key: /actor\/(?:total|pg)_loss/,
    ...OF_MINIBATCHES,
    unit: "1",
    signed: true,
    says: "The loss of the update; not a measure of progress.",
  },
  {
    metric: "grad_norm",
    key: /actor_train\/grad_norm|actor\/grad_norm/,
    ...OF_MINIBATCHES,
    unit: "norm",
    says: "Norm of the gradient before clipping.",
  },
  {
    metric: "learning_rate",
    key: "actor/lr",
    ...OF_STEP,
    unit: "1",
    says: "Learning rate of the actor.",
  },
];

/** ROLL. */
export const ROLL: Producer = {
  id: "roll",
  title: "ROLL",
  kind: "rl",
  recognise: (traits) =>
    certainty(traits, {
      sure: [
        "actor/ratio_mean",
        "actor/ppo_ratio_clipfrac",
        "actor/policykl",
        "actor/approxkl",
        "actor/clipfrac",
        "critic/entropy/mean",
        "actor_train/grad_norm",
        /^tokens?\/response_length\/mean$/,
      ],
    }),
  stepUnit: "rollout",
  eras: [],
  definitions: [...OUTCOME, ...POLICY],
  alsoLogs: [
    /(?:actor|critic|actor_train|actor_infer|tokens?|rollout|env|val|val_correct)\/.+/,
    /(?:time|system|scheduler|memory)\/.+/,
  ],
  switchOn: {},
  knobs: {},
};
