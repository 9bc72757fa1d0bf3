/** The environment of a run as its config.json records it: all that reading the run needs, without running the environment. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { type Sentence, sentence, setting, type SettingValue } from "../core/mention.ts";
import { requireSchema } from "../core/schema.ts";
import { type EnvironmentFacts, requireFacts, requireSpec } from "../gym/environment_definition.ts";
import type { EnvironmentSpec } from "../gym/environment.ts";
import type { EpisodeSource } from "../rollout/episode_source.ts";

/** What is recorded of an environment. */
export interface EnvironmentRecord extends EnvironmentFacts {
  /** The shape of its episodes. */
  readonly spec: EnvironmentSpec;
  /** The settings that named it when the run began. Nothing is run because they stand here. */
  readonly settings: Readonly<Record<string, SettingValue>>;
}

/** What is recorded of a source. @param settings The settings that name it. */
export function environmentRecord(
  { name, words, tasks, metrics, spec }: EpisodeSource,
  settings: EnvironmentRecord["settings"],
): EnvironmentRecord {
  return { name, words, tasks, metrics, spec, settings };
}

const settingsSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
).default({});

/**
 * Reads what was recorded.
 *
 * @param value The value of `environment` in a config.json.
 * @param options.source What error sentences call the file.
 * @throws {UserError} When it is not as it is written.
 */
export function readEnvironmentRecord(
  value: Readonly<Record<string, unknown>>,
  { source }: { readonly source: string },
): EnvironmentRecord {
  const facts = requireFacts(value, { source });
  return {
    ...facts,
    spec: requireSpec(value.spec, facts),
    settings: requireSchema(value.settings, settingsSchema, { source }),
  };
}

/** The parts of an environment that decide what its tokens and tasks mean, as sentences call them. */
const PARTS = { words: "words", tasks: "tasks", spec: "spec", metrics: "metrics" } as const;

/**
 * Holds the environment that is given to the one that a run recorded.
 *
 * @param recorded The run's; undefined: it plays the gym that ships.
 * @param options.given The source that is given; undefined: none is.
 * @param options.attempt How a sentence begins, such as `Cannot resume runs/a`.
 * @throws {UserError} When one is missing, or they are not the same.
 */
export function requireSameEnvironment(
  recorded: EnvironmentRecord | undefined,
  { given, attempt }: { readonly given: EpisodeSource | undefined; readonly attempt: string },
): void {
  const problem = differenceOf(recorded, given);
  if (problem !== undefined) throw new UserError([`${attempt}: `, ...[problem].flat()]);
}

function differenceOf(
  recorded: EnvironmentRecord | undefined,
  given: EpisodeSource | undefined,
): Sentence | undefined {
  if (recorded === undefined) {
    return given &&
      `it was trained in the gym that ships, but the environment ${given.name} is given; leave it out`;
  }
  const { name, settings } = recorded;
  if (given === undefined) {
    const { env, envCommand } = settings;
    const named = typeof envCommand === "string"
      ? setting("envCommand", envCommand)
      : setting("env", typeof env === "string" ? env : undefined);
    return sentence`it was trained in the environment ${name}; name it with ${named}`;
  }
  if (given.name !== name) {
    return `it was trained in the environment ${name}, but ${given.name} is given`;
  }
  const part = (Object.keys(PARTS) as (keyof typeof PARTS)[]).find((key) =>
    JSON.stringify(recorded[key]) !== JSON.stringify(given[key])
  );
  return part &&
    `the environment ${name} has changed since: its ${
      PARTS[part]
    } are not those that it was trained with`;
}
