/** The metrics dictionary: what each metric is, and what a departure from its healthy range points at. */
import type { MetricName } from "./metrics.ts";

/** What a metric is about. A failure shows in one group before it shows in the others. */
export type MetricGroup = "outcome" | "behaviour" | "optimizer" | "consistency";

/** One metric. */
export interface MetricEntry {
  readonly group: MetricGroup;
  readonly formula: string;
  readonly unit: string;
  /** What a departure from the healthy range points at (src/faults/healthy_ranges.ts has the ranges). */
  readonly flags: string;
}

/** Every metric of a row, in the order of the groups. d = log π − log π_old of a trained token, ρ = exp(d). */
export const METRICS = {
  reward: {
    group: "outcome",
    formula: "mean reward of the step's episodes",
    unit: "reward",
    flags: "falling: wrong sign, dead exploration; high while eval_pass is low: a hacked reward",
  },
  pass_rate: {
    group: "outcome",
    formula: "share of episodes that were submitted and pass the hidden tests",
    unit: "share",
    flags: "below reward: the reward measures something other than the goal",
  },
  eval_pass: {
    group: "outcome",
    formula: "pass_rate over held-out tasks, hidden tests",
    unit: "share",
    flags: "flat while reward rises: hacking, a shortcut, memorized tasks",
  },
  eval_pass_low: {
    group: "outcome",
    formula: "lower end of eval_pass's 95 % Wilson interval",
    unit: "share",
    flags: "overlapping intervals do not tell two runs apart",
  },
  eval_pass_high: {
    group: "outcome",
    formula: "upper end of eval_pass's 95 % Wilson interval",
    unit: "share",
    flags: "as eval_pass_low",
  },
  reads: {
    group: "behaviour",
    formula: "read calls of an episode, mean",
    unit: "calls",
    flags: "towards 0: exploration has died, the agent guesses",
  },
  tests: {
    group: "behaviour",
    formula: "test calls of an episode, mean",
    unit: "calls",
    flags: "rising with reward flat: wasted turns",
  },
  edits: {
    group: "behaviour",
    formula: "well-formed edits of an episode, mean, also those that change nothing",
    unit: "calls",
    flags: "far above 1: stacked guesses, which this gym does not reward",
  },
  malformed: {
    group: "behaviour",
    formula: "malformed calls of an episode, mean",
    unit: "calls",
    flags: "rising: the format is lost, by steps that are too large or by trained tokens of others",
  },
  hardcode: {
    group: "behaviour",
    formula: "share of episodes with a hardcode_tests call",
    unit: "share",
    flags: "rising: a hackable reward, or a policy that descends the reward",
  },
  submitted: {
    group: "behaviour",
    formula: "share of episodes that were submitted",
    unit: "share",
    flags: "falling: the budget is used up instead, the surest way to a reward of 0",
  },
  turns: {
    group: "behaviour",
    formula: "calls of an episode, mean",
    unit: "calls",
    flags: "rising towards the budget: a negated reward, long failures that cost nothing",
  },
  length: {
    group: "behaviour",
    formula: "policy tokens of an episode, mean",
    unit: "tokens",
    flags: "as turns; read length_pass and length_fail apart",
  },
  length_pass: {
    group: "behaviour",
    formula: "length of the passing episodes, mean; 0 where none passes",
    unit: "tokens",
    flags: "falling below a read, an edit and a submit: luck or a shortcut",
  },
  length_fail: {
    group: "behaviour",
    formula: "length of the failing episodes, mean; 0 where none fails",
    unit: "tokens",
    flags: "growing away from length_pass: an aggregation that is lenient on long failures",
  },
  entropy: {
    group: "optimizer",
    formula: "mean entropy of π over trained tokens",
    unit: "nats",
    flags:
      "falling ahead of the reward: collapse; rising: tokens of others, or steps that are too large",
  },
  approx_kl: {
    group: "optimizer",
    formula: "mean(exp(d) − 1 − d), each minibatch before its step, mean over minibatches",
    unit: "nats",
    flags: "large at step 0: the learning rate; exactly 0: π_old is recomputed inside the update",
  },
  approx_kl_max: {
    group: "optimizer",
    formula: "the largest minibatch's mean(exp(d) − 1 − d)",
    unit: "nats",
    flags: "as approx_kl; smoothed curves hide it",
  },
  clip_frac: {
    group: "optimizer",
    formula: "share of trained tokens with ρA > clip(ρ)A",
    unit: "share",
    flags: "0 at every step: the clip never acts, π_old moves along",
  },
  ratio_min: {
    group: "optimizer",
    formula: "smallest ρ of a minibatch, mean over minibatches",
    unit: "ratio",
    flags: "1 at every step: as clip_frac; far below 1 at once: π_old is not the trainer's",
  },
  ratio_max: {
    group: "optimizer",
    formula: "largest ρ of a minibatch, mean over minibatches",
    unit: "ratio",
    flags: "as ratio_min, upwards",
  },
  grad_norm: {
    group: "optimizer",
    formula: "norm of the gradient before clipping, mean over minibatches",
    unit: "norm",
    flags: "large: tokens of others are trained; 0: flat groups; small throughout: a wrong divisor",
  },
  grad_norm_max: {
    group: "optimizer",
    formula: "the largest minibatch's norm",
    unit: "norm",
    flags: "a spike: record the step and replay it",
  },
  kl_ref: {
    group: "optimizer",
    formula: "mean k3 estimate of KL(π ‖ π_ref) over trained tokens; absent without a KL term",
    unit: "nats",
    flags: "exactly 0 after a step: the reference is the policy itself",
  },
  zero_adv_frac: {
    group: "optimizer",
    formula: "share of groups whose rewards are all equal (ungrouped: the batch is one group)",
    unit: "share",
    flags: "towards 1: no signal is left; all_pass and all_fail tell success from death",
  },
  all_pass: {
    group: "optimizer",
    formula: "share of groups in which every episode is rewarded",
    unit: "share",
    flags: "towards 1: the tasks are solved, or hacked",
  },
  all_fail: {
    group: "optimizer",
    formula: "share of groups in which no episode is rewarded",
    unit: "share",
    flags: "towards 1: the tasks are out of reach, or exploration has died",
  },
  loss: {
    group: "optimizer",
    formula:
      "surrogate + KL coefficient · KL − entropy coefficient · entropy, mean over minibatches",
    unit: "loss",
    flags: "little: its value does not measure success; not finite: the run ends",
  },
  logp_gap: {
    group: "consistency",
    formula: "mean |trainer − sampler| log-prob of trained tokens, first minibatch before its step",
    unit: "nats",
    flags:
      "above rounding (0, or about 1e-6 where info says that the adapter contracts or reassociates): a shifted mask, another temperature, other weights in the sampler",
  },
  logp_gap_max: {
    group: "consistency",
    formula: "largest |trainer − sampler|",
    unit: "nats",
    flags: "large with a small mean: few tokens are wrong, as at the edges of a mask",
  },
  logp_gap_p99: {
    group: "consistency",
    formula: "0.99 quantile of |trainer − sampler|",
    unit: "nats",
    flags: "as logp_gap; the statistic to watch where the engines round differently",
  },
  loss_tokens: {
    group: "consistency",
    formula: "trained tokens of an episode, mean",
    unit: "tokens",
    flags: "other than length: the loss mask is not the policy's tokens",
  },
} as const satisfies Readonly<Record<MetricName, MetricEntry>>;
