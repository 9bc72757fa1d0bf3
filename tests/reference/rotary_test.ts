/** Tests of src/reference/rotary.ts. */
import { assert, assertAlmostEquals, assertThrows } from "@std/assert";
import { rotaryAngle, rotaryForward, rotaryInverse } from "../../src/reference/rotary.ts";
import { assertGradient, dot, randomArray } from "./central_difference.ts";

/** A turned number is a sum of two products of numbers up to 1: a few units of rounding. */
const ROUNDING = 8 * 2 ** -52;

Deno.test("rotaryForward() turns column i with column i + K/2", () => {
  const y_NHK = rotaryForward([1, 0, 0, 1], {
    rowCount: 1,
    headCount: 1,
    headWidth: 4,
    position_N: [3],
  });
  // Pair 0 is (1, 0) and turns by 3; pair 1 is (0, 1) and turns by 3 / sqrt(10000) = 0.03.
  const expected = [Math.cos(3), -Math.sin(0.03), Math.sin(3), Math.cos(0.03)];
  expected.forEach((y, i) => assertAlmostEquals(y_NHK[i], y, ROUNDING));
});

Deno.test("rotaryAngle() falls from the position towards the position / 10000", () => {
  assert(rotaryAngle(7, { pair: 0, headWidth: 16 }) === 7);
  assertAlmostEquals(rotaryAngle(7, { pair: 4, headWidth: 16 }), 7 / 100, ROUNDING);
  assertAlmostEquals(rotaryAngle(7, { pair: 7, headWidth: 16 }), 7 / 10 ** 3.5, ROUNDING);
});

Deno.test("rotaryForward() leaves position 0 alone and keeps the length of every pair", () => {
  const shape = { rowCount: 2, headCount: 3, headWidth: 6, position_N: [0, 11] };
  const x_NHK = randomArray(36, { seed: 1 });
  const y_NHK = rotaryForward(x_NHK, shape);
  for (let i = 0; i < 18; i++) assert(y_NHK[i] === x_NHK[i]);
  for (let head = 3; head < 6; head++) {
    for (let pair = head * 6; pair < head * 6 + 3; pair++) {
      assertAlmostEquals(
        Math.hypot(y_NHK[pair], y_NHK[pair + 3]),
        Math.hypot(x_NHK[pair], x_NHK[pair + 3]),
        ROUNDING,
      );
      assert(Math.abs(y_NHK[pair] - x_NHK[pair]) > 1e-3, "position 11 must turn every pair");
    }
  }
});

Deno.test("rotaryForward() makes q·k depend on the distance of the positions alone", () => {
  const shape = { rowCount: 1, headCount: 1, headWidth: 16 };
  const q_K = randomArray(16, { seed: 2 });
  const k_K = randomArray(16, { seed: 3 });
  const score = (queryPosition: number, keyPosition: number) =>
    dot(
      rotaryForward(q_K, { ...shape, position_N: [queryPosition] }),
      rotaryForward(k_K, { ...shape, position_N: [keyPosition] }),
    );
  // The angle of position 105 is rounded to 105 · 2^-53; 16 products of it are summed.
  const bound = 16 * 105 * 2 ** -52;
  assertAlmostEquals(score(105, 102), score(3, 0), bound);
  assertAlmostEquals(score(50, 9), score(41, 0), bound);
  assert(Math.abs(score(3, 0) - score(4, 0)) > 1e-3);
  assert(Math.abs(score(3, 0) - score(0, 3)) > 1e-3, "the direction matters, too");
});

Deno.test("rotaryInverse() undoes rotaryForward() and is its backward", () => {
  const shape = { rowCount: 3, headCount: 2, headWidth: 4, position_N: [0, 5, 2] };
  const x_NHK = randomArray(24, { seed: 4 });
  const dy_NHK = randomArray(24, { seed: 5 });
  rotaryInverse(rotaryForward(x_NHK, shape), shape).forEach((x, i) =>
    assertAlmostEquals(x, x_NHK[i], ROUNDING)
  );
  assertGradient("dx", {
    x: x_NHK,
    gradient: rotaryInverse(dy_NHK, shape),
    loss: (x) => dot(rotaryForward(x, shape), dy_NHK),
  });
});

Deno.test("rotaryForward() refuses an odd head width", () => {
  assertThrows(
    () => rotaryForward([1, 2, 3], { rowCount: 1, headCount: 1, headWidth: 3, position_N: [0] }),
    RangeError,
    "the head width is 3 but must be even",
  );
});
