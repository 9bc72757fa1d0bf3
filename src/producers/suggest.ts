/** Which of our metrics a key may be that no producer is known to log: for `--map theirs=ours`. */
import { editDistance } from "../core/nearest.ts";
import { CANONICAL, type CanonicalMetric, type Producer } from "./definition.ts";
import { PRODUCERS } from "./producers.ts";
import type { RunView } from "./run_view.ts";

/** Words that say the same. */
const SYNONYMS: Readonly<Record<string, string>> = {
  avg: "mean",
  average: "mean",
  len: "length",
  lengths: "length",
  lr: "learningrate",
  completions: "completion",
  responses: "completion",
  response: "completion",
  resp: "completion",
  rewards: "reward",
  ret: "reward",
  return: "reward",
  returns: "reward",
  score: "reward",
  scores: "reward",
  ent: "entropy",
  ref: "reference",
  gradient: "grad",
  gnorm: "gradnorm",
  val: "eval",
  validation: "eval",
  test: "eval",
  acc: "score",
  accuracy: "score",
  clipfrac: "clipfraction",
  frac: "fraction",
  ratio: "fraction",
  trunc: "truncated",
  truncation: "truncated",
  tok: "tokens",
  token: "tokens",
  toks: "tokens",
  old: "old",
  secs: "time",
  seconds: "time",
  duration: "time",
};

/** Words that every key may have. */
const SAY_NOTHING = new Set(["mean", "train", "training", "actor", "policy", "all", "agg"]);

/** Two words that belong together in many spellings. */
const JOINED: readonly (readonly [string, string])[] = [
  ["learning", "rate"],
  ["grad", "norm"],
  ["clip", "fraction"],
];

function wordsOf(key: string): string[] {
  const words = key.replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z\d]+/)
    .filter((word) => word !== "")
    .map((word) => SYNONYMS[word] ?? word);
  const joined: string[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    if (JOINED.some(([first, second]) => first === before && second === word)) {
      joined[joined.length - 1] = `${before}${word}`;
    } else joined.push(word);
  }
  return [...new Set(joined)].filter((word) => !SAY_NOTHING.has(word));
}

/** Shorter words are too near to one another for typing errors to be told from other words. */
const LEAST_LENGTH_TO_MISTYPE = 5;

function areAlike(a: string, b: string): boolean {
  if (a === b) return true;
  const shorter = Math.min(a.length, b.length);
  if (shorter < LEAST_LENGTH_TO_MISTYPE) return false;
  return a.startsWith(b) || b.startsWith(a) || editDistance(a, b) <= 1;
}

/** Twice the common words by all words of both: 1 for the same words in any order. */
function likeness(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  if (a.some((word) => QUALIFIERS.has(word) && !b.includes(word))) return 0;
  const common = a.filter((word) => b.some((other) => areAlike(word, other))).length;
  return 2 * common / (a.length + b.length);
}

/** Words that make another metric of a name: a key that has one is only like names that have it as well. */
const QUALIFIERS = new Set([
  "eval",
  "max",
  "min",
  "std",
  "critic",
  "value",
  "vf",
  "prompt",
  "terminated",
]);

/** Less is not a resemblance: one word of two, or two of four. */
const LEAST_LIKENESS = 0.6;

/** Names of metrics, ours and those of producers that spell a key out. */
function knownNames(producers: readonly Producer[]): [string, CanonicalMetric][] {
  const ours = (Object.keys(CANONICAL) as CanonicalMetric[])
    .map((metric): [string, CanonicalMetric] => [metric, metric]);
  const theirs = producers.flatMap(({ definitions }) =>
    definitions.flatMap(({ key, metric }): [string, CanonicalMetric][] =>
      typeof key === "string" ? [[key, metric]] : []
    )
  );
  return [...ours, ...theirs];
}

/**
 * Guesses which metric a key is.
 *
 * @param key A key that has no meaning in its log.
 * @param producer The log's, where it is known: its names are tried before those of the others.
 * @returns The metric, for `--map KEY=METRIC`; undefined where nothing resembles the key.
 */
export function suggestMetric(
  key: string,
  producer?: Producer | undefined,
): CanonicalMetric | undefined {
  const words = wordsOf(key);
  for (const producers of producer ? [[producer], PRODUCERS] : [PRODUCERS]) {
    let best: CanonicalMetric | undefined;
    let most = 0;
    for (const [name, metric] of knownNames(producers)) {
      const like = likeness(words, wordsOf(name));
      if (like >= LEAST_LIKENESS && like > most) [best, most] = [metric, like];
    }
    if (best !== undefined) return best;
  }
  return undefined;
}

/** A key and the name that it may mean. */
export interface Resemblance {
  readonly key: string;
  readonly name: string;
}

/** Metrics of which a log may have several, each with a part of its own. */
const HAVE_PARTS: ReadonlySet<CanonicalMetric> = new Set([
  "reward_component",
  "reward_component_std",
  "eval_score",
]);

/**
 * What the unknown keys of a log may be.
 *
 * @param view The log with its meaning.
 * @returns For each unknown key that resembles a metric, the name that `--map KEY=NAME` takes; names that the log has already
 *   are not suggested.
 */
export function resemblances({ log, producer, unknown }: RunView): Resemblance[] {
  return unknown.flatMap((key) => {
    const metric = suggestMetric(key, producer);
    if (metric === undefined) return [];
    const name = HAVE_PARTS.has(metric) ? `${metric}/${key}` : metric;
    return log.columns.has(name) ? [] : [{ key, name }];
  });
}
