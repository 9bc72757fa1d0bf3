/** The metrics of a training step, in four groups: outcome, behaviour, optimizer, consistency. One row per step. */
import { at } from "../core/element.ts";
import { largest, mean, quantile, type RateInterval, wilsonInterval } from "../core/statistics.ts";
import type { TrainBatch } from "./train_batch.ts";
import type { StepReport } from "./trainer.ts";
import type { MinibatchReport, UpdateReport } from "./update_report.ts";
import { BUGFIX_RULES } from "../rollout/bugfix_source.ts";
import { type EpisodeRules, LOST_EPISODES, type OwnMetricName } from "../rollout/episode_source.ts";
import type { Trajectory } from "../rollout/trajectory.ts";

/** What the step's episodes earned. */
export interface OutcomeMetrics {
  /** Mean reward. */
  readonly reward: number;
  /** Share of the episodes that pass: in BugFix those that were submitted and pass the hidden tests, whatever was rewarded. */
  readonly pass_rate: number;
  /** The same share over held-out tasks; absent where the step was not evaluated. */
  readonly eval_pass?: number;
  /** Lower end of its 95 % Wilson interval. */
  readonly eval_pass_low?: number;
  /** Upper end of its 95 % Wilson interval. */
  readonly eval_pass_high?: number;
}

/** What the agent did. Counts are means over the episodes, lengths are in policy tokens. */
export interface BehaviourMetrics {
  /** Calls of `read`; this and what else may be missing is BugFix's. */
  readonly reads?: number;
  /** Calls of `test`. */
  readonly tests?: number;
  /** Well-formed edits, including those that changed nothing. */
  readonly edits?: number;
  /** Calls that are not valid. */
  readonly malformed: number;
  /** Share of the episodes with a `hardcode_tests`. */
  readonly hardcode?: number;
  /** Share of the episodes that were submitted. */
  readonly submitted?: number;
  /** Calls of an episode. */
  readonly turns: number;
  /** Policy tokens of an episode. */
  readonly length: number;
  /** Of the passing episodes; 0 where none passes. */
  readonly length_pass: number;
  /** Of the failing episodes; 0 where none fails. */
  readonly length_fail: number;
}

/** What the update did, over the trained tokens. `metric_dictionary.ts` has the formulas. */
export interface OptimizerMetrics {
  /** Mean entropy of the policy, in nats. */
  readonly entropy: number;
  /** Mean k3 estimate of the KL divergence from the old policy, in nats. */
  readonly approx_kl: number;
  /** The largest of a minibatch. */
  readonly approx_kl_max: number;
  /** Share of tokens whose gradient the clip removed. */
  readonly clip_frac: number;
  /** Smallest ratio, averaged over the minibatches. */
  readonly ratio_min: number;
  /** Largest ratio, averaged over the minibatches. */
  readonly ratio_max: number;
  /** Norm of the gradient before clipping. */
  readonly grad_norm: number;
  /** The largest of a minibatch. */
  readonly grad_norm_max: number;
  /** Absent where the loss has no KL term, and so no reference was scored. */
  readonly kl_ref?: number;
  /** Share of groups whose rewards are all equal, which carry no signal. */
  readonly zero_adv_frac: number;
  /** Share of groups that all pass. */
  readonly all_pass: number;
  /** Share of groups that all fail. */
  readonly all_fail: number;
  /** The loss of the minibatches. */
  readonly loss: number;
}

/** What must be a fixed value in a correct trainer. */
export interface ConsistencyMetrics {
  /** Mean |trainer − sampler| log-prob of a trained token, in nats. */
  readonly logp_gap: number;
  /** The largest one. */
  readonly logp_gap_max: number;
  /** Its 0.99 quantile. */
  readonly logp_gap_p99: number;
  /** Trained tokens of an episode. */
  readonly loss_tokens: number;
}

/** One row of metrics.jsonl; its keys are a file format. */
export type MetricsRow =
  & { readonly step: number }
  & OutcomeMetrics
  & BehaviourMetrics
  & OptimizerMetrics
  & ConsistencyMetrics
  & { readonly [own: OwnMetricName]: number };

/** Name of a metric of every run. */
export type MetricName = Exclude<keyof MetricsRow, "step" | OwnMetricName>;

/** The share of episodes that pass, with its 95 % Wilson interval. */
export function passInterval(
  episodes: readonly Trajectory[],
  rules: EpisodeRules,
): RateInterval {
  const passed = episodes.filter((episode) => rules.hasPassed(episode)).length;
  return wilsonInterval(passed, episodes.length);
}

function evaluationMetrics(
  evaluation: readonly Trajectory[] | undefined,
  rules: EpisodeRules,
) {
  if (!evaluation) return {};
  const { rate, low, high } = passInterval(evaluation, rules);
  return { eval_pass: rate, eval_pass_low: low, eval_pass_high: high };
}

/**
 * Shares of the groups whose rewards are all equal: they carry no signal. A batch in which no two episodes share a group
 * (an ungrouped algorithm) counts as one group, so the shares are then 0 or 1.
 */
function flatGroups({ rewards_B, groupId_B }: TrainBatch) {
  const rewardsOf = new Map<number, number[]>();
  const isGrouped = new Set(groupId_B).size < groupId_B.length;
  rewards_B.forEach((reward, b) => {
    const id = isGrouped ? at(groupId_B, b) : 0;
    const rewards = rewardsOf.get(id);
    if (rewards) rewards.push(reward);
    else rewardsOf.set(id, [reward]);
  });
  const flat = [...rewardsOf.values()].filter((rewards) => rewards.every((r) => r === rewards[0]));
  const share = (count: number) => count / rewardsOf.size;
  const passing = flat.filter(([reward = 0]) => reward > 0).length;
  return {
    zero_adv_frac: share(flat.length),
    all_pass: share(passing),
    all_fail: share(flat.length - passing),
  };
}

function optimizerMetrics({ minibatches, hasReference }: UpdateReport) {
  const meanOf = (value: (minibatch: MinibatchReport) => number) => mean(minibatches.map(value));
  const largestOf = (value: (minibatch: MinibatchReport) => number) =>
    largest(minibatches.map(value));
  return {
    entropy: meanOf(({ statistics }) => statistics.entropy),
    approx_kl: meanOf(({ statistics }) => statistics.approxKl),
    approx_kl_max: largestOf(({ statistics }) => statistics.approxKl),
    clip_frac: meanOf(({ statistics }) => statistics.clipFraction),
    ratio_min: meanOf(({ statistics }) => statistics.ratioMin),
    ratio_max: meanOf(({ statistics }) => statistics.ratioMax),
    grad_norm: meanOf(({ gradNorm }) => gradNorm),
    grad_norm_max: largestOf(({ gradNorm }) => gradNorm),
    ...(hasReference ? { kl_ref: meanOf(({ statistics }) => statistics.klRef) } : {}),
    loss: meanOf(({ statistics }) => statistics.loss),
  };
}

/** From the first minibatch's own forward: no step has moved the weights since the episodes were sampled. */
function consistencyMetrics({ minibatches: [first], mask_BC }: UpdateReport, episodeCount: number) {
  const gaps_N = first?.logpGaps_N ?? [];
  const isEmpty = gaps_N.length === 0; // Nothing is trained, so nothing can disagree.
  return {
    logp_gap: isEmpty ? 0 : mean(gaps_N),
    logp_gap_max: isEmpty ? 0 : quantile(gaps_N, 1),
    logp_gap_p99: isEmpty ? 0 : quantile(gaps_N, 0.99),
    loss_tokens: mask_BC.reduce((sum, trained) => sum + trained, 0) / episodeCount,
  };
}

/**
 * The row of a step.
 *
 * @param report What the trainer says about the step.
 * @param options.evaluation Episodes on held-out tasks, where the step was evaluated.
 * @param options.rules How its episodes are read (default as those of BugFix).
 * @returns The metrics under the keys of metrics.jsonl.
 * @throws {RangeError} When the batch or the evaluation holds no episode.
 */
export function metricsRow(
  report: StepReport,
  options: {
    readonly evaluation?: readonly Trajectory[] | undefined;
    readonly rules?: EpisodeRules;
  } = {},
): MetricsRow {
  const { step, batch, update } = report;
  const { evaluation } = options;
  const rules: EpisodeRules = options.rules ?? BUGFIX_RULES;
  const { trajectories, rewards_B, lost = [] } = batch;
  return {
    step,
    reward: mean(rewards_B),
    pass_rate: passInterval(trajectories, rules).rate,
    ...evaluationMetrics(evaluation, rules),
    ...rules.behaviour(trajectories),
    ...(lost.length > 0 && { [LOST_EPISODES]: lost.length }),
    ...optimizerMetrics(update),
    ...flatGroups(batch),
    ...consistencyMetrics(update, trajectories.length),
  };
}
