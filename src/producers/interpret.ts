/** Gives a log its meaning: who wrote it and when, which of its keys measures what, and what its settings are. */
import {
  type LogSeries,
  type LogSettings,
  overruledFrom,
  type RunLog,
  seriesOf,
} from "../logs/run_log.ts";
import type { CanonicalMetric, Era, LogTraits, MetricDefinition, Producer } from "./definition.ts";
import { hasDecimals } from "./log_traits.ts";
import { GENERIC_DEFINITIONS, OUR_NAMES, STATED_DEFINITIONS } from "./generic.ts";
import { PRODUCERS } from "./producers.ts";
import { entriesOf, type Reading, readKey, wholeKey } from "./read_keys.ts";
import { namesOf, recogniseProducer, traitsOf } from "./recognise.ts";
import type { KnownSettings, MeasuredSeries, RunView, Wanted } from "./run_view.ts";

function settingsOf(
  sources: readonly (readonly ["flag" | "file" | "implied", LogSettings])[],
): KnownSettings {
  const known: Record<string, unknown> = {};
  for (const [from, settings] of sources) {
    for (const [name, value] of Object.entries(settings)) {
      if (value !== undefined && !Object.hasOwn(known, name)) known[name] = { value, from };
    }
  }
  return known as KnownSettings;
}

function stepsOf(log: RunLog): Float64Array {
  // Steps beyond a restart's first one were taken back, as in seriesOf().
  const { steps, stretches, axes } = log.rows;
  const cutOf = overruledFrom(log, 0);
  const kept = steps.filter((step, row) =>
    axes[row] === 0 && step < (cutOf[stretches[row]] ?? Infinity)
  );
  const isAscending = kept.every((step, index) => index === 0 || kept[index - 1] <= step);
  const sorted = isAscending ? kept : kept.sort();
  return sorted.filter((step, index) => index === 0 || step !== sorted[index - 1]);
}

/** The eras of a producer that a log can be of. */
function possibleEras(producer: Producer | undefined, traits: LogTraits): readonly Era[] {
  if (!producer) return [];
  const possible = producer.eras.filter((era) => era.fits(traits));
  return possible.length === 0 ? producer.eras : possible;
}

function fitsWanted({ quantity, over }: MetricDefinition, wanted: Wanted): boolean {
  return (!wanted.quantity || wanted.quantity.includes(quantity)) &&
    (!wanted.over || wanted.over.includes(over));
}

/** Columns that every form may have beside the metrics. */
const BOOKKEEPING =
  /^(?:_?step|_runtime|_timestamp|_wandb[./].+|time|global_step|train\/global_step)$/;

function isAlsoLogged(key: string, alsoLogs: readonly RegExp[]): boolean {
  return BOOKKEEPING.test(key) ||
    namesOf(key).some((name) => alsoLogs.some((pattern) => pattern.test(name)));
}

/** The keys that have a meaning, the preferred one of a metric first, and those that nothing is known of. */
function readKeys(
  log: RunLog,
  { producer, eras }: { readonly producer: Producer | undefined; readonly eras: readonly Era[] },
): { readonly readings: readonly Reading[]; readonly unknown: readonly string[] } {
  const eraIds = eras.length > 0 ? new Set(eras.map(({ id }) => id)) : undefined;
  const definitions = [...producer?.definitions ?? GENERIC_DEFINITIONS, ...STATED_DEFINITIONS];
  const entries = entriesOf(definitions, eraIds);
  // Our names may stand for keys that the producer does not have: --map gives them.
  const ours = entriesOf(OUR_NAMES, undefined)
    .map((entry) => ({ ...entry, index: entry.index + definitions.length }));
  const alsoLogs = (producer?.alsoLogs ?? []).map(wholeKey);
  const readings: Reading[] = [];
  const unknown: string[] = [];
  for (const key of log.columns.keys()) {
    const own = readKey(key, entries);
    const isKnown = own !== undefined || isAlsoLogged(key, alsoLogs);
    const reading = own ?? (isKnown ? undefined : readKey(key, ours));
    if (reading) readings.push(reading);
    else if (!isKnown) unknown.push(key);
  }
  // Stable: of equal preference the log's own order.
  return { readings: readings.sort((a, b) => a.index - b.index), unknown };
}

/** How far values are known: as their text shows, or as their producer is known to round before it writes. */
function roundingOf({ rounding, values }: LogSeries, decimals: number | undefined) {
  if (rounding || decimals === undefined) return rounding;
  // Values with more digits than the producer is said to keep are of a build that keeps more.
  const holds = values.every((value) => !Number.isFinite(value) || hasDecimals(value, decimals));
  return holds ? { decimals } : undefined;
}

/**
 * Gives a log its meaning.
 *
 * @param log The log.
 * @param options.settings What the user says of the run; outranks the file, and the file what the keys imply.
 * @param options.producer Who wrote it, where the user says so; the log's form or its keys tell otherwise.
 * @returns The log as rules see it. A key whose definition depends on an era that the log does not tell is handed only to
 *   rules that can use it whichever era it is.
 */
export function interpret(
  log: RunLog,
  { settings, producer: given }: {
    readonly settings: LogSettings;
    readonly producer?: Producer | undefined;
  },
): RunView {
  const traits = traitsOf(log);
  const ofForm = PRODUCERS.find(({ id }) => id === log.source.producer);
  const producer = given ?? recogniseProducer(traits, ofForm);
  const eras = possibleEras(producer, traits);
  const { readings, unknown } = readKeys(log, { producer, eras });
  const measured = new Map<string, MeasuredSeries>();
  const measure = ({ key, definition, part }: Reading): MeasuredSeries => {
    const known = measured.get(key);
    if (known) return known;
    const series: LogSeries | undefined = seriesOf(log, key);
    if (!series) throw new RangeError(`The log has no column ${key}`);
    const rounding = roundingOf(series, definition.decimals);
    const result = { ...series, ...(rounding && { rounding }), definition, part };
    measured.set(key, result);
    return result;
  };
  const find = (metric: CanonicalMetric, wanted: Wanted) =>
    readings.filter((reading) =>
      reading.metric === metric && reading.candidates.every((one) => fitsWanted(one, wanted))
    );
  return {
    log,
    producer,
    era: eras.length === 1 ? eras[0] : undefined,
    settings: settingsOf([
      ["flag", settings],
      ["file", log.settings],
      ["implied", producer?.implied?.(traits) ?? {}],
    ]),
    understood: readings.map(({ key }) => key),
    unknown,
    steps: stepsOf(log),
    measured: (metric, wanted = {}) => find(metric, wanted).slice(0, 1).map(measure)[0],
    all: (metric, wanted = {}) => find(metric, wanted).map(measure),
  };
}
