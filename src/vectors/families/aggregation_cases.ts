/** Cases of the family `aggregation`: holes, empty rows, one token, padding on both sides, permuted rows, NaN under the mask. */
import { lattice, type VectorCase } from "../family.ts";
import { mapValues, matrix, rowsOf, type Values } from "../values.ts";

/** Rows of a mask, written as texts of 0 and 1. */
export function maskOf(...rows: readonly string[]): Values {
  return matrix(rows.map((text) => Array.from(text, Number)));
}

/** Terms for a mask. */
function termsOf({ shape: [B = 0, T = 0] }: Values, seed: number): Values {
  return { shape: [B, T], values: lattice(B * T, { seed, low: -2, high: 3 }) };
}

/** Rows in another order. */
export function reordered(values: Values, order: readonly number[]): Values {
  const rows = rowsOf(values);
  return matrix(order.map((b) => rows[b] ?? []));
}

/** Columns of padding on both sides. */
export function padded(
  values: Values,
  { left, right, fill }: {
    readonly left: number;
    readonly right: number;
    readonly fill: (index: number) => number;
  },
): Values {
  return matrix(
    rowsOf(values).map((row, b) => [
      ...Array.from({ length: left }, (_, t) => fill(b * 7 + t)),
      ...row,
      ...Array.from({ length: right }, (_, t) => fill(b * 5 + t + 3)),
    ]),
  );
}

const RAGGED = maskOf("11111100", "11000000", "11110000", "10000000");
const RAGGED_TERM = termsOf(RAGGED, 2);
const HOLES = maskOf("0110111", "1001100", "0111110");
const HOLES_TERM = termsOf(HOLES, 3);

/** What stands outside the mask replaced. */
export function maskedAs(values: Values, mask: Values, by: number): Values {
  return mapValues(values, (value, i) => mask.values[i] === 0 ? by : value);
}

function aggregationCase(
  id: string,
  about: string,
  rest: {
    readonly mask: Values;
    readonly term: Values;
    readonly maxLength?: number;
    readonly isEdge?: true;
    readonly sameAs?: string;
  },
): VectorCase {
  const { mask, term, maxLength = 16, ...others } = rest;
  return { id, about, inputs: { term, mask }, config: { maxLength }, ...others };
}

const FULL = maskOf("1111", "1111", "1111");
const EMPTY_ROW = maskOf("11100", "00000", "11111", "01000");
const LEFT = maskOf("00011111", "00000111", "01111111");
const ONE = maskOf("0000", "0010");
const ALONE = maskOf("01101");
const NOTHING = maskOf("000", "000");

/** The cases. */
export const AGGREGATION_CASES: readonly VectorCase[] = [
  aggregationCase("full", "every token counts", { mask: FULL, term: termsOf(FULL, 1) }),
  aggregationCase("ragged", "rows of 6, 2, 4 and 1 token, padded on the right", {
    mask: RAGGED,
    term: RAGGED_TERM,
  }),
  aggregationCase("holes", "tool output in the middle of answers", {
    mask: HOLES,
    term: HOLES_TERM,
    maxLength: 10,
  }),
  aggregationCase("empty_row", "a row without a trained token", {
    mask: EMPTY_ROW,
    term: termsOf(EMPTY_ROW, 4),
  }),
  aggregationCase("left_padding", "rows of 5, 3 and 7 tokens, padded on the left", {
    mask: LEFT,
    term: termsOf(LEFT, 5),
    maxLength: 9,
  }),
  aggregationCase("one_token", "one trained token in two rows", {
    mask: ONE,
    term: termsOf(ONE, 6),
  }),
  aggregationCase("one_row", "a batch of one row", { mask: ALONE, term: termsOf(ALONE, 7) }),
  aggregationCase("permuted_rows", "ragged with its rows in another order", {
    mask: reordered(RAGGED, [2, 0, 3, 1]),
    term: reordered(RAGGED_TERM, [2, 0, 3, 1]),
    sameAs: "ragged",
  }),
  aggregationCase("other_values_masked", "holes with other finite values outside the mask", {
    mask: HOLES,
    term: maskedAs(HOLES_TERM, HOLES, 100),
    maxLength: 10,
    sameAs: "holes",
  }),
  aggregationCase("nan_masked", "holes with NaN outside the mask", {
    mask: HOLES,
    term: maskedAs(HOLES_TERM, HOLES, NaN),
    maxLength: 10,
    isEdge: true,
    sameAs: "holes",
  }),
  aggregationCase("infinity_masked", "holes with infinity outside the mask", {
    mask: HOLES,
    term: maskedAs(HOLES_TERM, HOLES, Infinity),
    maxLength: 10,
    isEdge: true,
    sameAs: "holes",
  }),
  aggregationCase("empty_batch", "no trained token at all", {
    mask: NOTHING,
    term: termsOf(NOTHING, 8),
    isEdge: true,
  }),
];
