/** Collects the rows that a reader finds into a {@linkcode RunLog}: merges rows of one step, and finds the restarts. */
import type { LogColumn, LogRows, LogSettings, RunLog, Seam } from "./run_log.ts";

/** A number, or null where the file says that there is none. */
export type LogValue = number | null;

/** Where a row begins. */
export interface RowPlace {
  /** Its line, of binary files its record, from 1. */
  readonly line: number;
}

/** A list of numbers that grows in place: a plain array of a million numbers costs several times as much. */
class GrowingNumbers<A extends Float64Array | Uint32Array> {
  #length = 0;
  #values: A;
  readonly #make: (length: number) => A;

  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#values = make(16);
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): number {
    return this.#values[index];
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = this.#make(this.#length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  finish(): A {
    return this.#values.slice(0, this.#length) as A;
  }
}

const growingFloats = () => new GrowingNumbers((length) => new Float64Array(length));
const growingIndices = () => new GrowingNumbers((length) => new Uint32Array(length));

interface GrowingColumn {
  readonly key: string;
  readonly rows: GrowingNumbers<Uint32Array>;
  readonly values: GrowingNumbers<Float64Array>;
  readonly nulls: Set<number>;
  /** The furthest step of the current stretch. */
  lastStep: number;
}

/** Builds a log row by row. */
export class RunLogBuilder {
  readonly #steps = growingFloats();
  readonly #files = growingIndices();
  readonly #lines = growingIndices();
  readonly #stretches = growingIndices();
  readonly #columns = new Map<string, GrowingColumn>();
  readonly #seams: Seam[] = [];
  readonly #fileNames: string[] = [];
  readonly #ignored = new Map<string, { count: number; readonly example: string }>();
  /** Rows of the current stretch by step. */
  #rowOfStep = new Map<number, number>();
  #lastStep = -Infinity;
  #settings: LogSettings = {};

  /** Rows so far. */
  get rowCount(): number {
    return this.#steps.length;
  }

  /** Begins another file; the rows that follow are in it. */
  beginFile(name: string): void {
    this.#fileNames.push(name);
  }

  /** Notes something that was passed over. */
  ignore(what: string, example: string): void {
    const entry = this.#ignored.get(what);
    if (entry) entry.count++;
    else this.#ignored.set(what, { count: 1, example: example.slice(0, 120) });
  }

  /** Notes what the file tells of the run; later words win. */
  set(settings: LogSettings): void {
    this.#settings = { ...this.#settings, ...settings };
  }

  /**
   * Adds what the file says of a step. Rows of one step are merged, also late ones of a writer that lags behind; of a key
   * that comes twice the later value stands. A key that goes back begins a new stretch of the run.
   *
   * @param step The step, in the unit of the file; a finite number.
   * @param entries Keys and numbers.
   */
  add(step: number, place: RowPlace, entries: Iterable<readonly [string, LogValue]>): void {
    const pairs = [...entries];
    if (pairs.length === 0) return;
    const goesBack = pairs.some(([key]) => (this.#columns.get(key)?.lastStep ?? -Infinity) > step);
    if (goesBack) this.#beginStretch(step);
    const row = this.#rowOfStep.get(step) ?? this.#addRow(step, place);
    for (const [key, value] of pairs) this.#addValue(key, { row, step, value });
    this.#lastStep = Math.max(this.#lastStep, step);
  }

  /**
   * Notes that the file itself says that the run begins anew at a step: what stands there from that step on is overruled,
   * whether or not anything follows.
   */
  restart(nextStep: number): void {
    if (nextStep <= this.#lastStep) this.#beginStretch(nextStep);
  }

  #beginStretch(nextStep: number): void {
    this.#seams.push({ row: this.#steps.length, lastStep: this.#lastStep, nextStep });
    this.#rowOfStep = new Map();
    this.#lastStep = -Infinity;
    for (const column of this.#columns.values()) column.lastStep = -Infinity;
  }

  #addRow(step: number, { line }: RowPlace): number {
    const row = this.#steps.length;
    this.#steps.push(step);
    this.#files.push(Math.max(0, this.#fileNames.length - 1));
    this.#lines.push(line);
    this.#stretches.push(this.#seams.length);
    this.#rowOfStep.set(step, row);
    return row;
  }

  #addValue(
    key: string,
    { row, step, value }: {
      readonly row: number;
      readonly step: number;
      readonly value: LogValue;
    },
  ): void {
    let column = this.#columns.get(key);
    if (!column) {
      column = {
        key,
        rows: growingIndices(),
        values: growingFloats(),
        nulls: new Set(),
        lastStep: -Infinity,
      };
      this.#columns.set(key, column);
    }
    // A repeated key of the newest row replaces its value; an older one is appended, and the later value of a step wins.
    const last = column.rows.length - 1;
    const index = last >= 0 && column.rows.at(last) === row ? last : last + 1;
    if (index > last) {
      column.rows.push(row);
      column.values.push(NaN);
    }
    column.values.set(index, value ?? NaN);
    if (value === null) column.nulls.add(index);
    else column.nulls.delete(index);
    column.lastStep = Math.max(column.lastStep, step);
  }

  /** The log. @param source What it was read from. */
  finish(
    source: {
      readonly path: string;
      readonly form: string;
      readonly producer?: string | undefined;
    },
  ): RunLog {
    const rows: LogRows = {
      count: this.#steps.length,
      steps: this.#steps.finish(),
      files: this.#files.finish(),
      lines: this.#lines.finish(),
      stretches: this.#stretches.finish(),
    };
    const columns = new Map<string, LogColumn>();
    for (const [key, column] of this.#columns) {
      const { nulls } = column;
      columns.set(key, {
        key,
        rows: column.rows.finish(),
        values: column.values.finish(),
        nulls,
      });
    }
    const ignored = Array.from(this.#ignored, ([what, entry]) => ({ what, ...entry }));
    const { path, form, producer } = source;
    const files = this.#fileNames;
    const seams = this.#seams;
    return {
      source: { path, form, producer, files, ignored },
      rows,
      columns,
      seams,
      settings: this.#settings,
    };
  }
}
