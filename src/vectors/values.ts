/** Arrays of vectors: their shape, float64 values, how they are written, and how two of them are compared. */

/** An array in row-major order; a scalar has the shape []. */
export interface Values {
  /** Length of each axis, outermost first. */
  readonly shape: readonly number[];
  /** As many as the axes say. */
  readonly values: readonly number[];
}

/** Arrays by name. */
export type Arrays = Readonly<Record<string, Values>>;

/** A scalar. */
export function scalar(value: number): Values {
  return { shape: [], values: [value] };
}

/** A row. */
export function row(values: readonly number[]): Values {
  return { shape: [values.length], values };
}

/** A matrix from its rows, which are equally long. */
export function matrix(rows: readonly (readonly number[])[]): Values {
  return { shape: [rows.length, rows[0]?.length ?? 0], values: rows.flat() };
}

/** The rows of a matrix. */
export function rowsOf({ shape: [rowCount = 0, columnCount = 0], values }: Values): number[][] {
  return Array.from(
    { length: rowCount },
    (_, b) => values.slice(b * columnCount, (b + 1) * columnCount),
  );
}

/** The array with each value replaced. */
export function mapValues(
  { shape, values }: Values,
  change: (value: number, index: number) => number,
): Values {
  return { shape, values: values.map(change) };
}

/** A number as JSON has it: those that are not finite as texts. */
export type JsonNumber = number | "NaN" | "Infinity" | "-Infinity";

/** A number for JSON. −0 becomes 0, which no tolerance tells apart. */
export function toJson(value: number): JsonNumber {
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

/** The eight hexadecimal digits of a number as float32, most significant first; NaN is 7fc00000. */
export function float32Digits(value: number): string {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, Number.isNaN(value) ? NaN : value);
  return Number.isNaN(value) ? "7fc00000" : view.getUint32(0).toString(16).padStart(8, "0");
}

/** How far a result may be from what is expected. */
export interface Tolerance {
  /** As a share of the largest finite expected value of the array. */
  readonly relative: number;
  /** Added to it. */
  readonly absolute: number;
  /** Why these. */
  readonly reason: string;
}

/** The largest finite absolute value; 0 where there is none. */
export function scaleOf(values: readonly number[]): number {
  let most = 0;
  for (const value of values) {
    const size = Math.abs(value);
    if (size > most && size < Infinity) most = size;
  }
  return most;
}

/**
 * The distance of a result from what is expected, in tolerances: at most 1 where they agree. NaN agrees with NaN and an infinity with
 * itself; with anything else they are infinitely far, as is a result of another size.
 *
 * @param got The result.
 */
export function distance(
  got: readonly number[],
  expected: readonly number[],
  { relative, absolute }: Tolerance,
): number {
  if (got.length !== expected.length) return Infinity;
  const allowed = absolute + relative * scaleOf(expected);
  let most = 0;
  for (let i = 0; i < expected.length; i++) {
    const value = expected[i] ?? NaN;
    const found = got[i] ?? NaN;
    // What is beyond float32 is infinite there, and right.
    if (Object.is(found, value) || found === value || found === Math.fround(value)) continue;
    const error = Math.abs(found - value) / allowed;
    if (Number.isNaN(error)) return Infinity;
    if (error > most) most = error;
  }
  return most;
}
