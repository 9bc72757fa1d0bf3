/** The values of `--map`: names of a log's keys and what they are to be read as. */
import { UserError } from "../src/core/errors.ts";

/**
 * Parses the values of `--map`.
 *
 * @param pairs Texts such as `my/reward=reward`; the last `=` separates, since keys may hold some.
 * @returns New names by old ones.
 * @throws {UserError} When a text is not a pair, or a name stands twice.
 */
export function parseKeyMap(pairs: readonly string[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.lastIndexOf("=");
    const [theirs, ours] = [pair.slice(0, at), pair.slice(at + 1)];
    if (at <= 0 || ours === "") {
      throw new UserError(`--map must be THEIRS=OURS, such as my/reward=reward; found "${pair}"`);
    }
    const isTaken = map.has(theirs) || [...map.values()].includes(ours);
    if (isTaken) throw new UserError(`--map names ${map.has(theirs) ? theirs : ours} twice`);
    map.set(theirs, ours);
  }
  return map;
}
