/** What families over [B, T] share: log-probs, masks, and what a row of a batch is. */
import { lattice, type VectorCase, withInput } from "../family.ts";
import { mapValues, matrix, rowsOf, type Values } from "../values.ts";

/** A row of several arrays. */
export type RowOf<Name extends string> = Readonly<Record<Name, readonly number[]>>;

/** Rows of the named inputs of a case, side by side. */
export function gridRows<const Name extends string>(
  { inputs }: VectorCase,
  names: readonly Name[],
): RowOf<Name>[] {
  const columns = names.map((name) => {
    const values = inputs[name];
    return values === undefined ? [] : rowsOf(values);
  });
  return Array.from({ length: columns[0]?.length ?? 0 }, (_, b) => {
    const row: Record<string, readonly number[]> = {};
    for (const [i, name] of names.entries()) row[name] = columns[i]?.[b] ?? [];
    return row as RowOf<Name>;
  });
}

/** Log-probs whose differences from `base` are given, as float32. */
export function shiftedLogps(base: Values, differences: readonly number[]): Values {
  return mapValues(base, (value, i) => Math.fround(value - (differences[i] ?? 0)));
}

/** Log-probs of a shape. */
export function logps([B = 0, T = 0]: readonly number[], seed: number): Values {
  return { shape: [B, T], values: lattice(B * T, { seed, low: -3, high: -0.125 }) };
}

/** One number for each row, in all of its columns. */
export function perRow(values: readonly number[], columnCount: number): Values {
  return matrix(values.map((value) => Array.from({ length: columnCount }, () => value)));
}

/** The case with the mask moved, or otherwise changed row by row. */
export function withMaskRows(
  vectorCase: VectorCase,
  change: (row: readonly number[]) => readonly number[],
): VectorCase {
  return withInput(vectorCase, "mask", (mask) => matrix(rowsOf(mask).map(change)));
}
