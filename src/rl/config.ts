/** Resolves the training configuration: defaults, then a file, flags and single settings, each value checked. */
import * as z from "zod";
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { suggestName } from "../core/nearest.ts";
import { describeRule } from "../core/schema.ts";
import type { EnvironmentFacts } from "../gym/environment_definition.ts";
import { ALGORITHMS } from "./algorithms.ts";
import {
  ALGORITHM_DEFAULTS,
  COMMON_DEFAULTS,
  CONFIG_KEYS,
  MAX_EPISODES,
  type TrainConfig,
} from "./config_keys.ts";
import { describeUnread } from "./config_readers.ts";

export type { TrainConfig };

type Schemas = { [Key in keyof TrainConfig]: (typeof CONFIG_KEYS)[Key]["schema"] };

const trainSchema = z.strictObject(
  Object.fromEntries(
    Object.entries(CONFIG_KEYS).map(([key, { schema }]) => [key, schema]),
  ) as Schemas,
) satisfies z.ZodType<TrainConfig>;

type Values = Readonly<Record<string, unknown>>;

/** Where values come from; later fields win over earlier ones. */
export interface ConfigSources {
  /** A JSON file: its text, and what error sentences call it. */
  readonly file?: { readonly name: string; readonly text: string };
  /** Values of flags of their own; undefined ones count as not given. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** `key=value` each; the value is JSON, or else text. */
  readonly sets?: readonly string[];
  /** What suits the agent that is trained: wins over the defaults only. */
  readonly suited?: Partial<TrainConfig>;
  /** A complete configuration in place of the defaults: that of a run that continues. */
  readonly stored?: TrainConfig;
  /** The environment that is trained in; undefined: the gym that ships. */
  readonly environment?: ConfiguredEnvironment | undefined;
}

/** What a configuration must know of an environment of a user's. */
export type ConfiguredEnvironment = Pick<EnvironmentFacts, "name" | "tasks">;

/** The keys in an environment: it has tasks of its own. */
function schemaOf(environment: ConfiguredEnvironment | undefined): z.ZodType<TrainConfig> {
  if (environment === undefined) return trainSchema;
  const problems = z.int().min(1).max(Math.min(environment.tasks.train, MAX_EPISODES));
  return trainSchema.extend({ problems });
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
    return [set.slice(0, at), text]; // Whatever is not JSON is text, so that names need no quotes.
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
 * Resolves a configuration: common defaults, then the algorithm's, what suits the agent, the file's, the flags' and the single settings.
 *
 * @param sources Where values come from. Without an algorithm, `grpo` is used.
 * @returns The complete configuration.
 * @throws {UserError} When the file is not a JSON object, a key is unknown, a value is not allowed, a key is set that the others
 * leave without effect, or values contradict each other: one sentence each, with the key, what was found and what is allowed.
 * @example
 * ```ts
 * import { resolveConfig } from "agentrl";
 * const config = resolveConfig({ flags: { algorithm: "reinforce" }, sets: ["lr=0.001"] });
 * console.log(config.steps, config.lr); // 80 0.001
 * ```
 */
export function resolveConfig(sources: ConfigSources): TrainConfig {
  const { file, flags = {}, sets = [], suited = {}, stored, environment } = sources;
  const givenFlags = Object.entries(flags).filter(([, value]) => value !== undefined);
  // Built from entries, so that a key such as "__proto__" is an unknown key like any other.
  const given: Values = Object.fromEntries([
    ...Object.entries(parseFile(file)),
    ...givenFlags,
    ...sets.map(parseSet),
  ]);
  const { schema, default: usual } = CONFIG_KEYS.algorithm;
  const algorithm = schema.catch(usual).parse(given.algorithm);
  const defaults = stored ?? {
    ...COMMON_DEFAULTS,
    algorithm,
    aggregation: ALGORITHMS[algorithm].aggregation,
    ...ALGORITHM_DEFAULTS[algorithm],
    ...(environment && suitedTo(environment)),
    ...suited,
  };
  const values: Values = Object.fromEntries([
    ...Object.entries(defaults),
    ...Object.entries(given),
  ]);
  const config = parseValues(values, { attempt: "Cannot train", environment });
  const unread = describeUnread({ ...config, environment: environment?.name }, {
    given,
    defaults: new Map(Object.entries(defaults)),
  });
  if (unread !== undefined) throw new UserError(`Cannot train: ${unread}`);
  checkTogether(config);
  return config;
}

/** Defaults that an environment with few tasks cannot have. */
function suitedTo({ tasks }: ConfiguredEnvironment): Partial<TrainConfig> {
  return { problems: Math.min(COMMON_DEFAULTS.problems, tasks.train) };
}

function parseValues(
  values: Values,
  { attempt, environment }: {
    readonly attempt: string;
    readonly environment: ConfiguredEnvironment | undefined;
  },
): TrainConfig {
  const result = schemaOf(environment).safeParse(values);
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
 * @param options.source What error sentences call the place where they stand.
 * @param options.environment The environment that is trained in; undefined: the gym that ships.
 * @returns The same configuration, typed.
 * @throws {UserError} When a key is missing or unknown, or a value is not allowed.
 */
export function parseConfig(
  values: Readonly<Record<string, unknown>>,
  { source, environment }: {
    readonly source: string;
    readonly environment?: ConfiguredEnvironment | undefined;
  },
): TrainConfig {
  return parseValues(values, { attempt: `Cannot use ${source}`, environment });
}
