/** The keys of the configuration in words: what each may hold, what it is by default, and who reads it. */
import { z } from "zod";
import { type AlgorithmName, ALGORITHMS } from "../src/rl/algorithms.ts";
import { ALGORITHM_DEFAULTS, CONFIG_KEYS, type ConfigKey } from "../src/rl/config_keys.ts";
import { readersOf } from "../src/rl/config_readers.ts";

const ALGORITHM_NAMES = Object.keys(ALGORITHMS) as AlgorithmName[];

/** What a key of the configuration is. */
export interface DescribedKey {
  readonly key: string;
  readonly meaning: string;
  /** What it may hold, in words. */
  readonly range: string;
  /** Its default under each algorithm. */
  readonly defaults: Readonly<Record<AlgorithmName, unknown>>;
  /** The algorithms that read it. */
  readonly readBy: readonly AlgorithmName[];
  /** The setting that it needs beside; null: none. */
  readonly needs: string | null;
}

/** What a JSON schema says of a number. */
function describeBounds(schema: z.core.JSONSchema.BaseSchema): string {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const noun = type === "integer" ? "an integer" : "a number";
  const low = minimum !== undefined
    ? `from ${minimum}`
    : exclusiveMinimum !== undefined
    ? `above ${exclusiveMinimum}`
    : "";
  const high = maximum !== undefined
    ? low.startsWith("from") ? `to ${maximum}` : `${low && "and "}at most ${maximum}`
    : exclusiveMaximum !== undefined
    ? `${low.startsWith("from") ? "to " : low && "and "}below ${exclusiveMaximum}`
    : "";
  return [noun, low, high].filter((part) => part !== "").join(" ");
}

/** What a key may hold: `an integer from 1 to 64`. */
function describeSchema(schema: z.core.JSONSchema._JSONSchema): string {
  if (typeof schema === "boolean") return "anything";
  const { enum: names, anyOf, prefixItems, type } = schema;
  if (names !== undefined) return names.join(" | ");
  if (anyOf !== undefined) return anyOf.map(describeSchema).join(", or ");
  if (prefixItems !== undefined) {
    return `a list of ${prefixItems.length}, each ${describeSchema(prefixItems[0] ?? true)}`;
  }
  if (type === "boolean") return "true | false";
  if (type === "null") return "null";
  return describeBounds(schema);
}

function defaultUnder(key: string, algorithm: AlgorithmName): unknown {
  if (key === "algorithm") return CONFIG_KEYS.algorithm.default;
  if (key === "aggregation") return ALGORITHMS[algorithm].aggregation;
  const own = new Map<string, unknown>(Object.entries(ALGORITHM_DEFAULTS[algorithm] ?? {}));
  const entry: ConfigKey<unknown> | undefined = new Map(Object.entries(CONFIG_KEYS)).get(key);
  return own.has(key) ? own.get(key) : entry?.default;
}

/** Every key of the configuration. */
export function describeKeys(): DescribedKey[] {
  return Object.entries(CONFIG_KEYS).map(([key, { meaning, schema }]) => {
    const { algorithms, needs } = readersOf(key);
    const defaults = Object.fromEntries(
      ALGORITHM_NAMES.map((name) => [name, defaultUnder(key, name)]),
    ) as Record<AlgorithmName, unknown>;
    const range = describeSchema(z.toJSONSchema(schema));
    return { key, meaning, range, defaults, readBy: algorithms, needs };
  });
}

const shown = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value);

/** `default 0.001; under reinforce 0.002`: the value of most algorithms, then the exceptions. */
function describeDefaults(defaults: DescribedKey["defaults"]): string {
  const byValue = Map.groupBy(ALGORITHM_NAMES, (name) => shown(defaults[name]));
  const [usual = ["", []], ...others] = [...byValue].sort(([, a], [, b]) => b.length - a.length);
  return [
    `default ${usual[0]}`,
    ...others.map(([value, names]) => `under ${names.join(" and ")} ${value}`),
  ].join(", ");
}

/** A key as a row of a table: its name, and the rest in one sentence. */
export function keyRow(described: DescribedKey): readonly [string, string] {
  const { key, meaning, range, defaults, readBy, needs } = described;
  const readers = readBy.length < ALGORITHM_NAMES.length ? `; read by ${readBy.join(", ")}` : "";
  const need = needs === null ? "" : `; read with ${needs}`;
  return [key, `${meaning} (${range}; ${describeDefaults(defaults)}${readers}${need})`];
}
