/** The training configuration: every key with its range, its default, and how a file and single settings change it. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { suggestName } from "../core/nearest.ts";
import { describeRule } from "../core/schema.ts";
import { ADAM_BETA1, ADAM_BETA2, ADAM_EPS } from "../equations/adam.ts";
import { BASELINE_DECAY, GROUP_STD_EPS } from "../equations/advantage.ts";
import { AGGREGATION_MODES, type AggregationMode } from "../equations/aggregate.ts";
import { KL_KINDS, type KlKind } from "../equations/policy_loss.ts";
import { type AlgorithmName, ALGORITHMS } from "./algorithms.ts";
import { describeUnread } from "./config_readers.ts";

/** A complete, checked configuration. The ranges are in the schema below. */
export interface TrainConfig {
  /** Which record of src/rl/algorithms.ts trains. */
  readonly algorithm: AlgorithmName;
  /** Seed of every random stream. */
  readonly seed: number;
  /** Number of batches of fresh episodes, each of which updates the policy. */
  readonly steps: number;

  /** The gym: `chapter6` shows names and allows any edits, `rl` hides names and lets one edit take effect. */
  readonly preset: "chapter6" | "rl";
  /** The tests that reward: `hidden`, or the hackable `public` ones. */
  readonly reward: "hidden" | "public";
  /** Calls in an episode. */
  readonly maxTurns: number;

  /** Episodes in a step, on tasks drawn with replacement (ungrouped algorithms only). */
  readonly episodes: number;
  /** Tasks in a step, drawn without replacement (grouped algorithms only). */
  readonly problems: number;
  /** Episodes of each task (grouped algorithms only). */
  readonly groupSize: number;
  /** How often groups of equal rewards are sampled again before the update (grouped algorithms only); 0: never. */
  readonly resampleRounds: number;
  /** Temperature of the sampler and of the log-probs that are trained. */
  readonly temperature: number;

  /** Added to a group's standard deviation before the division by it (grpo only). */
  readonly advantageEps: number;
  /** Share of the old value in the moving baseline (ungrouped algorithms only). */
  readonly baselineDecay: number;

  /** How the terms of all tokens become one number: src/equations/aggregate.ts. */
  readonly aggregation: AggregationMode;
  /** The divisor of `constant` (that aggregation only); null: episodes of the minibatch × maxTurns × 6 tokens of a call. */
  readonly normConst: number | null;
  /** The ratio is clipped from below to 1 − clipLow (algorithms with a clipped surrogate only). */
  readonly clipLow: number;
  /** The ratio is clipped from above to 1 + clipHigh (algorithms with a clipped surrogate only). */
  readonly clipHigh: number;
  /** Weight of the KL divergence from the reference. */
  readonly klCoef: number;
  /** Estimator of that divergence (klCoef above 0 only). */
  readonly klKind: KlKind;
  /** Weight of the entropy, which the loss rewards. */
  readonly entropyCoef: number;

  /** Passes over the batch of a step. */
  readonly epochs: number;
  /** Optimizer steps in a pass. */
  readonly minibatches: number;
  /** Parts of a minibatch whose gradients are accumulated. */
  readonly microbatches: number;
  /** Adam's step size. */
  readonly lr: number;
  /** Adam's decay of the first and the second moment. */
  readonly betas: readonly [number, number];
  /** Adam's constant below the fraction. */
  readonly eps: number;
  /** The gradient's norm is clipped to this. */
  readonly maxGradNorm: number;
  /** True: a step in which every advantage is 0 changes nothing; else Adam's moments still move the weights. */
  readonly skipZeroSignal: boolean;

  /** Steps between evaluations on the held-out tasks; 0: none. */
  readonly evalEvery: number;
  /** Episodes of each task in an evaluation. */
  readonly evalEpisodesPerTask: number;
  /** Steps between checkpoints; 0: only the last one. */
  readonly checkpointEvery: number;
  /** Steps between those whose episodes are written; 0: none. */
  readonly episodesEvery: number;
  /** Steps between those that are recorded for a replay; 0: none. */
  readonly recordEvery: number;
  /** A step is recorded, too, where a metric exceeds this multiple of its running median; 0: no such rule. */
  readonly recordSpikeFactor: number;
}

const count = z.int().min(1).max(4096);
/** An integer where 0 switches off. */
const every = z.int().min(0).max(1_000_000);
const coefficient = z.number().min(0).max(1000);
const share = z.number().min(0).lt(1);

/** What each key may hold. Keys that are not listed are refused. */
const trainSchema = z.strictObject({
  algorithm: z.enum(Object.keys(ALGORITHMS) as AlgorithmName[]),
  seed: z.int().min(0).max(2 ** 32 - 1),
  steps: z.int().min(1).max(1_000_000),

  preset: z.enum(["chapter6", "rl"]),
  reward: z.enum(["hidden", "public"]),
  maxTurns: z.int().min(1).max(64),

  episodes: count,
  problems: z.int().min(1).max(20), // The gym has 20 tasks for training.
  groupSize: z.int().min(2).max(4096), // One episode has no group to compare with.
  resampleRounds: z.int().min(0).max(64),
  temperature: z.number().min(0.01).max(100),

  advantageEps: z.number().min(0).max(1),
  baselineDecay: share,

  aggregation: z.enum(AGGREGATION_MODES),
  normConst: z.number().positive().nullable(),
  clipLow: share,
  clipHigh: coefficient,
  klCoef: coefficient,
  klKind: z.enum(KL_KINDS),
  entropyCoef: coefficient,

  epochs: z.int().min(1).max(64),
  minibatches: count,
  microbatches: count,
  lr: z.number().positive().max(10),
  betas: z.tuple([share, share]),
  eps: z.number().positive().max(1),
  maxGradNorm: z.number().positive(),
  skipZeroSignal: z.boolean(),

  evalEvery: every,
  evalEpisodesPerTask: count,
  checkpointEvery: every,
  episodesEvery: every,
  recordEvery: every,
  recordSpikeFactor: z.number().min(0).max(1e6),
}) satisfies z.ZodType<TrainConfig>;

/** Every key's default, before the algorithm's own; the aggregation's default is in the algorithm's record. */
export const COMMON_DEFAULTS: Omit<TrainConfig, "algorithm" | "aggregation"> = {
  seed: 0,
  steps: 24,
  preset: "rl",
  reward: "hidden",
  maxTurns: 6,
  episodes: 64,
  problems: 8,
  groupSize: 8,
  resampleRounds: 0,
  temperature: 1,
  advantageEps: GROUP_STD_EPS,
  baselineDecay: BASELINE_DECAY,
  normConst: null,
  clipLow: 0.2,
  clipHigh: 0.2,
  klCoef: 0,
  klKind: "k3",
  entropyCoef: 0,
  epochs: 1,
  minibatches: 2,
  microbatches: 1,
  lr: 1e-3,
  betas: [ADAM_BETA1, ADAM_BETA2],
  eps: ADAM_EPS,
  maxGradNorm: 1,
  skipZeroSignal: false,
  evalEvery: 8,
  evalEpisodesPerTask: 4,
  checkpointEvery: 10,
  episodesEvery: 1,
  recordEvery: 0,
  recordSpikeFactor: 0,
};

/** What an algorithm changes in the common defaults, where it changes any. */
export const ALGORITHM_DEFAULTS: Readonly<Partial<Record<AlgorithmName, Partial<TrainConfig>>>> = {
  reinforce: { preset: "chapter6", lr: 2e-3, steps: 80, minibatches: 1, evalEvery: 10 },
};

type Values = Readonly<Record<string, unknown>>;

/** Where values come from; later fields win over earlier ones. */
export interface ConfigSources {
  /** A JSON file: its text, and what error sentences call it. */
  readonly file?: { readonly name: string; readonly text: string };
  /** Values of flags of their own; undefined ones count as not given. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** `key=value` each; the value is JSON, or else text. */
  readonly sets?: readonly string[];
  /** A complete configuration in the place of the defaults: that of a run that goes on. */
  readonly stored?: TrainConfig;
}

function parseFile(file: ConfigSources["file"]): Values {
  if (file === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(file.text);
  } catch (error) {
    throw new UserError(
      `Cannot use ${file.name}: it is not valid JSON (${
        error instanceof Error ? error.message : error
      })`,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UserError(
      `Cannot use ${file.name}: it must hold one JSON object, such as {"steps": 24}`,
    );
  }
  return value as Values;
}

function parseSet(set: string): readonly [string, unknown] {
  const at = set.indexOf("=");
  if (at < 1) {
    throw new UserError(
      sentence`${setting("sets", set)}: it must have the form key=value, such as steps=24`,
    );
  }
  const text = set.slice(at + 1);
  try {
    return [set.slice(0, at), JSON.parse(text)];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [set.slice(0, at), text]; // What is no JSON is text, so that names need no quotes.
  }
}

function describeIssue(issue: z.core.$ZodIssue, values: Values): string {
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(trainSchema.shape);
    return issue.keys.map((key) => `unknown key "${key}": ${suggestName(key, known)}`).join("; ");
  }
  const [key, index] = issue.path;
  let found = values[String(key)];
  // The size of a list is a rule about the list itself; the rules about its items have an index.
  if (typeof index === "number" && Array.isArray(found)) found = found[index];
  const name = typeof index === "number" ? `${String(key)}[${index}]` : String(key);
  const shown = typeof found === "number" ? String(found) : JSON.stringify(found);
  return `${name} is ${shown} but ${describeRule(issue)}`;
}

function checkTogether(config: TrainConfig): void {
  const episodes = episodesPerStep(config);
  if (config.minibatches * config.microbatches > episodes) {
    throw new UserError(
      `Cannot train: ${config.minibatches} minibatches × ${config.microbatches} microbatches need as many episodes, ` +
        `but a step has ${episodes}`,
    );
  }
}

/**
 * Number of episodes in a step.
 *
 * @param config The configuration.
 * @returns problems × groupSize for grouped algorithms, `episodes` for the others.
 */
export function episodesPerStep(
  config: Pick<TrainConfig, "algorithm" | "episodes" | "problems" | "groupSize">,
): number {
  const { grouped } = ALGORITHMS[config.algorithm];
  return grouped ? config.problems * config.groupSize : config.episodes;
}

/**
 * Resolves a configuration: common defaults, then the algorithm's, the file's, the flags' and the single settings.
 *
 * @param sources Where values come from. Without an algorithm, `grpo` is taken.
 * @returns The complete configuration.
 * @throws {UserError} When the file is no JSON object, a key is unknown, a value is not allowed, a key is set that the others
 * leave without effect, or values contradict each other: one sentence each, with the key, what was found and what is allowed.
 * @example
 * ```ts
 * import { resolveConfig } from "agentrl";
 * const config = resolveConfig({ flags: { algorithm: "reinforce" }, sets: ["lr=0.001"] });
 * console.log(config.steps, config.lr); // 80 0.001
 * ```
 */
export function resolveConfig(sources: ConfigSources): TrainConfig {
  const { file, flags = {}, sets = [], stored } = sources;
  const givenFlags = Object.entries(flags).filter(([, value]) => value !== undefined);
  // Built from entries, so that a key such as "__proto__" is an unknown key like any other.
  const given: Values = Object.fromEntries([
    ...Object.entries(parseFile(file)),
    ...givenFlags,
    ...sets.map(parseSet),
  ]);
  const algorithm = trainSchema.shape.algorithm.catch("grpo").parse(given.algorithm);
  const defaults = stored ?? {
    ...COMMON_DEFAULTS,
    algorithm,
    aggregation: ALGORITHMS[algorithm].aggregation,
    ...ALGORITHM_DEFAULTS[algorithm],
  };
  const values: Values = Object.fromEntries([
    ...Object.entries(defaults),
    ...Object.entries(given),
  ]);
  const config = parseValues(values, "Cannot train");
  const unread = describeUnread(config, { given, defaults: new Map(Object.entries(defaults)) });
  if (unread !== undefined) throw new UserError(`Cannot train: ${unread}`);
  checkTogether(config);
  return config;
}

function parseValues(values: Values, attempt: string): TrainConfig {
  const result = trainSchema.safeParse(values);
  if (result.success) return result.data;
  const sentences = new Map(
    result.error.issues.map((issue) => [issue.path.join("."), describeIssue(issue, values)]),
  );
  throw new UserError(`${attempt}: ${[...sentences.values()].join("; ")}`);
}

/**
 * Checks a complete configuration, such as a run's own.
 *
 * @param values The values by key.
 * @param fileName What error sentences call the place where they stand.
 * @returns The same configuration, typed.
 * @throws {UserError} When a key is missing or unknown, or a value is not allowed.
 */
export function parseConfig(
  values: Readonly<Record<string, unknown>>,
  fileName: string,
): TrainConfig {
  return parseValues(values, `Cannot use ${fileName}`);
}
