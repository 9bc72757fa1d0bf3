/** Tests of src/equations/aggregate.ts. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  AGGREGATION_MODES,
  type AggregationMode,
  aggregationWeights,
} from "../../src/equations/aggregate.ts";

/** Chapter 6's example: episodes of 4, 8 and 24 policy tokens. */
const LENGTHS = [4, 8, 24];
const SHAPE = { episodeCount: 3, columnCount: 24 };
const MASK_BT = LENGTHS.flatMap((length) =>
  Array.from({ length: 24 }, (_, t) => t < length ? 1 : 0)
);

/** Columns of the printed table: weight of a token of each episode, total weight of each episode. */
const TABLE: Record<AggregationMode, { readonly token: string[]; readonly total: string[] }> = {
  token_mean: { token: ["0.0278", "0.0278", "0.0278"], total: ["0.111", "0.222", "0.667"] },
  seq_mean_token_sum: { token: ["0.3333", "0.3333", "0.3333"], total: ["1.333", "2.667", "8.000"] },
  seq_mean_token_mean: {
    token: ["0.0833", "0.0417", "0.0139"],
    total: ["0.333", "0.333", "0.333"],
  },
  constant: { token: ["0.0139", "0.0139", "0.0139"], total: ["0.056", "0.111", "0.333"] },
};

for (const mode of AGGREGATION_MODES) {
  Deno.test(`aggregationWeights() prints chapter 6's row of ${mode}`, () => {
    const weight_BT = aggregationWeights(MASK_BT, { ...SHAPE, mode, normConst: 72 });
    const rows = [0, 1, 2].map((b) => weight_BT.subarray(b * 24, b * 24 + 24));
    assertEquals(rows.map((row) => row[0].toFixed(4)), TABLE[mode].token);
    const totals = rows.map((row) => row.reduce((sum, weight) => sum + weight, 0));
    assertEquals(totals.map((total) => total.toFixed(3)), TABLE[mode].total);
    assert(rows.every((row, b) => row.every((weight, t) => (t < LENGTHS[b]) === weight > 0)));
  });

  Deno.test(`aggregationWeights() of ${mode} is finite where masks are empty`, () => {
    const mask_BT = [0, 0, 0, 1, 0, 1];
    const options = { mode, episodeCount: 2, columnCount: 3, normConst: 4 };
    const expected = {
      token_mean: 0.5,
      seq_mean_token_sum: 0.5,
      seq_mean_token_mean: 0.25,
      constant: 0.25,
    };
    const w = expected[mode];
    assertEquals([...aggregationWeights(mask_BT, options)], [0, 0, 0, w, 0, w]);
    assertEquals([...aggregationWeights(new Float64Array(6), options)], [0, 0, 0, 0, 0, 0]);
  });
}

Deno.test("aggregationWeights() counts a fractional mask by its value", () => {
  const weight_BT = aggregationWeights([0.5, 0.25, 0, 1.25], {
    mode: "token_mean",
    episodeCount: 2,
    columnCount: 2,
  });
  [0.25, 0.125, 0, 0.625].forEach((w, i) => assertAlmostEquals(weight_BT[i], w, 1e-16));
});

Deno.test("aggregationWeights() refuses constant without its constant, negative and misshaped masks", () => {
  const options = { mode: "constant", episodeCount: 1, columnCount: 2 } as const;
  for (const normConst of [0, -1, NaN, Infinity]) {
    assertThrows(
      () => aggregationWeights([1, 1], { ...options, normConst }),
      RangeError,
      `normConst is ${normConst}`,
    );
  }
  assertThrows(() => aggregationWeights([1, 1], options), RangeError, "normConst is undefined");
  for (const entry of [-1, NaN]) {
    assertThrows(
      () => aggregationWeights([1, entry], { ...options, mode: "token_mean" }),
      RangeError,
      `mask_BT[1] is ${entry}`,
    );
  }
  assertThrows(() => aggregationWeights([1], options), RangeError, "(B=1, T=2) needs 2");
});

Deno.test("aggregationWeights() of some episodes are those of a batch that holds no others", () => {
  const mask_BT = [1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1];
  const episodes = [2, 0];
  const cut_PT = episodes.flatMap((b) => mask_BT.slice(3 * b, 3 * b + 3));
  for (const mode of AGGREGATION_MODES) {
    const options = { mode, columnCount: 3, normConst: 5 };
    const cut = aggregationWeights(cut_PT, { ...options, episodeCount: 2 });
    const weight_BT = aggregationWeights(mask_BT, { ...options, episodeCount: 4, episodes });
    assertEquals(episodes.flatMap((b) => [...weight_BT.slice(3 * b, 3 * b + 3)]), [...cut]);
    assertEquals([1, 3].flatMap((b) => [...weight_BT.slice(3 * b, 3 * b + 3)]), Array(6).fill(0));
  }
});
