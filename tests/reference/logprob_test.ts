/** Tests of src/reference/logprob.ts. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  logprobBackward,
  logprobForward,
  logprobFromLogits,
  logprobFromLogitsBackward,
} from "../../src/reference/logprob.ts";
import { assertGradient, dot, randomArray } from "./central_difference.ts";

/** Sums of a handful of numbers of order 1. */
const ROUNDING = 1e-14;

Deno.test("logprobFromLogits() gives hand values for probabilities ½, ¼, ¼", () => {
  const logits_NV = [Math.log(2), 0, 0];
  const options = { rowCount: 1, vocabularySize: 3, temperature: 1 };
  const first = logprobFromLogits(logits_NV, { ...options, target_N: [0] });
  assertAlmostEquals(first.logp_N[0], -Math.log(2), ROUNDING);
  assertAlmostEquals(first.entropy_N[0], 1.5 * Math.log(2), ROUNDING);
  assertAlmostEquals(first.lse_N[0], Math.log(4), ROUNDING);
  const last = logprobFromLogits(logits_NV, { ...options, target_N: [2] });
  assertAlmostEquals(last.logp_N[0], -Math.log(4), ROUNDING);
});

Deno.test("logprobFromLogits() divides the logits by the temperature", () => {
  const logits_NV = [1, 2, 5];
  const hot = logprobFromLogits(logits_NV, {
    rowCount: 1,
    vocabularySize: 3,
    temperature: 2,
    target_N: [2],
  });
  const scaled = logprobFromLogits([0.5, 1, 2.5], {
    rowCount: 1,
    vocabularySize: 3,
    temperature: 1,
    target_N: [2],
  });
  assertEquals(hot, scaled);
});

Deno.test("logprobFromLogits() does not see an offset of 1e3 and survives a logit of −Infinity", () => {
  const options = { rowCount: 1, vocabularySize: 4, temperature: 1, target_N: [1] };
  const plain = logprobFromLogits([0, 1, 2, -1], options);
  const shifted = logprobFromLogits([1000, 1001, 1002, 999], options);
  const bound = 8 * 1e3 * 2 ** -52;
  assertAlmostEquals(shifted.logp_N[0], plain.logp_N[0], bound);
  assertAlmostEquals(shifted.entropy_N[0], plain.entropy_N[0], bound);
  const masked = logprobFromLogits([0, 0, -Infinity, -Infinity], options);
  assertAlmostEquals(masked.entropy_N[0], Math.log(2), ROUNDING);
  const gradient = logprobFromLogitsBackward([0, 0, -Infinity, -Infinity], {
    ...options,
    dlogp_N: [1],
    dentropy_N: [1],
  });
  [-0.5, 0.5, 0, 0].forEach((g, v) => assertAlmostEquals(gradient[v], g, ROUNDING));
});

for (const temperature of [1, 0.7]) {
  Deno.test(`logprobBackward() equals central differences at temperature ${temperature}`, () => {
    const rowCount = 4, width = 3, vocabularySize = 7;
    const h_ND = randomArray(12, { seed: 1, scale: 2 });
    const weight_VD = randomArray(21, { seed: 2 });
    // One row of logits far from 0: the maximum must be subtracted before the exponential.
    const bias_V = randomArray(7, { seed: 3, offset: 100 });
    const dlogp_N = randomArray(4, { seed: 4 });
    const dentropy_N = randomArray(4, { seed: 5 });
    const options = { rowCount, width, vocabularySize, temperature, target_N: [6, 0, 3, 3] };
    const { dh_ND, dweight_VD, dbias_V } = logprobBackward(h_ND, {
      ...options,
      weight_VD,
      bias_V,
      dlogp_N,
      dentropy_N,
    });
    const loss = (h: Float64Array, weight: Float64Array, bias: Float64Array) => {
      const result = logprobForward(h, { ...options, weight_VD: weight, bias_V: bias });
      return dot(result.logp_N, dlogp_N) + dot(result.entropy_N, dentropy_N);
    };
    assertGradient("dh", { x: h_ND, gradient: dh_ND, loss: (h) => loss(h, weight_VD, bias_V) });
    assertGradient("dweight", {
      x: weight_VD,
      gradient: dweight_VD,
      loss: (weight) => loss(h_ND, weight, bias_V),
    });
    assertGradient("dbias", {
      x: bias_V,
      gradient: dbias_V,
      loss: (bias) => loss(h_ND, weight_VD, bias),
    });
    // The softmax does not see a common offset, so a row of logit gradients (here their sum over rows) adds up to 0.
    assertAlmostEquals(dbias_V.reduce((sum, g) => sum + g, 0), 0, ROUNDING);
  });
}

Deno.test("logprobFromLogitsBackward() separates the gradients of log-prob and entropy", () => {
  const logits_NV = randomArray(10, { seed: 6, scale: 3 });
  const options = { rowCount: 2, vocabularySize: 5, temperature: 1.3, target_N: [4, 1] };
  const zero = [0, 0];
  for (
    const [dlogp_N, dentropy_N] of [[[0.7, -1], zero], [zero, [0.3, 2]]]
  ) {
    assertGradient("dlogits", {
      x: logits_NV,
      gradient: logprobFromLogitsBackward(logits_NV, { ...options, dlogp_N, dentropy_N }),
      loss: (logits) => {
        const { logp_N, entropy_N } = logprobFromLogits(logits, options);
        return dot(logp_N, dlogp_N) + dot(entropy_N, dentropy_N);
      },
    });
  }
});

Deno.test("logprobFromLogits() refuses a target beyond the vocabulary and a temperature of 0", () => {
  const options = { rowCount: 1, vocabularySize: 2, temperature: 1, target_N: [1] };
  assertThrows(
    () => logprobFromLogits([0, 0], { ...options, target_N: [2] }),
    RangeError,
    "target_N[0] is 2",
  );
  for (const temperature of [0, -1, NaN]) {
    assertThrows(
      () => logprobFromLogits([0, 0], { ...options, temperature }),
      RangeError,
      `the temperature is ${temperature}`,
    );
  }
  assert(logprobFromLogits([0, 0], options).logp_N[0] < 0);
});
