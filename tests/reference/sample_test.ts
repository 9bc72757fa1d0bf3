/** Tests of src/reference/sample.ts. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { sampleToken } from "../../src/reference/sample.ts";

/** Probabilities ¼, 0, ½, ¼ as logits. */
const LOGITS_V = [0, -Infinity, Math.log(2), 0];

/** The largest number below 1. */
const ALMOST_ONE = 1 - 2 ** -53;

Deno.test("sampleToken() inverts the cumulative distribution", () => {
  const draw = (uniform: number) => sampleToken(LOGITS_V, { temperature: 1, uniform });
  assertEquals([0, 0.2499, 0.2501, 0.7499, 0.7501, ALMOST_ONE].map(draw), [0, 0, 2, 2, 3, 3]);
});

Deno.test("sampleToken() never draws a token of probability 0, at either end of the uniforms", () => {
  for (const uniform of [0, 0.5, ALMOST_ONE]) {
    assert(sampleToken([-Infinity, 1, -Infinity], { temperature: 1, uniform }) === 1);
    // exp(−800) is 0 in float64: a finite logit can have probability 0 as well.
    assert(sampleToken([-800, 0, -800], { temperature: 1, uniform }) === 1);
  }
});

Deno.test("sampleToken() follows the temperature", () => {
  const logits_V = [0, Math.log(3)];
  // Probability of token 0: ¼ at temperature 1, 1/10 at ½, 1/(1 + sqrt(3)) = 0.366 at 2.
  for (const [temperature, p] of [[1, 0.25], [0.5, 0.1], [2, 1 / (1 + Math.sqrt(3))]] as const) {
    assert(sampleToken(logits_V, { temperature, uniform: p - 1e-9 }) === 0);
    assert(sampleToken(logits_V, { temperature, uniform: p + 1e-9 }) === 1);
  }
});

Deno.test("sampleToken() survives logits of a thousand", () => {
  assert(sampleToken([1000, 1001], { temperature: 1, uniform: 0.26 }) === 0);
  assert(sampleToken([1000, 1001], { temperature: 1, uniform: 0.27 }) === 1);
});

Deno.test("sampleToken() refuses a uniform of 1, a temperature of 0 and logits without a finite one", () => {
  assertThrows(() => sampleToken([0], { temperature: 1, uniform: 1 }), RangeError, "uniform 1");
  assertThrows(() => sampleToken([0], { temperature: 0, uniform: 0 }), RangeError, "temperature 0");
  const options = { temperature: 1, uniform: 0 };
  assertThrows(() => sampleToken([NaN, 0], options), RangeError, "must be finite");
  assertThrows(() => sampleToken([-Infinity], options), RangeError, "must be finite");
});
