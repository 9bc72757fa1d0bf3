/** Collects the rows that a reader finds into a {@linkcode RunLog}: merges rows of one step, and finds the restarts. */
import { growingFloats, growingIndices, type GrowingNumbers } from "./growing_numbers.ts";
import { Ignored } from "./ignored.ts";
import type { LogColumn, LogRows, LogSettings, RunLog, Seam } from "./run_log.ts";
import { WrittenDigits } from "./written_digits.ts";

/** No trainer has longer keys; a file of junk has, and they would be in every message. */
const MAX_KEY_LENGTH = 1000;
/** The largest logs of runs have some ten thousand keys; a file with a key of its own in each row would fill the memory. */
const MAX_KEYS = 131_072;

/** A number, or null where the file says that there is none. */
export type LogValue = number | null;

/**
 * A key, its number, and the number as the file spells it (with the quotes around it, if any), where that shows how it was
 * rounded: readers of text give it, those of binary forms and of JSON numbers do not.
 */
export type LogEntry = readonly [key: string, value: LogValue, written?: string | undefined];

/** Where a row begins, and what its step counts. */
export interface RowPlace {
  /** Its line, of binary files its record, from 1. */
  readonly line: number;
  /** `step` where it is left out; see {@linkcode RunLog.axes}. */
  readonly axis?: string;
}

/** What a reader tells of a log. */
export interface LogSink {
  /** Adds what the file says of a step. */
  add(step: number, place: RowPlace, entries: Iterable<LogEntry>): void;
  /** Notes something that was skipped. */
  ignore(what: string, example: string, count?: number): void;
  /** Notes what the file tells of the run. */
  set(settings: LogSettings): void;
  /** Says which form it is, of a reader that finds it out while it reads. */
  identify(found: FoundForm): void;
}

/** A form that was found while reading. */
export interface FoundForm {
  readonly form: string;
  readonly producer?: string;
}

interface GrowingColumn {
  readonly key: string;
  readonly axis: Axis;
  readonly rows: GrowingNumbers<Uint32Array>;
  readonly values: GrowingNumbers<Float64Array>;
  readonly nulls: Set<number>;
  readonly digits: WrittenDigits;
  /** The furthest step of the current stretch. */
  lastStep: number;
}

interface Axis {
  readonly index: number;
  readonly columns: GrowingColumn[];
  /** The current stretch: its number, its first row, its furthest step and that step's row. */
  stretch: number;
  firstRow: number;
  lastStep: number;
  lastRow: number;
  /** Its rows by step, made when the first row comes late: most logs have none. */
  rowOfStep: Map<number, number> | undefined;
}

/** Builds a log row by row. */
export class RunLogBuilder implements LogSink {
  readonly #steps = growingFloats();
  readonly #files = growingIndices();
  readonly #lines = growingIndices();
  readonly #axisOfRow = growingIndices();
  readonly #stretches = growingIndices();
  readonly #axes = new Map<string, Axis>();
  readonly #columns = new Map<string, GrowingColumn>();
  readonly #seams: Seam[] = [];
  readonly #fileNames: string[] = [];
  readonly #ignored = new Ignored();
  #settings: LogSettings = {};
  #found: FoundForm | undefined;

  /** Rows so far. */
  get rowCount(): number {
    return this.#steps.length;
  }

  /** Begins another file; the rows that follow are in it. */
  beginFile(name: string): void {
    this.#fileNames.push(name);
  }

  /**
   * Notes something that was skipped.
   *
   * @param what Its kind, for example `values that are text`.
   * @param example Kept of the first of its kind.
   */
  ignore(what: string, example: string, count = 1): void {
    this.#ignored.ignore(what, example, count);
  }

  /** Notes what the file tells of the run; later words win. */
  set(settings: LogSettings): void {
    this.#settings = { ...this.#settings, ...settings };
  }

  /** Says which form it is, of a reader that finds it out while it reads; outranks what `finish` is told. */
  identify(found: FoundForm): void {
    this.#found = found;
  }

  /**
   * Adds what the file says of a step. Rows of one step are merged, also late ones of a writer that lags behind; of a key
   * that comes twice the later value stands. Keys that go back begin a new stretch of the run.
   *
   * @param step The step, in the unit of the file; a finite number.
   * @param entries Keys and numbers.
   */
  add(step: number, place: RowPlace, entries: Iterable<LogEntry>): void {
    const list = [...entries];
    if (list.length === 0) return;
    if (!Number.isFinite(step)) return this.ignore("rows without a finite step", String(step));
    const axis = this.#axisOf(place.axis ?? "step");
    if (this.#goesBack(axis, { step, list })) this.#beginStretch(axis, step);
    const row = this.#rowOf(axis, step) ?? this.#addRow(axis, { step, line: place.line });
    for (const entry of list) this.#addValue(axis, { row, step, entry });
  }

  #axisOf(name: string): Axis {
    let axis = this.#axes.get(name);
    if (!axis) {
      const index = this.#axes.size;
      axis = {
        index,
        columns: [],
        stretch: 0,
        firstRow: this.#steps.length,
        lastStep: -Infinity,
        lastRow: -1,
        rowOfStep: undefined,
      };
      this.#axes.set(name, axis);
    }
    return axis;
  }

  /**
   * True where a row is from a run that was set back. Two writers of one log (trainer and orchestrator) share a few keys, such
   * as the time, and one of them may lag; so most of the row's keys must have passed its step, or most of the keys that have
   * passed it must be in the row.
   */
  #goesBack(
    axis: Axis,
    { step, list }: { readonly step: number; readonly list: readonly LogEntry[] },
  ): boolean {
    if (step >= axis.lastStep) return false;
    let passed = 0;
    for (const [key] of list) {
      if ((this.#columns.get(key)?.lastStep ?? -Infinity) > step) passed++;
    }
    if (passed === 0) return false;
    if (passed * 2 > list.length) return true;
    return passed * 2 > axis.columns.filter(({ lastStep }) => lastStep > step).length;
  }

  /**
   * Notes that the file itself says that the run starts over at a step: what stands there from that step on is overruled,
   * whether or not anything follows.
   */
  restart(nextStep: number, axisName = "step"): void {
    const axis = this.#axisOf(axisName);
    const last = this.#seams.findLastIndex((seam) => seam.axis === axis.index);
    if (axis.lastStep === -Infinity && last >= 0) {
      // Nothing came since the last restart, so the two are one.
      const seam = this.#seams[last];
      this.#seams[last] = { ...seam, nextStep: Math.min(seam.nextStep, nextStep) };
    } else if (nextStep <= axis.lastStep) this.#beginStretch(axis, nextStep);
  }

  #beginStretch(axis: Axis, nextStep: number): void {
    this.#seams.push({
      axis: axis.index,
      row: this.#steps.length,
      lastStep: axis.lastStep,
      nextStep,
    });
    axis.rowOfStep = undefined;
    axis.firstRow = this.#steps.length;
    axis.lastStep = -Infinity;
    axis.stretch++;
    for (const column of axis.columns) column.lastStep = -Infinity;
  }

  #addRow(axis: Axis, { step, line }: { readonly step: number; readonly line: number }): number {
    const row = this.#steps.length;
    this.#steps.push(step);
    this.#files.push(Math.max(0, this.#fileNames.length - 1));
    this.#lines.push(line);
    this.#axisOfRow.push(axis.index);
    this.#stretches.push(axis.stretch);
    axis.rowOfStep?.set(step, row);
    if (step >= axis.lastStep) {
      axis.lastStep = step;
      axis.lastRow = row;
    }
    return row;
  }

  /** The row of a step in the current stretch. */
  #rowOf(axis: Axis, step: number): number | undefined {
    if (step > axis.lastStep) return undefined;
    if (step === axis.lastStep) return axis.lastRow;
    if (!axis.rowOfStep) {
      axis.rowOfStep = new Map();
      for (let row = axis.firstRow; row < this.#steps.length; row++) {
        if (this.#axisOfRow.at(row) === axis.index) axis.rowOfStep.set(this.#steps.at(row), row);
      }
    }
    return axis.rowOfStep.get(step);
  }

  /** The column of a key; undefined where it gets none. */
  #columnOf(key: string, axis: Axis): GrowingColumn | undefined {
    let column = this.#columns.get(key);
    if (!column) {
      if (key.length > MAX_KEY_LENGTH) {
        this.ignore(`values under keys of more than ${MAX_KEY_LENGTH} characters`, key);
        return undefined;
      }
      if (this.#columns.size === MAX_KEYS) {
        this.ignore(`values under keys beyond the first ${MAX_KEYS}`, key);
        return undefined;
      }
      column = {
        key,
        axis,
        rows: growingIndices(),
        values: growingFloats(),
        nulls: new Set(),
        digits: new WrittenDigits(),
        lastStep: -Infinity,
      };
      this.#columns.set(key, column);
      axis.columns.push(column);
    }
    return column;
  }

  #addValue(
    axis: Axis,
    { row, step, entry: [key, value, written] }: {
      readonly row: number;
      readonly step: number;
      readonly entry: LogEntry;
    },
  ): void {
    const column = this.#columnOf(key, axis);
    if (!column) return;
    if (column.axis !== axis) return this.ignore("values of a key that another axis has", key);
    // A repeated key of the newest row replaces its value; an older one is appended, and the later value of a step wins.
    const last = column.rows.length - 1;
    const index = last >= 0 && column.rows.at(last) === row ? last : last + 1;
    if (index > last) {
      column.rows.push(row);
      column.values.push(NaN);
    } else if (!column.nulls.has(index) && !Object.is(column.values.at(index), value ?? NaN)) {
      this.ignore("values that a later one of the same step replaced", `${key} at ${step}`);
    }
    column.values.set(index, value ?? NaN);
    if (value === null) column.nulls.add(index);
    else column.nulls.delete(index);
    if (value !== null) column.digits.see(written);
    column.lastStep = Math.max(column.lastStep, step);
  }

  /** The log; the builder is empty then. @param source What it was read from. */
  finish(source: { readonly path: string } & FoundForm): RunLog {
    return this.#log(source, { keeps: false });
  }

  /** The log so far; more rows can follow, of which it knows nothing. @param source What it is read from. */
  soFar(source: { readonly path: string } & FoundForm): RunLog {
    return this.#log(source, { keeps: true });
  }

  #log(
    source: { readonly path: string } & FoundForm,
    { keeps }: { readonly keeps: boolean },
  ): RunLog {
    const take = <A extends Float64Array | Uint32Array>(numbers: GrowingNumbers<A>): A =>
      keeps ? numbers.copy() : numbers.finish();
    const rows: LogRows = {
      count: this.#steps.length,
      steps: take(this.#steps),
      files: take(this.#files),
      lines: take(this.#lines),
      axes: take(this.#axisOfRow),
      stretches: take(this.#stretches),
    };
    const columns = new Map<string, LogColumn>();
    let shared: Uint32Array = new Uint32Array();
    for (const [key, column] of this.#columns) {
      const rounding = column.digits.rounding();
      // Most columns have a value in every row: they share one array.
      const own = take(column.rows);
      if (own.length !== shared.length || own.some((row, i) => row !== shared[i])) shared = own;
      columns.set(key, {
        key,
        rows: shared,
        values: take(column.values),
        nulls: keeps ? new Set(column.nulls) : column.nulls,
        axis: column.axis.index,
        ...(rounding && { rounding }),
      });
    }
    const ignored = this.#ignored.list();
    const { form, producer } = this.#found ?? source;
    return {
      source: { path: source.path, form, producer, files: [...this.#fileNames], ignored },
      rows,
      axes: [...this.#axes.keys()],
      columns,
      seams: [...this.#seams],
      settings: this.#settings,
    };
  }
}
