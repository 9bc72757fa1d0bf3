/** What a run's config.json tells triage of its setting. */
import { UserError } from "../core/errors.ts";
import { factsOf, type KnownBases, type RunFacts } from "../faults/run_facts.ts";
import { readJson } from "../files/json.ts";
import { exists } from "../files/paths.ts";

/**
 * Takes what triage may know of a run out of its config.json.
 *
 * @param path The config.json.
 * @param options As {@linkcode factsOf} takes them.
 * @returns Nothing where there is no such file, or it cannot be read: then nobody tells.
 */
export function readFacts(
  path: string,
  options: { readonly known?: KnownBases } = {},
): RunFacts {
  if (!exists(path)) return {};
  try {
    return factsOf(readJson(path), options);
  } catch (error) {
    if (error instanceof UserError) return {};
    throw error;
  }
}
