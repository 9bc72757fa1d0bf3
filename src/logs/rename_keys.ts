/** Gives keys of a log other names, as `--map theirs=ours` asks. */
import { UserError } from "../core/errors.ts";
import { nearestName } from "../core/nearest.ts";
import type { LogColumn, RunLog } from "./run_log.ts";

/** The name by which a map says which key counts the steps. */
export const STEP_NAME = "step";

/**
 * Parses the values of `--map`.
 *
 * @param pairs Texts such as `my/reward=reward`; the last `=` separates, since keys may hold some.
 * @returns New names by old ones.
 * @throws {UserError} When a text is no pair, or a name stands twice.
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

/**
 * Renames keys.
 *
 * @param log The log.
 * @param map New names by old ones; the one that becomes `step` was used to read the log and is left out here.
 * @returns The log with the new names, its columns in the same order.
 * @throws {UserError} When the log has no such key, or has the new name already.
 */
export function renameKeys(log: RunLog, map: ReadonlyMap<string, string>): RunLog {
  const keys = [...log.columns.keys()];
  for (const [theirs, ours] of map) {
    if (ours === STEP_NAME) continue;
    if (!log.columns.has(theirs)) {
      const nearest = nearestName(theirs, keys);
      const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
      throw new UserError(
        `--map ${theirs}=${ours}: ${log.source.path} has no key ${theirs}${hint}`,
      );
    }
    if (log.columns.has(ours) && !map.has(ours)) {
      throw new UserError(
        `--map ${theirs}=${ours}: ${log.source.path} has a key ${ours} already; rename that one, too`,
      );
    }
  }
  const columns = new Map<string, LogColumn>();
  for (const [name, column] of log.columns) {
    const key = map.get(name) ?? name;
    columns.set(key, { ...column, key });
  }
  return { ...log, columns };
}
