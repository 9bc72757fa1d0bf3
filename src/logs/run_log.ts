/** A run's log as columns, whatever file it came from: every number under its own key, with its step and its place. */

/** How far the values of a column are known where their writer rounded them. */
export type LogRounding =
  /** To so many places after the decimal point. */
  | { readonly decimals: number }
  /** To so many significant digits. */
  | { readonly digits: number };

/** Numbers of one key, in the order in which the file has them. */
export interface LogColumn {
  /** The key as the file spells it, without a unit that is in it. */
  readonly key: string;
  /** Row of each value; indices into {@linkcode LogRows}. */
  readonly rows: Uint32Array;
  /** The values: NaN and ±Infinity as they stood, NaN also where the file says that there is none. */
  readonly values: Float64Array;
  /** Indices of the values that the file gives as not available (null, `No Log`): they are not numbers gone wrong. */
  readonly nulls: ReadonlySet<number>;
  /** The axis of all its rows; an index into {@linkcode RunLog.axes}. */
  readonly axis: number;
  /** Set where the text of the values shows that they were rounded. */
  readonly rounding?: LogRounding;
}

/** The rows of a log, parallel arrays. A row is what one stretch of the run says of one step of one axis. */
export interface LogRows {
  readonly count: number;
  /** The step that each row speaks of, in the unit of the file. */
  readonly steps: Float64Array;
  /** The file of each row; an index into {@linkcode LogSource.files}. */
  readonly files: Uint32Array;
  /** The line (of binary files the record) where the row begins, from 1. */
  readonly lines: Uint32Array;
  /** What the steps count; indices into {@linkcode RunLog.axes}. */
  readonly axes: Uint32Array;
  /** Restarts on the row's axis before the row: 0 until its first seam. */
  readonly stretches: Uint32Array;
}

/** A restart within a log: keys continue at a step that they had passed already. */
export interface Seam {
  /** The axis that goes back; an index into {@linkcode RunLog.axes}. A restart is a seam on each axis that it sets back. */
  readonly axis: number;
  /** The first row after the restart. */
  readonly row: number;
  /** The last step before it. */
  readonly lastStep: number;
  /** The step at which the log continues. */
  readonly nextStep: number;
}

/** What decides how a log must be read and what a file may tell by itself; each has a flag of the same meaning. */
export interface LogSettings {
  /** Steps that the run was to make, in the unit of the rows' steps. */
  readonly plannedSteps?: number;
  /** Steps from one row to the next. */
  readonly loggingSteps?: number;
  /** Optimizer steps made on one batch of rollouts (its iterations × its minibatches). */
  readonly updatesPerBatch?: number;
  /** Coefficient of the KL to the reference; 0: none. */
  readonly klCoef?: number;
  /** Completions per prompt. */
  readonly groupSize?: number;
  /** The cap on a completion, in tokens. */
  readonly maxLength?: number;
  /** Precision of the engine that samples. */
  readonly sampler?: "bf16" | "fp8" | "f32";
}

/** Where a log comes from, and what of it was understood. */
export interface LogSource {
  /** The path as it was given; `-` for standard input. */
  readonly path: string;
  /** The name of the form that was read, for example `trainer_state`. */
  readonly form: string;
  /** The files that were read. */
  readonly files: readonly string[];
  /** The producer where the form alone tells it (verl's console lines); the keys decide otherwise. */
  readonly producer: string | undefined;
  /** What was skipped: lines, values that are not numbers, each kind with its count and one example. */
  readonly ignored: readonly {
    readonly what: string;
    readonly count: number;
    readonly example: string;
  }[];
}

/** A run's log. */
export interface RunLog {
  readonly source: LogSource;
  readonly rows: LogRows;
  /**
   * What steps count, in the order of first appearance. Steps of different axes must never be compared. Most logs have one:
   * `step`; `row` where the file tells no steps and rows were counted; slime has `rollout` and `step` (of the optimizer).
   */
  readonly axes: readonly string[];
  /** By key, in the order in which they first appear. */
  readonly columns: ReadonlyMap<string, LogColumn>;
  /** In the order of the file. */
  readonly seams: readonly Seam[];
  readonly settings: LogSettings;
}

/** A key's values by step as the run that survived saw them. */
export interface LogSeries {
  readonly key: string;
  /** An index into {@linkcode RunLog.axes}. */
  readonly axis: number;
  /** Ascending, each step once. */
  readonly steps: Float64Array;
  /** NaN where it was NaN or not available; `isNull` tells which. */
  readonly values: Float64Array;
  /** 1 where the file says that there is no value. */
  readonly isNull: Uint8Array;
  /** The row of each value, for its place. */
  readonly rows: Uint32Array;
  readonly rounding?: LogRounding;
}

/** The step from which later stretches of an axis overrule each stretch but the last: the least first step of all behind it. */
export function overruledFrom({ seams }: RunLog, ofAxis: number): readonly number[] {
  const cutOf = seams.filter(({ axis }) => axis === ofAxis).map(({ nextStep }) => nextStep);
  for (let s = cutOf.length - 2; s >= 0; s--) cutOf[s] = Math.min(cutOf[s], cutOf[s + 1]);
  return cutOf;
}

/**
 * A key's values by step: after a restart the later stretch replaces the steps that the earlier one had reached beyond it.
 *
 * @param log The log.
 * @param key A key of its columns.
 * @returns The series; undefined where the log has no such key.
 */
export function seriesOf(log: RunLog, key: string): LogSeries | undefined {
  const column = log.columns.get(key);
  if (!column) return undefined;
  const cutOf = overruledFrom(log, column.axis);
  const { stretches } = log.rows;
  const stepOf = (index: number) => log.rows.steps[column.rows[index]];
  let kept = new Uint32Array(column.rows.length);
  let count = 0;
  let isAscending = true;
  for (let i = 0; i < column.rows.length; i++) {
    if (!(stepOf(i) < (cutOf[stretches[column.rows[i]]] ?? Infinity))) continue;
    isAscending &&= count === 0 || stepOf(kept[count - 1]) <= stepOf(i);
    kept[count++] = i;
  }
  kept = kept.subarray(0, count);
  // Stable, so that of equal steps the later value stands last and wins. Most logs are in order: sorting a million takes seconds.
  if (!isAscending) kept.sort((a, b) => stepOf(a) - stepOf(b));
  const last = kept.filter((i, n) => n + 1 === count || stepOf(kept[n + 1]) !== stepOf(i));
  const isNull = new Uint8Array(last.length);
  if (column.nulls.size > 0) {
    last.forEach((i, n) => {
      isNull[n] = Number(column.nulls.has(i));
    });
  }
  // What lies as it should is not copied: a million rows of many keys would not fit twice.
  const isWhole = isAscending && last.length === column.rows.length;
  const hasAllRows = isWhole && last.length === log.rows.count;
  return {
    key,
    axis: column.axis,
    ...(column.rounding && { rounding: column.rounding }),
    steps: hasAllRows ? log.rows.steps : Float64Array.from(last, stepOf),
    values: isWhole ? column.values : Float64Array.from(last, (i) => column.values[i]),
    isNull,
    rows: isWhole ? column.rows : last.map((i) => column.rows[i]),
  };
}

/** Where a row stands, for people: `logs/a.jsonl:12`. */
export function placeOf({ source, rows }: RunLog, row: number): string {
  return `${source.files[rows.files[row]]}:${rows.lines[row]}`;
}

/**
 * How far a value can lie from what the trainer computed, because its writer rounded it: 0.0005 for a `1.000`. A rule that
 * certifies an exact value must not do so from a rounded one.
 *
 * @param rounding Of the value's column or series.
 * @returns Half a unit of the last place; 0 where nothing shows that the value was rounded.
 */
export function roundingErrorOf(rounding: LogRounding | undefined, value: number): number {
  if (!rounding || !Number.isFinite(value)) return 0;
  if ("decimals" in rounding) return 0.5 * 10 ** -rounding.decimals;
  // Rounding to significant digits keeps an exact zero, and makes none.
  if (value === 0) return 0;
  return 0.5 * 10 ** (Math.floor(Math.log10(Math.abs(value))) + 1 - rounding.digits);
}
