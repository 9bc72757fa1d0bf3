/** Our own runs: metrics.jsonl of `agentrl train`. */
import type { MetricDefinition, Producer } from "./definition.ts";
import { OF_GROUPS, OF_MINIBATCHES, OF_SAMPLES, OF_TOKENS } from "./shapes.ts";

/** The keys that rows of runs in the gym that ships have beside those of {@linkcode EVERY_ROW}: all of them, or none. */
export const GYM_ROW: readonly string[] = ["reads", "tests", "edits", "hardcode", "submitted"];

/** The key of a metric that an environment of a user's brings. */
export const OWN_METRIC = /^env\/[A-Za-z][A-Za-z0-9_]*$/;

/** The keys that every row has; metrics of an evaluation and of a KL term come and go. */
export const EVERY_ROW: readonly string[] = [
  "reward",
  "pass_rate",
  "malformed",
  "turns",
  "length",
  "length_pass",
  "length_fail",
  "entropy",
  "approx_kl",
  "approx_kl_max",
  "clip_frac",
  "ratio_min",
  "ratio_max",
  "grad_norm",
  "grad_norm_max",
  "zero_adv_frac",
  "all_pass",
  "all_fail",
  "loss",
  "logp_gap",
  "logp_gap_max",
  "logp_gap_p99",
  "loss_tokens",
];

/**
 * The first key that a row of ours lacks; undefined where it is whole.
 *
 * @param has Whether the row has a key.
 */
export function missingKey(has: (key: string) => boolean): string | undefined {
  return [...EVERY_ROW, ...GYM_ROW.some(has) ? GYM_ROW : []].find((key) => !has(key));
}

const DEFINITIONS: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: "reward",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward of the step's episodes.",
  },
  {
    metric: "reward_component",
    key: /(?<part>pass_rate)/,
    ...OF_SAMPLES,
    unit: "share",
    says: "Share of episodes that pass the hidden tests, whatever is rewarded.",
  },
  {
    metric: "eval_score",
    key: "eval_pass",
    ...OF_SAMPLES,
    unit: "share",
    says: "Share of episodes on held-out tasks that pass the hidden tests.",
  },
  {
    metric: "flat_groups",
    key: "zero_adv_frac",
    ...OF_GROUPS,
    unit: "share",
    says: "Share of groups whose rewards are all equal.",
  },
  {
    metric: "all_solved",
    key: "all_pass",
    ...OF_GROUPS,
    unit: "share",
    says: "Share of groups in which every episode is rewarded.",
  },
  {
    metric: "none_solved",
    key: "all_fail",
    ...OF_GROUPS,
    unit: "share",
    says: "Share of groups in which no episode is rewarded.",
  },
  {
    metric: "length",
    key: "length",
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Mean number of the policy's tokens in an episode.",
  },
  {
    metric: "turns",
    key: "turns",
    ...OF_SAMPLES,
    unit: "turns",
    says: "Mean number of calls in an episode.",
  },
  {
    metric: "entropy",
    key: "entropy",
    ...OF_TOKENS,
    quantity: "full",
    unit: "nats",
    says: "Mean entropy of the policy over trained tokens.",
  },
  {
    metric: "kl_reference",
    key: "kl_ref",
    ...OF_TOKENS,
    quantity: "k3",
    unit: "nats",
    says: "Mean k3 estimate against the reference over trained tokens; absent without a KL term.",
    zero: "0 at the first step only: the policy is still the reference.",
  },
  {
    metric: "kl_old",
    key: "approx_kl",
    ...OF_TOKENS,
    quantity: "k3",
    unit: "nats",
    says: "Mean k3 estimate against the policy of the batch, before each minibatch's step.",
    zero: "With one minibatch per step it is 0 by construction.",
  },
  {
    metric: "ratio_max",
    key: "ratio_max",
    ...OF_MINIBATCHES,
    unit: "ratio",
    says: "Largest π/π_old of each minibatch, averaged over the minibatches.",
  },
  {
    metric: "clip_fraction",
    key: "clip_frac",
    ...OF_TOKENS,
    unit: "share",
    says: "Share of trained tokens whose gradient the clip removed.",
    zero: "With one minibatch per step it is 0 by construction.",
  },
  {
    metric: "gap",
    key: "logp_gap",
    ...OF_TOKENS,
    quantity: "abs_log_prob",
    unit: "nats",
    floor: {
      healthy: 0,
      look: 1e-4,
      from:
        "sampler and trainer are one engine in f32: 0, or rounding where the adapter contracts products or reassociates sums",
    },
    says:
      "Mean |trainer − sampler| log-prob of trained tokens, before the first step of the update.",
  },
  {
    metric: "gap_max",
    key: "logp_gap_max",
    ...OF_TOKENS,
    quantity: "abs_log_prob",
    unit: "nats",
    says: "Largest |trainer − sampler| log-prob of a trained token.",
  },
  {
    metric: "loss",
    key: "loss",
    ...OF_MINIBATCHES,
    unit: "1",
    signed: true,
    says: "Surrogate with its KL and entropy terms; not a measure of progress.",
  },
  {
    metric: "grad_norm",
    key: "grad_norm",
    ...OF_MINIBATCHES,
    unit: "norm",
    says: "Norm of the gradient before clipping, mean over minibatches.",
    zero: "Every group was flat and there is no KL or entropy term.",
  },
];

/** agentrl. */
export const AGENTRL: Producer = {
  id: "agentrl",
  title: "agentrl",
  kind: "rl",
  // A file that shares some names is someone else's: `reward`, `entropy` and `loss` are everybody's words.
  recognise: ({ keys }) => missingKey((key) => keys.has(key)) === undefined ? 1 : 0,
  stepUnit: "rollout",
  eras: [],
  definitions: DEFINITIONS,
  alsoLogs: [
    /eval_pass_(?:low|high)|reads|tests|edits|malformed|hardcode|submitted|length_(?:pass|fail)/,
    /approx_kl_max|ratio_min|grad_norm_max|logp_gap_p99|loss_tokens/,
    /env\/[A-Za-z][A-Za-z0-9_]*/,
  ],
  // The column is there wherever the loss has a KL term.
  implied: ({ keys }) => keys.has("kl_ref") ? {} : { klCoef: 0 },
  switchOn: {
    kl_reference: "klCoef above 0",
    eval_score: "evalEvery above 0",
    tokens: "a replay of the step",
  },
  knobs: {},
};
