/** Gives keys of a log other names, as the user asks. */
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { nearestName } from "../core/nearest.ts";
import type { LogColumn, RunLog } from "./run_log.ts";

/** The name by which a map says which key counts the steps. */
export const STEP_NAME = "step";

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
    const asked = setting("map", `${theirs}=${ours}`);
    if (!log.columns.has(theirs)) {
      const nearest = nearestName(theirs, keys);
      const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
      throw new UserError(
        sentence`${asked}: ${log.source.path} has no key ${theirs}${hint}`,
      );
    }
    if (log.columns.has(ours) && !map.has(ours)) {
      throw new UserError(
        sentence`${asked}: ${log.source.path} has a key ${ours} already; rename that one, too`,
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
