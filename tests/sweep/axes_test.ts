/** Tests of a sweep's axes: their values by hand, and what is refused with which sentence. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { axisValues } from "../../src/sweep/axes.ts";

const values = (axis: unknown, name = "lr") => axisValues(axis, { source: "s.yaml", name });

Deno.test("axisValues() gives lists, ranges and logarithmic ranges with both ends", () => {
  assertEquals(values([0.1, "a", null, [0.9, 0.99]]), [0.1, "a", null, [0.9, 0.99]]);
  // 0.1 + 2 × 0.1 is not 0.3 in binary.
  assertEquals(values({ range: [0.1, 0.5], step: 0.1 }), [0.1, 0.2, 0.3, 0.4, 0.5]);
  assertEquals(values({ range: [2, 8], step: 3 }), [2, 5, 8]);
  assertEquals(values({ logRange: [1e-4, 1e-2], count: 3 }), [1e-4, 1e-3, 1e-2]);
  assertEquals(values({ logRange: [1, 64], count: 4, integer: true }), [1, 4, 16, 64]);
  assertEquals(values({ logRange: [1, 10], count: 3 }), [1, 3.16228, 10]);
});

Deno.test("axisValues() draws the same values for a seed, others for another axis, and more without moving the first", () => {
  const axis = { random: [0.2, 0.4], count: 5, seed: 1 };
  const drawn = values(axis) as number[];
  assertEquals(values(axis), drawn);
  assertEquals(values({ ...axis, count: 8 }).slice(0, 5), drawn);
  assertEquals(new Set(drawn).size, 5);
  assert(drawn.every((value) => value >= 0.2 && value <= 0.4));
  assert(JSON.stringify(values(axis, "axes.clipHigh")) !== JSON.stringify(drawn));
  assert(JSON.stringify(values({ ...axis, seed: 2 })) !== JSON.stringify(drawn));
});

Deno.test("axisValues() draws evenly on the scale that is asked for", () => {
  const share = (axis: unknown, below: number) =>
    values(axis).filter((value) => Number(value) < below).length;
  // 400 draws: the standard deviation of a half is 10.
  const half = (count: number) => assert(Math.abs(count - 200) < 40, `${count} of 400`);
  half(share({ random: [0, 1], count: 400 }, 0.5));
  half(share({ random: [1e-4, 1], count: 400, scale: "log" }, 1e-2));
  assertEquals(
    [...values({ random: [1, 5], count: 5, integer: true })].map(Number).sort((a, b) => a - b),
    [1, 2, 3, 4, 5],
  );
});

const REFUSED: readonly (readonly [unknown, RegExp])[] = [
  [[], /axes\.lr is empty: give it at least one value/],
  [0.1, /axes\.lr is 0\.1, but must be a list of values, or one of range, logRange, random/],
  [[0.1, 0.10], /axes\.lr holds 0\.1 twice/],
  [[{ a: 1 }], /axes\.lr\.0 is an object, but must be a number/],
  [{ rnage: [0, 1] }, /axes\.lr has the unknown form "rnage": did you mean "range"\?/],
  [{ range: [0, 1], stp: 1 }, /unknown key "axes\.lr\.stp": did you mean "step"\?/],
  [{ range: [0, 1] }, /axes\.lr\.step is missing, but must be a finite number/],
  [{ range: [0, 1], step: 0 }, /axes\.lr\.step is 0, but must be above 0/],
  [{ range: [1, 0], step: 0.1 }, /axes\.lr goes from 1 to 0, but must go up/],
  [{ range: [0, 1], step: 0.3 }, /the last value would be 0\.9; write "range": \[0, 0\.9\]/],
  [{ range: [0, 1], step: 1e-9 }, /axes\.lr has 1000000001 values/],
  [{ range: [0], step: 1 }, /axes\.lr\.range/],
  [
    { range: [0, Infinity], step: 1 },
    /axes\.lr\.range\.1 is Infinity, but must be a finite number/,
  ],
  [{ logRange: [0, 1], count: 3 }, /begins at 0, but a logarithmic scale begins above 0/],
  [{ logRange: [0.1, 1], count: 1 }, /axes\.lr\.count is 1, but must be at least 2/],
  [{ logRange: [1, 3], count: 9, integer: true }, /axes\.lr holds 1 twice/],
  [{ random: [0, 1] }, /axes\.lr is random and has no count/],
  [{ random: [0, 1], count: 2.5 }, /axes\.lr\.count is 2\.5, but must be an integer/],
  [{ random: [0, 1], count: 2, scale: "log" }, /begins at 0, but a logarithmic scale/],
  [{ random: [1, 3], count: 4, integer: true }, /draws 4 different integers from 1 to 3/],
  [{ random: [0.5, 3], count: 2, integer: true }, /has the end 0\.5, but integer: true/],
];

Deno.test("axisValues() refuses what is not an axis with one sentence", () => {
  for (const [axis, sentence] of REFUSED) {
    const error = assertThrows(() => values(axis, "axes.lr"), UserError);
    assert(sentence.test(error.message), `${JSON.stringify(axis)}: ${error.message}`);
    assert(error.message.startsWith("Cannot use s.yaml: "), error.message);
  }
});
