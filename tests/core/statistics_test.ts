/** Tests of src/core/statistics.ts, pinned by hand values. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  growthExponent,
  largest,
  mean,
  median,
  quantile,
  sampleVariance,
  smallest,
  wilsonInterval,
} from "../../src/core/statistics.ts";

Deno.test("mean() and sampleVariance() match hand values when the mean is large", () => {
  assertEquals(mean([1, 2, 6]), 3);
  assertEquals(sampleVariance([1, 2, 6]), 7); // (4 + 1 + 9) / 2
  assertEquals(sampleVariance(new Float64Array([1e9 + 1, 1e9 + 2, 1e9 + 6])), 7);
});

Deno.test("quantile() interpolates linearly between order statistics", () => {
  const values_N = [40, 10, 30, 20];
  assertEquals(quantile(values_N, 0), 10);
  assertEquals(quantile(values_N, 1), 40);
  assertEquals(median(values_N), 25);
  // h = 3 * 0.9 = 2.7: 30 + 0.7 * 10. One product and one sum of numbers below 64 round to within 2^-46.
  assertAlmostEquals(quantile(values_N, 0.9), 37, 2 ** -46);
  assertEquals(values_N, [40, 10, 30, 20]);
  assertEquals(median([7]), 7);
  assertEquals(median([Infinity, Infinity, 0]), Infinity);
});

Deno.test("statistics are NaN when a value is NaN", () => {
  assert(Number.isNaN(mean([1, NaN])));
  assert(Number.isNaN(sampleVariance([1, NaN])));
  assert(Number.isNaN(quantile([1, 2, NaN], 0)));
});

Deno.test("statistics refuse samples that are too small", () => {
  assertThrows(() => mean([]), RangeError, "0 values");
  assertThrows(() => median([]), RangeError, "0 values");
  assertThrows(() => sampleVariance([1]), RangeError, "at least 2");
  assertThrows(() => quantile([1], 1.1), RangeError, "q=1.1");
  assertThrows(() => quantile([1], NaN), RangeError, "q=NaN");
});

Deno.test("wilsonInterval() matches values worked out by hand", () => {
  // n = 10, p = 0.5: center 0.5, half width 1.96 sqrt(0.025 + 0.009604) / 1.38416 = 0.263408.
  const half = wilsonInterval(5, 10);
  assertAlmostEquals(half.low, 0.236592, 1e-5);
  assertAlmostEquals(half.high, 0.763408, 1e-5);
  // p = 0: high = (z²/n) / (1 + z²/n) = 0.38416 / 1.38416.
  const none = wilsonInterval(0, 10);
  assertEquals([none.rate, none.low], [0, 0]);
  assertAlmostEquals(none.high, 0.38416 / 1.38416, 1e-12);
  const all = wilsonInterval(10, 10);
  assertEquals([all.rate, all.high], [1, 1]);
  assertAlmostEquals(all.low, 1 / 1.38416, 1e-12);
});

Deno.test("wilsonInterval() refuses counts that are not counts", () => {
  assertThrows(() => wilsonInterval(0, 0), RangeError, "0 trials");
  assertThrows(() => wilsonInterval(3, 2), RangeError, "3 successes in 2 trials");
  assertThrows(() => wilsonInterval(-1, 2), RangeError);
  assertThrows(() => wilsonInterval(0.5, 2), RangeError);
});

Deno.test("growthExponent() finds the power that made the values, and averages what is off it", () => {
  const sizes_N = [16, 32, 64, 128, 256];
  for (const power of [-1, 0, 0.5, 1, 2]) {
    const values_N = sizes_N.map((size) => 3 * size ** power);
    // Sums of five products of logarithms below 16: some ten roundings of 2^-53.
    assertAlmostEquals(growthExponent(sizes_N, values_N), power, 2 ** -44);
  }
  // Logarithms to base 2 (0, 1, 2) and (0, 3, 4): slope ((−1)·0 + 0·3 + 1·4) / 2.
  assertAlmostEquals(growthExponent([1, 2, 4], [1, 8, 16]), 2, 2 ** -44);
});

Deno.test("growthExponent() refuses what has no slope", () => {
  assertThrows(() => growthExponent([], []), RangeError, "0 different sizes");
  assertThrows(() => growthExponent([8], [1]), RangeError, "at least 2 different sizes");
  assertThrows(() => growthExponent([8, 8], [1, 2]), RangeError, "1 different sizes");
  assertThrows(() => growthExponent([1, 2], [1]), RangeError, "1 values");
  assertThrows(() => growthExponent([1, 2], [0, 1]), RangeError, "through 0");
  assertThrows(() => growthExponent([1, 2], [1, NaN]), RangeError, "through NaN");
});

Deno.test("largest() and smallest() take any number of values and hand on NaN", () => {
  assertEquals([largest([-3, -1, -2]), smallest([3, 1, 2])], [-1, 1]);
  assertEquals([largest([]), smallest([])], [-Infinity, Infinity]);
  assertEquals([largest([1, NaN, 2]), smallest([1, NaN, 2])], [NaN, NaN]);
  const many = new Uint32Array(1_000_000).fill(7);
  many[999_999] = 8;
  many[123_456] = 6;
  assertEquals([largest(many), smallest(many)], [8, 6]);
});
