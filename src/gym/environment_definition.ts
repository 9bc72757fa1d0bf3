/** What an environment of a user's tells before it is played: name, words, tasks, metrics, demonstrations; checked here. */
import { isRecord } from "../core/record.ts";
import { UserError } from "../core/errors.ts";
import { describeValue } from "../core/schema.ts";
import type { Environment, EnvironmentSpec, EpisodeInfo } from "./environment.ts";

/** Which way a behaviour metric goes in a healthy run. */
export const HEALTHY_DIRECTIONS = ["higher", "lower", "steady"] as const;

/** A behaviour metric of an environment: the mean over episodes of a number or boolean in their `info`. */
export interface BehaviourMetric {
  /** The key in `info`; metrics.jsonl has the mean as `env/NAME`. */
  readonly name: string;
  /** A phrase for people. */
  readonly meaning: string;
  /** Which way it goes in a healthy run. */
  readonly healthy: typeof HEALTHY_DIRECTIONS[number];
}

/** How many tasks there are: numbers 0 to train − 1 are trained on, those after them are held out. */
export interface TaskCounts {
  /** At least 1. */
  readonly train: number;
  /** 0: runs are not evaluated. */
  readonly heldout: number;
}

/** An environment of a user's, with all that training, evaluation and reports need to know of it. */
export interface EnvironmentDefinition<Info extends EpisodeInfo = EpisodeInfo> {
  /** Used in folders and files: lower-case letters, digits, `_` and `-`. */
  readonly name: string;
  /** Its vocabulary: the id of a word is its index. */
  readonly words: readonly string[];
  /** How many tasks there are. */
  readonly tasks: TaskCounts;
  /** Behaviour metrics of its own; none where left out. */
  readonly metrics?: readonly BehaviourMetric[];
  /** Makes an environment; one for each slot that plays, kept as long as the run. */
  create(): Environment<Info> | Promise<Environment<Info>>;
  /** The calls of a good play of a training task, with which an agent can be cloned. */
  demonstration?(
    task: number,
  ): readonly (readonly number[])[] | Promise<readonly (readonly number[])[]>;
}

/** The name of an environment, of at most 64 characters. */
const NAME = /^[a-z0-9_-]{1,64}$/;
/** The name of a metric: a key of `info`. */
const METRIC_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** The name of no metric of an environment's: runs count lost episodes under it. */
export const LOST_METRIC = "lost";
/** The gym that ships; its runs are known by it. */
export const BUGFIX_NAME = "bugfix";

/** Numbers of an environment, and the largest that are allowed: what the kernels index, and what fits on a small device. */
export const ENVIRONMENT_LIMITS = {
  words: { least: 2, most: 65_536 },
  trainTasks: { least: 1, most: 1_000_000 },
  heldoutTasks: { least: 0, most: 1_000_000 },
  maxCallTokens: { least: 1, most: 1024 },
  maxTurns: { least: 1, most: 1024 },
  maxEpisodeTokens: { least: 2, most: 8192 },
} as const;

type Fields = Readonly<Record<string, unknown>>;

/** Says what is wrong with a part of a definition. */
type Refuse = (problem: string) => UserError;

function requireCount(
  value: unknown,
  options: {
    readonly name: string;
    readonly limit: keyof typeof ENVIRONMENT_LIMITS;
    readonly refuse: Refuse;
  },
): number {
  const { name, refuse } = options;
  const { least, most } = ENVIRONMENT_LIMITS[options.limit];
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) {
    return Number(value);
  }
  throw refuse(`${name} ${saidValue(value)}, but must be an integer from ${least} to ${most}`);
}

function saidValue(value: unknown): string {
  return typeof value === "function" ? "is a function" : describeValue(value);
}

function requireWords(value: unknown, refuse: Refuse): readonly string[] {
  if (!Array.isArray(value)) {
    throw refuse(`words ${saidValue(value)}, but must be a list of texts`);
  }
  requireCount(value.length, { name: "the number of words", limit: "words", refuse });
  const places = new Map<unknown, number>();
  for (const [id, word] of value.entries()) {
    // Texts of tokens are words with blanks between them.
    if (typeof word !== "string" || !/^\S+$/.test(word)) {
      throw refuse(`word ${id} ${saidValue(word)}, but must be a text without blanks`);
    }
    const first = places.get(word);
    if (first !== undefined) throw refuse(`words ${first} and ${id} are both "${word}"`);
    places.set(word, id);
  }
  return value;
}

function requireMetrics(value: unknown, refuse: Refuse): readonly BehaviourMetric[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    throw refuse(`metrics ${saidValue(value)}, but must be a list`);
  }
  const names = new Set<unknown>();
  return value.map((metric: unknown, i) => {
    const { name, meaning, healthy } = isRecord(metric) ? metric : {};
    if (typeof name !== "string" || !METRIC_NAME.test(name)) {
      throw refuse(
        `the name of metric ${i} ${
          saidValue(name)
        }, but must be letters, digits and _, a letter first`,
      );
    }
    if (name === LOST_METRIC) {
      throw refuse(`a metric is called "${LOST_METRIC}", which counts lost episodes`);
    }
    if (names.has(name)) throw refuse(`two metrics are called "${name}"`);
    names.add(name);
    if (typeof meaning !== "string" || meaning === "") {
      throw refuse(`the meaning of metric ${name} ${saidValue(meaning)}, but must be a text`);
    }
    const direction = HEALTHY_DIRECTIONS.find((known) => known === healthy);
    if (direction === undefined) {
      throw refuse(
        `healthy of metric ${name} ${saidValue(healthy)}, but must be one of ${
          HEALTHY_DIRECTIONS.join(", ")
        }`,
      );
    }
    return { name, meaning, healthy: direction };
  });
}

/** What of a definition can be written down. */
export type EnvironmentFacts =
  & Pick<EnvironmentDefinition, "name" | "words" | "tasks">
  & { readonly metrics: readonly BehaviourMetric[] };

/**
 * Checks what an environment tells of itself, wherever it comes from: a module, another process, a file.
 *
 * @param value Name, words, tasks and metrics; other fields are not looked at.
 * @param options.source What error sentences call the place that it comes from.
 * @throws {UserError} When a field is missing or not as required.
 */
export function requireFacts(
  value: unknown,
  { source }: { readonly source: string },
): EnvironmentFacts {
  const refuse: Refuse = (problem) =>
    new UserError(`Cannot use the environment ${source}: ${problem}`);
  if (!isRecord(value)) {
    throw refuse(
      `it ${saidValue(value)}, but must be an object with name, words, tasks and create`,
    );
  }
  const { name, tasks } = value;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw refuse(
      `name ${saidValue(name)}, but must be 1 to 64 lower-case letters, digits, _ and -`,
    );
  }
  if (name === BUGFIX_NAME) throw refuse(`its name is "${name}", that of the gym that ships`);
  if (!isRecord(tasks)) {
    throw refuse(`tasks ${saidValue(tasks)}, but must be such as { train: 20, heldout: 10 }`);
  }
  const count = (key: "train" | "heldout") =>
    requireCount(tasks[key], { name: `tasks.${key}`, limit: `${key}Tasks`, refuse });
  return {
    name,
    words: requireWords(value.words, refuse),
    tasks: { train: count("train"), heldout: count("heldout") },
    metrics: requireMetrics(value.metrics, refuse),
  };
}

/**
 * Checks that a value, such as a module's default export, is the definition of an environment.
 *
 * @param value The value.
 * @param options.source What error sentences call the place that it comes from.
 * @returns The same object, typed.
 * @throws {UserError} When a field is missing or not as required: one sentence with what was found and what is allowed.
 */
export function requireDefinition(
  value: unknown,
  options: { readonly source: string },
): EnvironmentDefinition {
  if (!isRecord(value)) {
    throw new UserError(
      `Cannot use the environment ${options.source}: its default export ${saidValue(value)}, ` +
        "but must be an object with name, words, tasks and create",
    );
  }
  requireFacts(value, options);
  const { create, demonstration } = value as Fields;
  const wrong = typeof create !== "function"
    ? `create ${saidValue(create)}`
    : demonstration !== undefined && typeof demonstration !== "function"
    ? `demonstration ${saidValue(demonstration)}`
    : undefined;
  if (wrong === undefined) return value as unknown as EnvironmentDefinition;
  throw new UserError(
    `Cannot use the environment ${options.source}: ${wrong}, but must be a function`,
  );
}

/**
 * Checks the spec of an environment that was made.
 *
 * @param spec What the environment says.
 * @param facts What its definition says.
 * @throws {UserError} When a number is outside of the limits, contradicts the definition, or leaves no room for a call.
 */
export function requireSpec(
  spec: unknown,
  { name: environment, words, tasks }: Pick<EnvironmentFacts, "name" | "words" | "tasks">,
): EnvironmentSpec {
  const refuse: Refuse = (problem) =>
    new UserError(`Cannot use the environment ${environment}: ${problem}`);
  if (!isRecord(spec)) throw refuse(`spec ${saidValue(spec)}, but must be an object`);
  const count = (name: "maxCallTokens" | "maxTurns" | "maxEpisodeTokens") =>
    requireCount(spec[name], { name: `spec.${name}`, limit: name, refuse });
  const { callEnd } = spec;
  if (!(Number.isInteger(callEnd) && Number(callEnd) >= 0 && Number(callEnd) < words.length)) {
    throw refuse(
      `spec.callEnd ${saidValue(callEnd)}, but must be the id of one of its ${words.length} words`,
    );
  }
  const taskCount = tasks.train + tasks.heldout;
  if (spec.taskCount !== taskCount) {
    throw refuse(
      `spec.taskCount ${
        saidValue(spec.taskCount)
      }, but tasks.train and tasks.heldout add up to ${taskCount}`,
    );
  }
  const [maxCallTokens, maxTurns] = [count("maxCallTokens"), count("maxTurns")];
  const maxEpisodeTokens = count("maxEpisodeTokens");
  if (maxEpisodeTokens <= maxCallTokens) {
    throw refuse(
      `spec.maxEpisodeTokens is ${maxEpisodeTokens}, which leaves no room for a prompt and a call of ${maxCallTokens} tokens`,
    );
  }
  return { callEnd: Number(callEnd), maxCallTokens, maxTurns, maxEpisodeTokens, taskCount };
}
