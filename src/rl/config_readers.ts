/** Which keys of the configuration are skipped by the others' values, so that setting them would change nothing. */
import type { AggregationMode } from "../equations/aggregate.ts";
import type { AdvantageSetting, Algorithm } from "./algorithm.ts";
import { type AlgorithmName, ALGORITHMS } from "./algorithms.ts";

/** What decides whether a key is read. */
export interface ReadConfig {
  readonly algorithm: AlgorithmName;
  readonly aggregation: AggregationMode;
  readonly klCoef: number;
  /** The environment of a user's that is trained in; undefined: the gym that ships. */
  readonly environment?: string | undefined;
}

/** Who reads a key that some configurations pass over. */
interface Reader {
  readonly isRead: (config: ReadConfig) => boolean;
  /** What must be set for it to be read, whatever the algorithm; missing where the algorithm alone decides. */
  readonly needs?: string;
  /** What of the configuration it is that passes the key over, as `under grpo`. */
  readonly unread: (config: ReadConfig) => string;
  /** Who reads it, and what to set instead. */
  readonly readers: string;
}

/** A key that is read under some of the algorithms. */
function readUnder(isReader: (algorithm: Algorithm) => boolean, instead = ""): Reader {
  const names = Object.entries(ALGORITHMS).flatMap(([name, algorithm]) =>
    isReader(algorithm) ? [name] : []
  );
  return {
    isRead: ({ algorithm }) => isReader(ALGORITHMS[algorithm]),
    unread: ({ algorithm }) => `under ${algorithm}`,
    readers: `only ${names.join(", ")} read${names.length === 1 ? "s" : ""} it${instead}`,
  };
}

const reads = (setting: AdvantageSetting) => ({ advantageSettings = [] }: Algorithm) =>
  advantageSettings.includes(setting);

const GROUPED = readUnder(
  ({ grouped }) => grouped,
  ", and the batch of the others is set by episodes",
);
const CLIPPED = readUnder(({ surrogate }) => surrogate === "clipped");

/** Read by the gym that ships: an environment has rules of its own. */
const IN_GYM: Reader = {
  isRead: ({ environment }) => environment === undefined,
  unread: ({ environment }) => `in the environment ${environment}`,
  readers: "only the gym that ships reads it",
};

const EVERYBODY: Pick<Reader, "isRead" | "needs"> = { isRead: () => true };

/** Every key that is not read under all configurations. */
const READERS: Readonly<Record<string, Reader>> = {
  preset: IN_GYM,
  reward: IN_GYM,
  maxTurns: IN_GYM,
  episodes: readUnder(
    ({ grouped }) => !grouped,
    ", and the batch of the others is set by problems and groupSize",
  ),
  problems: GROUPED,
  groupSize: GROUPED,
  resampleRounds: GROUPED,
  advantageEps: readUnder(reads("advantageEps")),
  baselineDecay: readUnder(reads("baselineDecay")),
  clipLow: CLIPPED,
  clipHigh: CLIPPED,
  normConst: {
    isRead: ({ aggregation }) => aggregation === "constant",
    needs: "aggregation=constant",
    unread: ({ aggregation }) => `with aggregation=${aggregation}`,
    readers: "only aggregation=constant reads it",
  },
  klKind: {
    isRead: ({ klCoef }) => klCoef > 0,
    needs: "klCoef above 0",
    unread: () => "with klCoef=0",
    readers: "only the KL term reads it, which klCoef above 0 switches on",
  },
};

/** Who reads a key. */
export interface KeyReaders {
  readonly algorithms: readonly AlgorithmName[];
  /** The setting that it needs beside; null: none. */
  readonly needs: string | null;
}

/** Who reads a key of the configuration, such as `clipLow`: the algorithms with a clipped surrogate. */
export function readersOf(key: string): KeyReaders {
  const { isRead, needs = null } = (Object.hasOwn(READERS, key) && READERS[key]) || EVERYBODY;
  const names = Object.keys(ALGORITHMS) as AlgorithmName[];
  // With every other setting that lets a key be read, only the algorithm decides.
  const algorithms = names.filter((algorithm) =>
    isRead({ algorithm, aggregation: "constant", klCoef: 1 })
  );
  return { algorithms, needs };
}

/** Whether a key is read under a configuration: `clipLow` is not, where the surrogate is not clipped. */
export function isKeyRead(key: string, config: ReadConfig): boolean {
  return !Object.hasOwn(READERS, key) || READERS[key]?.isRead(config) === true;
}

/**
 * Looks for a key that is set and that nothing reads: a mistake that nobody would see. A key at its default says nothing, so
 * that a run's own configuration can be handed over as a file.
 *
 * @param config The complete configuration.
 * @param options.given The keys that were set, with their values.
 * @param options.defaults What each key is where nobody sets it.
 * @returns One sentence with the key and who reads it; undefined where every key that was set is read.
 */
export function describeUnread(
  config: ReadConfig,
  options: {
    readonly given: Readonly<Record<string, unknown>>;
    readonly defaults: ReadonlyMap<string, unknown>;
  },
): string | undefined {
  const { given, defaults } = options;
  const found = Object.entries(READERS).find(([key, { isRead }]) =>
    Object.hasOwn(given, key) && !isRead(config) &&
    JSON.stringify(given[key]) !== JSON.stringify(defaults.get(key))
  );
  if (found === undefined) return undefined;
  const [key, { unread, readers }] = found;
  return `${key} has no effect ${unread(config)}; ${readers}`;
}
