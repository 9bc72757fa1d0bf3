/** Tells who wrote a log. */
import type { RunLog } from "../logs/run_log.ts";
import type { LogTraits, Producer } from "./definition.ts";
import { BY_ONE_SURE_KEY } from "./log_traits.ts";
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

/** Who wrote a log shows in its first rows; a million of them would only cost time. */
const ENOUGH_VALUES = 4096;

/**
 * What a log shows of itself to whoever must tell its writer.
 *
 * @param log The log.
 * @returns Its keys in all their spellings, and their values.
 */
export function traitsOf(log: RunLog): LogTraits {
  const columnOf = new Map<string, string>();
  for (const key of log.columns.keys()) {
    for (const name of namesOf(key)) if (!columnOf.has(name)) columnOf.set(name, key);
  }
  const find = (name: string) => log.columns.get(columnOf.get(name) ?? name);
  const read = (name: string): (readonly [row: number, value: number])[] => {
    const column = find(name);
    if (!column) return [];
    const values = column.values.subarray(0, ENOUGH_VALUES);
    return Array.from(values, (value, i): [number, number] => [column.rows[i], value])
      .filter(([, value]) => Number.isFinite(value));
  };
  return {
    keys: new Set(columnOf.keys()),
    form: log.source.form,
    values: (name) => read(name).map(([, value]) => value),
    together: (first, second) => {
      const ofRow = new Map(read(second));
      return read(first).flatMap(([row, value]): [number, number][] => {
        const other = ofRow.get(row);
        return other === undefined ? [] : [[value, other]];
      });
    },
  };
}

/** Below it a guess is no better than none: the keys are then read as nobody's. */
const LEAST_CERTAINTY = 0.5;

/**
 * Tells who wrote a log.
 *
 * @param traits What the log shows.
 * @param ofForm The producer that the form of the log tells: it stands unless the keys are surely another's, since some write
 *   in the form of those that they grew out of.
 * @returns The surest producer; undefined where none is sure enough, or where two are equally sure.
 */
export function recogniseProducer(
  traits: LogTraits,
  ofForm?: Producer | undefined,
): Producer | undefined {
  const byKeys = surestProducer(traits);
  if (!ofForm || !byKeys) return ofForm ?? byKeys;
  const certainty = byKeys.recognise(traits);
  const isSure = certainty >= BY_ONE_SURE_KEY && certainty > ofForm.recognise(traits);
  return isSure ? byKeys : ofForm;
}

function surestProducer(traits: LogTraits): Producer | undefined {
  const ranked = PRODUCERS.map((producer) => ({
    producer,
    certainty: producer.recognise(traits),
  })).sort((a, b) => b.certainty - a.certainty);
  const [first, second] = ranked;
  if (first === undefined || first.certainty < LEAST_CERTAINTY) return undefined;
  return first.certainty === second?.certainty ? undefined : first.producer;
}
