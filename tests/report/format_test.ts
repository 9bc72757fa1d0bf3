/** Tests of numbers for people. */
import { assertEquals } from "@std/assert";
import { formatCell, formatCount, formatNumber, roundForData } from "../../src/report/format.ts";

Deno.test("formatNumber() shows three digits, and a power of ten where zeros would have to be counted", () => {
  const cases: readonly (readonly [number | null | undefined, string])[] = [
    [0, "0"],
    [0.123456789, "0.123"],
    [-0.5, "−0.5"],
    [1536, "1,536"],
    [-1536.4, "−1,536"],
    [157244, "1.6·10⁵"],
    [0.001, "0.001"],
    [0.00099, "9.9·10⁻⁴"],
    [3.14159e-8, "3.1·10⁻⁸"],
    [-1e-12, "−1·10⁻¹²"],
    [1e-5, "10⁻⁵"],
    [NaN, "–"],
    [Infinity, "–"],
    [null, "–"],
    [undefined, "–"],
  ];
  for (const [value, text] of cases) assertEquals(formatNumber(value), text, String(value));
});

Deno.test("formatCount() shows all digits, whatever the size", () => {
  assertEquals([0, 157_244, 1e7, -250_000].map(formatCount), [
    "0",
    "157,244",
    "10,000,000",
    "−250,000",
  ]);
});

Deno.test("formatCell() leaves texts alone", () => {
  assertEquals(["0.123456", 0.123456, null].map(formatCell), ["0.123456", "0.123", "–"]);
});

Deno.test("roundForData() keeps five digits, and null stands for what is not finite", () => {
  assertEquals([1 / 3, 1e-9 / 3, NaN, -Infinity].map(roundForData), [
    0.33333,
    3.3333e-10,
    null,
    null,
  ]);
});
