/** Tells who wrote a log. */
import type { RunLog } from "../logs/run_log.ts";
import type { Evidence, Producer } from "./definition.ts";
import { PRODUCERS } from "./producers.ts";

/**
 * The names under which a producer may know a key, the likeliest first. Trackers write `train/reward` for `reward` and
 * `eval/reward` for `eval_reward`, and notebooks ` / ` for `/`; some producers have such prefixes of their own.
 *
 * @param key A key as the file spells it.
 * @returns The key itself first.
 */
export function namesOf(key: string): string[] {
  const spaced = key.replaceAll(" / ", "/");
  const [, side, rest] = /^(train|eval|test)\/(.+)$/.exec(spaced) ?? [];
  const names = [key];
  if (spaced !== key) names.push(spaced);
  if (side === "train") names.push(rest);
  // Hugging Face's trackers turn the prefix `eval_` into a folder.
  if (side === "eval" || side === "test") names.push(`${side}_${rest}`);
  return names;
}

/**
 * What a log shows of itself to whoever must tell its writer.
 *
 * @param log The log.
 * @returns Its keys in all their spellings, and their values.
 */
export function evidenceOf(log: RunLog): Evidence {
  const columnOf = new Map<string, string>();
  for (const key of log.columns.keys()) {
    for (const name of namesOf(key)) if (!columnOf.has(name)) columnOf.set(name, key);
  }
  return {
    keys: new Set(columnOf.keys()),
    form: log.source.form,
    values: (name) => {
      const column = log.columns.get(columnOf.get(name) ?? name);
      return column ? Array.from(column.values).filter(Number.isFinite) : [];
    },
  };
}

/** Below it a guess is no better than none: the keys are then read as nobody's. */
const LEAST_CERTAINTY = 0.5;

/**
 * Tells who wrote a log.
 *
 * @param evidence What the log shows.
 * @returns The surest producer; undefined where none is sure enough, or where two are equally sure.
 */
export function recogniseProducer(evidence: Evidence): Producer | undefined {
  const ranked = PRODUCERS.map((producer) => ({
    producer,
    certainty: producer.recognise(evidence),
  })).sort((a, b) => b.certainty - a.certainty);
  const [first, second] = ranked;
  if (first === undefined || first.certainty < LEAST_CERTAINTY) return undefined;
  return first.certainty === second?.certainty ? undefined : first.producer;
}
