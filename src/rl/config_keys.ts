/** Every key of the training configuration: what it means, what it may hold, and what it is where nobody sets it. */
import * as z from "zod";
import { ADAM_BETA1, ADAM_BETA2, ADAM_EPS } from "../equations/adam.ts";
import { BASELINE_DECAY, GROUP_STD_EPS } from "../equations/advantage.ts";
import { AGGREGATION_MODES, type AggregationMode } from "../equations/aggregate.ts";
import { KL_KINDS, type KlKind } from "../equations/policy_loss.ts";
import { type AlgorithmName, ALGORITHMS } from "./algorithms.ts";

/** A complete, checked configuration. What each key may hold is in {@linkcode CONFIG_KEYS}. */
export interface TrainConfig {
  /** The algorithm, a record in src/rl/algorithms.ts. */
  readonly algorithm: AlgorithmName;
  /** Seed of every random stream. */
  readonly seed: number;
  /** Batches of fresh episodes, each of which updates the policy. */
  readonly steps: number;

  /** The gym: chapter6 shows task names and allows any number of edits; rl hides the names and lets one edit take effect. */
  readonly preset: "chapter6" | "rl";
  /** The tests that reward: hidden, or the hackable public ones. */
  readonly reward: "hidden" | "public";
  /** Calls in an episode. */
  readonly maxTurns: number;

  /** Episodes in a step, on tasks drawn with replacement. */
  readonly episodes: number;
  /** Tasks in a step, drawn without replacement. */
  readonly problems: number;
  /** Episodes of each task. */
  readonly groupSize: number;
  /** How often groups of equal rewards are resampled before the update; 0: never. */
  readonly resampleRounds: number;
  /** Temperature of the sampler and of the log-probs that are trained. */
  readonly temperature: number;

  /** Added to a group's standard deviation before dividing by it. */
  readonly advantageEps: number;
  /** Share of the old value in the moving baseline. */
  readonly baselineDecay: number;

  /** How the terms of all tokens become one number. */
  readonly aggregation: AggregationMode;
  /** Divisor of the constant aggregation; null: episodes of the minibatch × maxTurns × 6 tokens of a call. */
  readonly normConst: number | null;
  /** The ratio is clipped below at 1 − clipLow. */
  readonly clipLow: number;
  /** The ratio is clipped above at 1 + clipHigh. */
  readonly clipHigh: number;
  /** Weight of the KL divergence from the reference. */
  readonly klCoef: number;
  /** Estimator of that divergence. */
  readonly klKind: KlKind;
  /** Weight of the entropy, which the loss rewards. */
  readonly entropyCoef: number;

  /** Passes over a step's batch. */
  readonly epochs: number;
  /** Optimizer steps in a pass. */
  readonly minibatches: number;
  /** Parts of a minibatch whose gradients are accumulated. */
  readonly microbatches: number;
  /** Adam's step size. */
  readonly lr: number;
  /** Adam's decay of the first and the second moment. */
  readonly betas: readonly [number, number];
  /** Adam's constant in the denominator. */
  readonly eps: number;
  /** The gradient's norm is clipped to this. */
  readonly maxGradNorm: number;
  /** True: a step in which every advantage is 0 changes nothing; false: Adam's moments still move the weights. */
  readonly skipZeroSignal: boolean;

  /** Steps between evaluations on the held-out tasks; 0: none. */
  readonly evalEvery: number;
  /** Episodes of each task in an evaluation. */
  readonly evalEpisodesPerTask: number;
  /** Steps between checkpoints; 0: only the last one. */
  readonly checkpointEvery: number;
  /** Steps between those whose episodes are written; 0: none. */
  readonly episodesEvery: number;
  /** Steps between those after which the checks are repeated; 0: none. */
  readonly checkEvery: number;
  /** Steps between those that are recorded for a replay; 0: none. */
  readonly recordEvery: number;
  /** A step is also recorded where a metric exceeds this multiple of its running median; 0: off. */
  readonly recordSpikeFactor: number;
}

/** Episodes of a step at most, and problems and episodes of a problem. */
export const MAX_EPISODES = 4096;

const count = z.int().min(1).max(MAX_EPISODES);
/** An integer where 0 switches off. */
const every = z.int().min(0).max(1_000_000);
const coefficient = z.number().min(0).max(1000);
const share = z.number().min(0).lt(1);

/** One key of the configuration. */
export interface ConfigKey<T> {
  /** A phrase for people. */
  readonly meaning: string;
  readonly schema: z.ZodType<T>;
  /** Before an algorithm's own; missing where every algorithm has its own. */
  readonly default?: T;
}

/** Every key: what it means, what it may hold, and what it is where nobody sets it. Other keys are refused. */
export const CONFIG_KEYS = {
  algorithm: {
    meaning: "the algorithm, a record in src/rl/algorithms.ts",
    schema: z.enum(Object.keys(ALGORITHMS) as AlgorithmName[]),
    default: "grpo",
  },
  seed: {
    meaning: "seed of every random stream",
    schema: z.int().min(0).max(2 ** 32 - 1),
    default: 0,
  },
  steps: {
    meaning: "batches of fresh episodes, each of which updates the policy",
    schema: z.int().min(1).max(1_000_000),
    default: 24,
  },

  preset: {
    meaning: "the gym: chapter6 shows task names and allows any number of edits; " +
      "rl hides the names and lets one edit take effect",
    schema: z.enum(["chapter6", "rl"]),
    default: "rl",
  },
  reward: {
    meaning: "the tests that reward: hidden, or the hackable public ones",
    schema: z.enum(["hidden", "public"]),
    default: "hidden",
  },
  maxTurns: { meaning: "calls in an episode", schema: z.int().min(1).max(64), default: 6 },

  episodes: {
    meaning: "episodes in a step, on tasks drawn with replacement",
    schema: count,
    default: 64,
  },
  problems: {
    meaning: "tasks in a step, drawn without replacement",
    schema: z.int().min(1).max(20), // The gym has 20 tasks for training.
    default: 8,
  },
  groupSize: {
    meaning: "episodes of each task",
    schema: z.int().min(2).max(4096), // One episode has no group to compare with.
    default: 8,
  },
  resampleRounds: {
    meaning: "how often groups of equal rewards are resampled before the update; 0: never",
    schema: z.int().min(0).max(64),
    default: 0,
  },
  temperature: {
    meaning: "temperature of the sampler and of the log-probs that are trained",
    schema: z.number().min(0.01).max(100),
    default: 1,
  },

  advantageEps: {
    meaning: "added to a group's standard deviation before dividing by it",
    schema: z.number().min(0).max(1),
    default: GROUP_STD_EPS,
  },
  baselineDecay: {
    meaning: "share of the old value in the moving baseline",
    schema: share,
    default: BASELINE_DECAY,
  },

  aggregation: {
    meaning: "how the terms of all tokens become one number",
    schema: z.enum(AGGREGATION_MODES),
  },
  normConst: {
    meaning: "divisor of the constant aggregation; null: episodes of the minibatch × maxTurns × " +
      "6 tokens of a call",
    schema: z.number().positive().nullable(),
    default: null,
  },
  clipLow: { meaning: "the ratio is clipped below at 1 − clipLow", schema: share, default: 0.2 },
  clipHigh: {
    meaning: "the ratio is clipped above at 1 + clipHigh",
    schema: coefficient,
    default: 0.2,
  },
  klCoef: {
    meaning: "weight of the KL divergence from the reference",
    schema: coefficient,
    default: 0,
  },
  klKind: { meaning: "estimator of that divergence", schema: z.enum(KL_KINDS), default: "k3" },
  entropyCoef: {
    meaning: "weight of the entropy, which the loss rewards",
    schema: coefficient,
    default: 0,
  },

  epochs: { meaning: "passes over a step's batch", schema: z.int().min(1).max(64), default: 1 },
  minibatches: { meaning: "optimizer steps in a pass", schema: count, default: 2 },
  microbatches: {
    meaning: "parts of a minibatch whose gradients are accumulated",
    schema: count,
    default: 1,
  },
  lr: { meaning: "Adam's step size", schema: z.number().positive().max(10), default: 1e-3 },
  betas: {
    meaning: "Adam's decay of the first and the second moment",
    schema: z.tuple([share, share]),
    default: [ADAM_BETA1, ADAM_BETA2],
  },
  eps: {
    meaning: "Adam's constant in the denominator",
    schema: z.number().positive().max(1),
    default: ADAM_EPS,
  },
  maxGradNorm: {
    meaning: "the gradient's norm is clipped to this",
    schema: z.number().positive(),
    default: 1,
  },
  skipZeroSignal: {
    meaning: "true: a step in which every advantage is 0 changes nothing; false: Adam's moments " +
      "still move the weights",
    schema: z.boolean(),
    default: false,
  },

  evalEvery: {
    meaning: "steps between evaluations on the held-out tasks; 0: none",
    schema: every,
    default: 8,
  },
  evalEpisodesPerTask: {
    meaning: "episodes of each task in an evaluation",
    schema: count,
    default: 4,
  },
  checkpointEvery: {
    meaning: "steps between checkpoints; 0: only the last one",
    schema: every,
    default: 10,
  },
  episodesEvery: {
    meaning: "steps between those whose episodes are written; 0: none",
    schema: every,
    default: 1,
  },
  checkEvery: {
    meaning: "steps between those after which the checks are repeated; 0: none",
    // Runs of earlier versions do not have the key.
    schema: every.default(0),
    default: 0,
  },
  recordEvery: {
    meaning: "steps between those that are recorded for a replay; 0: none",
    schema: every,
    default: 0,
  },
  recordSpikeFactor: {
    meaning:
      "a step is also recorded where a metric exceeds this multiple of its running median; " +
      "0: off",
    schema: z.number().min(0).max(1e6),
    default: 0,
  },
} as const satisfies { readonly [Key in keyof TrainConfig]: ConfigKey<TrainConfig[Key]> };

/** Every key's default, before the algorithm's own; the aggregation's default is in the algorithm's record. */
export const COMMON_DEFAULTS: Omit<TrainConfig, "algorithm" | "aggregation"> = Object.fromEntries(
  Object.entries(CONFIG_KEYS).flatMap(([key, entry]) =>
    key === "algorithm" || !("default" in entry) ? [] : [[key, entry.default] as const]
  ),
) as Omit<TrainConfig, "algorithm" | "aggregation">;

/** What an algorithm changes in the common defaults, where it changes any. */
export const ALGORITHM_DEFAULTS: Readonly<Partial<Record<AlgorithmName, Partial<TrainConfig>>>> = {
  reinforce: { preset: "chapter6", lr: 2e-3, steps: 80, minibatches: 1, evalEvery: 10 },
};
