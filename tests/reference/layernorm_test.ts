/** Tests of src/reference/layernorm.ts. */
import { assert, assertAlmostEquals, assertThrows } from "@std/assert";
import {
  LAYERNORM_EPS,
  layernormBackward,
  layernormForward,
} from "../../src/reference/layernorm.ts";
import { assertGradient, dot, randomArray } from "./central_difference.ts";

Deno.test("layernormForward() normalizes a row by its biased variance", () => {
  // Mean 3, squared deviations 4 + 0 + 4, biased variance 8/3.
  const { y_ND, mean_N, rstd_N } = layernormForward([1, 3, 5], {
    rowCount: 1,
    width: 3,
    gain_D: [1, 1, 10],
    bias_D: [0, 7, 0],
  });
  const rstd = 1 / Math.sqrt(8 / 3 + LAYERNORM_EPS);
  assertAlmostEquals(mean_N[0], 3);
  assertAlmostEquals(rstd_N[0], rstd);
  assertAlmostEquals(y_ND[0], -2 * rstd);
  assertAlmostEquals(y_ND[1], 7);
  assertAlmostEquals(y_ND[2], 20 * rstd);
});

Deno.test("layernormForward() of a constant row is the bias", () => {
  const { y_ND } = layernormForward([4, 4], {
    rowCount: 1,
    width: 2,
    gain_D: [3, 3],
    bias_D: [1, 2],
  });
  assert(y_ND[0] === 1 && y_ND[1] === 2);
});

Deno.test("layernormForward() does not see an offset of its rows", () => {
  const shape = {
    rowCount: 3,
    width: 7,
    gain_D: randomArray(7, { seed: 1 }),
    bias_D: new Float64Array(7),
  };
  const x_ND = randomArray(21, { seed: 2 });
  const plain = layernormForward(x_ND, shape).y_ND;
  const shifted = layernormForward(x_ND.map((x) => x + 1e6), shape).y_ND;
  // An offset of 1e6 rounds the inputs themselves to 1e6 · 2^-53; one pass with E[x²] − mean² would lose 1e12 · 2^-52.
  const bound = 10 * 1e6 * 2 ** -52;
  plain.forEach((y, i) => assertAlmostEquals(shifted[i], y, bound));
});

for (const offset of [0, 100]) {
  Deno.test(`layernormBackward() equals central differences when rows are offset by ${offset}`, () => {
    const rowCount = 3, width = 5;
    const x_ND = randomArray(15, { seed: 3, offset });
    const gain_D = randomArray(5, { seed: 4, offset: 2 });
    const bias_D = randomArray(5, { seed: 5 });
    const dy_ND = randomArray(15, { seed: 6 });
    const forward = layernormForward(x_ND, { rowCount, width, gain_D, bias_D });
    const { dx_ND, dgain_D, dbias_D } = layernormBackward(dy_ND, {
      rowCount,
      width,
      x_ND,
      gain_D,
      ...forward,
    });
    const loss = (x: Float64Array, gain: Float64Array, bias: Float64Array) =>
      dot(layernormForward(x, { rowCount, width, gain_D: gain, bias_D: bias }).y_ND, dy_ND);
    assertGradient("dx", { x: x_ND, gradient: dx_ND, loss: (x) => loss(x, gain_D, bias_D) });
    assertGradient("dgain", { x: gain_D, gradient: dgain_D, loss: (g) => loss(x_ND, g, bias_D) });
    assertGradient("dbias", { x: bias_D, gradient: dbias_D, loss: (b) => loss(x_ND, gain_D, b) });
  });
}

Deno.test("layernormForward() refuses a gain of another width", () => {
  assertThrows(
    () => layernormForward([1, 2], { rowCount: 1, width: 2, gain_D: [1], bias_D: [0, 0] }),
    RangeError,
    "gain_D holds 1 elements but (D=2) needs 2",
  );
});
