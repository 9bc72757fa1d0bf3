/** Which of a log's keys measures what, by a producer's definitions. */
import type { CanonicalMetric, MetricDefinition } from "./definition.ts";
import { namesOf } from "./recognise.ts";

/** A definition as it is looked up. */
export interface Entry {
  /** Its place among the producer's definitions: earlier ones are preferred. */
  readonly index: number;
  readonly definition: MetricDefinition;
  readonly pattern: RegExp | string;
}

/** A definition that a key matches, with the part that the key names. */
interface Match {
  readonly index: number;
  readonly definition: MetricDefinition;
  readonly part: string;
}

/** A pattern that must match a whole key. */
export function wholeKey({ source, flags }: RegExp): RegExp {
  return new RegExp(`^(?:${source})$`, flags);
}

/** The part that a key names under a definition (empty where it names none); undefined where it does not match. */
function partOf({ pattern }: Entry, name: string): string | undefined {
  if (typeof pattern === "string") return pattern === name ? "" : undefined;
  const match = pattern.exec(name);
  return match ? match.groups?.part ?? "" : undefined;
}

/**
 * The definitions of a producer that hold for a log.
 *
 * @param definitions All of them.
 * @param eras The ids of the eras that the log can be of; undefined where the producer has none.
 */
export function entriesOf(
  definitions: readonly MetricDefinition[],
  eras: ReadonlySet<string> | undefined,
): Entry[] {
  return definitions.flatMap((definition, index) => {
    const isOfEra = !eras || !definition.eras || definition.eras.some((id) => eras.has(id));
    const { key } = definition;
    const pattern = typeof key === "string" ? key : wholeKey(key);
    return isOfEra ? [{ index, definition, pattern }] : [];
  });
}

/** The definitions that the likeliest spelling of a key matches; several where eras differ. */
function matchesOf(key: string, entries: readonly Entry[]): Match[] {
  for (const name of namesOf(key)) {
    const matches = entries.flatMap((entry) => {
      const part = partOf(entry, name);
      const { index, definition } = entry;
      return part === undefined ? [] : [{ index, definition, part }];
    });
    if (matches.length > 0) return matches;
  }
  return [];
}

/** What is left of several eras' definitions where the log does not tell the era: only what all of them say. */
function mergeDefinitions(definitions: readonly MetricDefinition[]): MetricDefinition {
  const [first, ...others] = definitions;
  if (others.length === 0) return first;
  const agreeOn = <K extends keyof MetricDefinition>(key: K) =>
    others.every((other) => other[key] === first[key]);
  const { floor: _floor, zero: _zero, nan: _nan, decimals: _decimals, signed: _, ...rest } = first;
  return {
    ...rest,
    quantity: agreeOn("quantity") ? first.quantity : "chosen_at_runtime",
    over: agreeOn("over") ? first.over : "unknown",
    says: `By version: ${definitions.map(({ says }) => says).join(" Or: ")}`,
    ...(definitions.some(({ signed }) => signed) ? { signed: true } : {}),
    ...(agreeOn("zero") && first.zero ? { zero: first.zero } : {}),
    ...(agreeOn("nan") && first.nan ? { nan: first.nan } : {}),
    ...(agreeOn("decimals") && first.decimals !== undefined ? { decimals: first.decimals } : {}),
    ...(agreeOn("floor") && first.floor ? { floor: first.floor } : {}),
  };
}

/** A key with its meaning. */
export interface Reading {
  readonly key: string;
  readonly metric: CanonicalMetric;
  readonly index: number;
  readonly part: string;
  /** One an era that the log can be of. */
  readonly candidates: readonly MetricDefinition[];
  readonly definition: MetricDefinition;
}

/**
 * What a key measures.
 *
 * @param key A key as the file spells it.
 * @param entries What {@linkcode entriesOf} returns.
 * @returns Undefined where no definition matches, or where eras that the log can be of see different metrics in it.
 */
export function readKey(key: string, entries: readonly Entry[]): Reading | undefined {
  const matches = matchesOf(key, entries);
  const [first] = matches;
  if (first === undefined) return undefined;
  const { metric } = first.definition;
  if (matches.some(({ definition }) => definition.metric !== metric)) return undefined;
  const candidates = matches.map(({ definition }) => definition);
  const { index, part } = first;
  return { key, metric, index, part, candidates, definition: mergeDefinitions(candidates) };
}
