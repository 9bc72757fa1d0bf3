/** Which known name an unknown key resembles, for `--map`. */
import { nearestName } from "../core/nearest.ts";
import { AGENTRL } from "./agentrl.ts";
import type { Producer } from "./definition.ts";
import type { RunView } from "./run_view.ts";

/** A key and the name that it may mean. */
export interface Resemblance {
  readonly key: string;
  readonly name: string;
}

function namesOf({ definitions }: Producer): string[] {
  return definitions.flatMap(({ key }) => typeof key === "string" ? [key] : []);
}

/** The parts of a key that may be its name: all of it, and what stands behind its slashes, without an aggregation. */
function namesIn(key: string): string[] {
  const bare = key.replace(/[/_.](?:mean|avg)$/, "");
  const last = bare.slice(bare.lastIndexOf("/") + 1);
  return Array.from(new Set([key, bare, last]));
}

/**
 * The known names that unknown keys resemble: those of the log's producer, or our own where it is nobody's that is known.
 *
 * @param view The log with its meaning.
 * @returns A pair for each unknown key that resembles one; names that the log has already are not suggested.
 */
export function resemblances(view: RunView): Resemblance[] {
  const known = namesOf(view.producer ?? AGENTRL).filter((name) => !view.log.columns.has(name));
  return view.unknown.flatMap((key) => {
    const exact = namesIn(key).find((name) => known.includes(name));
    const name = exact ??
      namesIn(key).map((part) => nearestName(part, known)).find((near) => near !== undefined);
    return name === undefined ? [] : [{ key, name }];
  });
}
