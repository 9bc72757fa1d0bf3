/** What a metric is: the canonical names, and what each producer's key of it really measures. */
import type { LogSettings } from "../logs/run_log.ts";

/** The canonical metrics with what each is, whoever logs it. Rules ask for these, never for a producer's key. */
export const CANONICAL = {
  reward: "mean reward of the step's episodes",
  reward_component: "mean of one reward function; the part is its name",
  reward_component_std: "spread of one reward function over the batch; the part is its name",
  reward_std: "spread of the rewards; over what differs by producer and era",
  reward_max: "the best reward of the step's episodes",
  reward_min: "the worst reward of the step's episodes",
  eval_score: "reward or pass rate on tasks that are not trained on; the part is the data set",
  advantage_mean: "mean of the advantages",
  flat_groups: "share of groups (or of their samples) whose rewards are all equal",
  all_solved: "share of groups whose rewards are all good",
  none_solved: "share of groups whose rewards are all bad",
  truncated: "share of completions that were cut off",
  length: "mean length of a completion, in tokens",
  length_max: "the longest completion",
  length_terminated: "mean length of the completions that ended by themselves",
  turns: "mean number of turns or tool calls of an episode",
  errors: "share of episodes that failed for a reason outside the policy",
  entropy: "mean entropy of the policy at trained tokens",
  kl_reference: "divergence of the policy from the reference",
  kl_teacher: "divergence of the policy from a teacher that it learns from",
  kl_old: "divergence of the policy from the one that the batch was scored with",
  kl_update: "divergence that the step's own updates made",
  ratio: "mean of π/π_old over trained tokens",
  ratio_max: "the largest π/π_old",
  clip_fraction: "share of tokens whose gradient the clip removed",
  gap: "disagreement of sampler and trainer about the same tokens",
  gap_max: "the largest disagreement of sampler and trainer",
  importance_weight: "mean correction weight of trainer against sampler",
  masked_by_correction: "share of tokens that the sampler correction leaves out",
  staleness: "steps between the weights that sampled and those that train",
  loss: "the loss as it is logged",
  grad_norm: "norm of the gradient",
  learning_rate: "learning rate of the step",
  value_loss: "the loss of the value function",
  value_explained: "explained variance of the value function",
  step_time: "wall time of a step, in seconds",
  throughput: "tokens per second",
  tokens: "tokens so far or in the step",
  epoch: "passes over the prompts so far",
} as const satisfies Readonly<Record<string, string>>;

/** Name of a canonical metric. */
export type CanonicalMetric = keyof typeof CANONICAL;

/** What is measured where one metric has several definitions: a rule asks for those that it can use. */
export type Quantity =
  /** Gaps. */
  | "abs_log_prob" // mean |Δ log p|, nats
  | "signed_log_prob" // mean Δ log p: can hide a large spread near 0
  | "k3" // mean(exp(d) − 1 − d), also of KLs
  | "half_square" // mean d²/2, also of KLs
  | "abs_probability" // mean |Δ p|: not nats
  | "exp_abs_log_prob" // mean exp|Δ log p|: 1 is perfect
  /** KLs and entropies. */
  | "k1" // mean of a signed log-ratio
  | "k1_sum" // log-ratio summed over an answer: not per token
  | "k2"
  | "full" // from the whole distribution
  | "sampled" // −mean log-prob of the sampled tokens
  | "sampled_sum" // −log-prob summed over an answer: not per token
  | "chosen_at_runtime" // a configuration decides, and the log does not say
  /** Spreads and shares. */
  | "batch_std"
  | "group_std"
  | "std_used_for_scaling"
  | "no_end_token" // truncation: the last token is not an end of sequence
  | "at_cap" // truncation: the length equals the cap
  | "stopped_by_length" // truncation: the engine says so
  /** Others. */
  | "plain";

/** Over what a value is averaged. */
export type Over =
  | "tokens"
  | "sequences" // mean of each sequence's own value
  | "samples" // episodes or completions
  | "groups"
  | "turns"
  | "minibatches"
  | "step"
  | "unknown"; // the log does not tell

/** What of the steps since the last row a value speaks of. */
export type LogWindow =
  | "step" // the step itself
  | "mean" // mean over the steps since the last row
  | "last" // the last step before the row
  | "mean_of_extremes"; // an extreme of each batch, averaged

/** What a value counts in. A `1` is a number without a unit: a loss, an explained variance. */
export type Unit =
  | "nats"
  | "share"
  | "tokens"
  | "reward"
  | "probability"
  | "ratio"
  | "norm"
  | "turns"
  | "steps"
  | "s"
  | "tokens/s"
  | "epochs"
  | "1";

/** Values up to `healthy` are noise, from `look` on they are worth a look. */
export interface Floor {
  readonly healthy: number;
  readonly look: number;
  /** Where the two come from. */
  readonly from: string;
}

/** One key of one producer. */
export interface MetricDefinition {
  readonly metric: CanonicalMetric;
  /** The key without a tracker's prefix; a pattern must match all of it, and its group `part` names the part. */
  readonly key: string | RegExp;
  readonly quantity: Quantity;
  readonly over: Over;
  readonly window: LogWindow;
  readonly unit: Unit;
  /** True where the value can be negative by its definition. */
  readonly signed?: boolean;
  /** The eras of the producer in which it holds; all of them where it is left out. */
  readonly eras?: readonly string[];
  /** The definition in one sentence, with its trap. */
  readonly says: string;
  /** What 0 means where it is not simply small: by construction, absent, rounded. */
  readonly zero?: string;
  /** What NaN or a missing value means. */
  readonly nan?: string;
  /** True where a setting that the log does not show can switch it off: then it is 0 by construction, as `zero` says. */
  readonly maybeOff?: true;
  /** The setting without which the key is not logged at all: where it is there, the setting is on. */
  readonly onlyWith?: "klCoef";
  /** Decimals that the producer keeps before any file is written; what a file rounds besides is its column's. */
  readonly decimals?: number;
  /** What a healthy run shows by the producer's own word. */
  readonly floor?: Floor;
}

/** What a file can lack; a producer says how to switch it on. */
export type Need =
  | "gap"
  | "truncated"
  | "entropy"
  | "kl_reference"
  | "kl_old"
  | "clip_fraction"
  | "flat_groups"
  | "reward_components"
  | "eval_score"
  | "grad_norm"
  | "every_step" // a row for each step
  | "tokens"; // a dump of tokens and log-probs

/** What a user can turn; a producer says what it is called there. */
export type Knob =
  | "maxLength"
  | "groupSize"
  | "learningRate"
  | "warmup"
  | "gradientClip"
  | "klCoef"
  | "entropyCoef"
  | "temperature"
  | "updatesPerBatch"
  | "clipRange"
  | "rewardWeights"
  | "overlongPenalty"
  | "lossAggregation"
  | "dynamicSampling"
  | "samplerCorrection"
  | "samplerPrecision"
  | "weightSync"
  | "resume"
  | "plannedSteps"
  | "checkpoint";

/** What a log shows of itself to whoever must tell its writer. Keys are without a tracker's prefix, and with it. */
export interface LogTraits {
  readonly keys: ReadonlySet<string>;
  /** The form that the log was read from, for example `trainer_state`. */
  readonly form: string;
  /** The finite values of a key, in the order of the file; empty where there are none. Of a long log the first thousands. */
  values(key: string): readonly number[];
  /** The values of two keys in the rows in which both are finite, as many. */
  together(first: string, second: string): readonly (readonly [number, number])[];
}

/** A stretch of a producer's history in which its keys mean the same. */
export interface Era {
  readonly id: string;
  /** For people, for example `since 2026-01-15`. */
  readonly title: string;
  /**
   * Whether a log can be of this era. The era is told where exactly one fits; where several do, a key is used only for what
   * all of them agree on.
   */
  readonly fits: (traits: LogTraits) => boolean;
}

/** What a run trains by. */
export type TrainingKind =
  /** From rewards of its own samples. */
  | "rl"
  /** From given answers. */
  | "sft"
  /** From given pairs or ratings of answers (DPO and its relatives, reward models). */
  | "preference";

/** A training framework as a writer of logs. A new one is a file with one of these, and a line in `src/producers/producers.ts`. */
export interface Producer {
  /** For example `trl`. */
  readonly id: string;
  /** For people, for example `TRL`. */
  readonly title: string;
  readonly kind: TrainingKind;
  /** How surely a log is this producer's, by its keys above all: 0 to 1. */
  readonly recognise: (traits: LogTraits) => number;
  /** What a step of its log is. */
  readonly stepUnit: "optimizer step" | "rollout" | "environment step";
  /** The oldest first; empty where its keys have always meant the same. */
  readonly eras: readonly Era[];
  /** Of several keys of one metric the preferred one first. */
  readonly definitions: readonly MetricDefinition[];
  /** Keys that are known to be its, and measure no canonical metric. */
  readonly alsoLogs: readonly RegExp[];
  /** True where a value that is not finite is left out of the file: then a key that stops appearing is one. */
  readonly dropsNonFinite?: true;
  /** Settings that follow from what it logs, or from how it is built. */
  readonly implied?: (traits: LogTraits) => LogSettings;
  /** How a user of it switches on what a log lacks: the exact flag or key, in its own spelling. */
  readonly switchOn: Partial<Readonly<Record<Need, string>>>;
  /** Names of its settings. */
  readonly knobs: Partial<Readonly<Record<Knob, string>>>;
}
