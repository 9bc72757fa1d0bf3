/** What a run's config.json tells triage of its setting: the algorithm, numbers and names. The fault that it may name is not read. */
import type { ToldValue } from "../diagnose/triage/knowledge.ts";
import type { TestedRun } from "../diagnose/triage/evaluate.ts";
import { isRecord } from "../core/record.ts";
import { DEBUG_BASE } from "./debug_base.ts";

/** What is told of a run beside its metrics. */
export type RunFacts = Pick<TestedRun, "algorithm" | "settings">;

/** Known base agents: their names by the SHA-256 of their weights. */
export type KnownBases = ReadonlyMap<string, string>;

/** The agents that were tried for the debugging runs; on another adapter the same recipe gives other bits. */
const TRIED_BASES: KnownBases = new Map(
  DEBUG_BASE.tried.map(({ seed, weightsHash }) => [weightsHash, `rl:${seed}`]),
);

/** Keys that say nothing of a run in an environment of a user's. */
const GYM_KEYS: readonly string[] = ["preset", "reward", "maxTurns"];

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** The base agent's name, as `rl:2`; undefined where a file holds it that cannot be told from one of another adapter. */
function baseOf({ base, base_hash: hash, adapter }: Fields, known: KnownBases): string | undefined {
  const { kind, seed } = fieldsOf(base);
  if (typeof kind === "string" && typeof seed === "number") return `${kind}:${seed}`;
  if (typeof hash !== "string") return undefined;
  const name = known.get(hash) ?? TRIED_BASES.get(hash);
  // The same recipe has the same bits on one adapter only.
  const isTheirs = typeof adapter === "string" && adapter.startsWith(DEBUG_BASE.adapter);
  return name ?? (isTheirs ? `weights ${hash.slice(0, 16)}` : undefined);
}

/**
 * Takes what triage may know of a run's setting out of its config.json.
 *
 * @param file The content, of this version or of any other.
 * @param options.known Base agents that are known beside those of the debugging runs.
 * @returns What is told; keys that the file lacks are left out.
 */
export function factsOf(
  file: unknown,
  { known = new Map() }: { readonly known?: KnownBases } = {},
): RunFacts {
  const fields = fieldsOf(file);
  const config = fieldsOf(fields.config);
  const { algorithm, epochs, minibatches } = config;
  const base = baseOf(fields, known);
  const { name: environment } = fieldsOf(fields.environment);
  const isOwn = typeof environment === "string";
  const told = Object.entries(config).filter((entry): entry is [string, ToldValue] =>
    ["number", "string"].includes(typeof entry[1]) && !(isOwn && GYM_KEYS.includes(entry[0]))
  );
  const settings: Record<string, ToldValue> = {
    ...Object.fromEntries(told),
    ...(isOwn && { environment }),
    ...(base !== undefined && { base }),
    ...(typeof epochs === "number" && typeof minibatches === "number" && {
      stepsPerUpdate: epochs * minibatches,
    }),
  };
  return { settings, ...(typeof algorithm === "string" && { algorithm }) };
}
