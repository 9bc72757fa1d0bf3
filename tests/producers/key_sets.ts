/** Keys as runs of each producer really log them, in whole and in part; the numbers beside them do not matter. */
import sets from "./key_sets.json" with { type: "json" };

type KeySets = Readonly<Record<string, readonly string[]>>;

const PRODUCERS: Readonly<Record<string, KeySets>> = sets.producers;

/** Sets of keys by the producer that they are of, and by their name. */
export const KEY_SETS: readonly {
  readonly id: string;
  readonly name: string;
  readonly keys: readonly string[];
}[] = Object.entries(PRODUCERS).flatMap(([id, named]) =>
  Object.entries(named).map(([name, keys]) => ({ id, name, keys }))
);

/** One set of keys. */
export function keysOf(id: string, name: string): readonly string[] {
  const keys = PRODUCERS[id]?.[name];
  if (!keys) throw new RangeError(`There is no set of keys ${name} of ${id}`);
  return keys;
}

/** Sets of keys that are nobody's. */
export const NOBODYS: KeySets = sets.nobodys;
