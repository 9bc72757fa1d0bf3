/** A log with its meaning: who wrote it, and which of its keys measures what. Rules see this and nothing else of a run. */
import type { LogSeries, LogSettings, RunLog } from "../logs/run_log.ts";
import type {
  CanonicalMetric,
  Era,
  MetricDefinition,
  Over,
  Producer,
  Quantity,
} from "./definition.ts";

/** Where a setting is known from: the user's flag outranks the file, and the file what the producer's keys imply. */
export interface KnownSetting<T> {
  readonly value: T;
  readonly from: "flag" | "file" | "implied";
}

/** The settings that decide a verdict, as far as they are known. */
export type KnownSettings = {
  readonly [K in keyof LogSettings]?: KnownSetting<NonNullable<LogSettings[K]>>;
};

/** A canonical metric as one key of the log measures it. */
export interface MeasuredSeries extends LogSeries {
  readonly definition: MetricDefinition;
  /** The name of a reward function or of a data set; empty where the metric has no parts. */
  readonly part: string;
}

/** Which definitions of a metric a rule can use; what is left out does not matter to it. */
export interface Wanted {
  readonly quantity?: readonly Quantity[];
  readonly over?: readonly Over[];
}

/** A log with its meaning. */
export interface RunView {
  readonly log: RunLog;
  /** Undefined where the keys are nobody's that is known. */
  readonly producer: Producer | undefined;
  /** Undefined where the keys do not tell it. */
  readonly era: Era | undefined;
  readonly settings: KnownSettings;
  /** The keys that have a meaning here, and those that have none. */
  readonly understood: readonly string[];
  readonly unknown: readonly string[];
  /** Steps of the log's first axis, ascending, as the run that survived saw them. */
  readonly steps: Float64Array;
  /** The first series of a metric whose definition fits; undefined where the log has none. */
  measured(metric: CanonicalMetric, wanted?: Wanted): MeasuredSeries | undefined;
  /** All series of a metric: its parts, and its other definitions. */
  all(metric: CanonicalMetric, wanted?: Wanted): readonly MeasuredSeries[];
}
