/** Tests of src/reference/clip_adam.ts. */
import { assert, assertAlmostEquals, assertThrows } from "@std/assert";
import { clipAdam, clipFactor, globalNorm } from "../../src/reference/clip_adam.ts";
import { randomArray } from "./central_difference.ts";

Deno.test("globalNorm() and clipFactor() give hand values", () => {
  assert(globalNorm([3, -4]) === 5);
  assert(clipFactor(5, 10) === 1);
  assertAlmostEquals(clipFactor(5, 1), 1 / 5.000001, 1e-15);
  assert(clipFactor(0, 1) === 1);
  assert(clipFactor(5, Infinity) === 1);
});

Deno.test("clipAdam() first moves every weight by the learning rate, whatever the gradient's size", () => {
  const { weight_W, m_W, v_W, gradNorm } = clipAdam(
    { weight_W: [1, 1, 1], m_W: [0, 0, 0], v_W: [0, 0, 0] },
    { gradient_W: [2, -0.01, 0], stepNumber: 1, learningRate: 0.1, maxNorm: Infinity },
  );
  // m / (1 − β1) = g and v / (1 − β2) = g², so the step is lr · g / (|g| + eps).
  assertAlmostEquals(weight_W[0], 1 - 0.1 * 2 / (2 + 1e-8), 1e-15);
  assertAlmostEquals(weight_W[1], 1 + 0.1 * 0.01 / (0.01 + 1e-8), 1e-15);
  assert(weight_W[2] === 1);
  assertAlmostEquals(m_W[0], 0.2, 1e-16);
  assertAlmostEquals(v_W[0], 0.004, 1e-17);
  assertAlmostEquals(gradNorm, Math.hypot(2, 0.01), 1e-15);
});

Deno.test("clipAdam() gives hand values in the second step, with the clip acting", () => {
  const first = clipAdam(
    { weight_W: [0], m_W: [0], v_W: [0] },
    { gradient_W: [1], stepNumber: 1, learningRate: 0.1, maxNorm: Infinity },
  );
  const second = clipAdam(first, {
    gradient_W: [-4],
    stepNumber: 2,
    learningRate: 0.1,
    maxNorm: 2,
  });
  const g = -4 * (2 / 4.000001);
  const m = 0.9 * 0.1 + 0.1 * g;
  const v = 0.999 * 0.001 + 0.001 * g * g;
  const step = 0.1 / (1 - 0.81) * m / (Math.sqrt(v) / Math.sqrt(1 - 0.998001) + 1e-8);
  assertAlmostEquals(second.weight_W[0], first.weight_W[0] - step, 1e-14);
  assert(second.gradNorm === 4, "the norm is reported before the clip");
});

Deno.test("clipAdam() still moves the weights when a gradient of 0 follows another", () => {
  const first = clipAdam(
    { weight_W: [0], m_W: [0], v_W: [0] },
    { gradient_W: [1], stepNumber: 1, learningRate: 0.1, maxNorm: 1 },
  );
  const second = clipAdam(first, {
    gradient_W: [0],
    stepNumber: 2,
    learningRate: 0.1,
    maxNorm: 1,
  });
  assert(second.weight_W[0] < first.weight_W[0] - 0.01);
});

Deno.test("clipAdam() does not change the state it is given", () => {
  const state = {
    weight_W: randomArray(5, { seed: 1 }),
    m_W: randomArray(5, { seed: 2 }),
    v_W: randomArray(5, { seed: 3, offset: 1 }),
  };
  const copy = structuredClone(state);
  clipAdam(state, {
    gradient_W: randomArray(5, { seed: 4 }),
    stepNumber: 3,
    learningRate: 1,
    maxNorm: 1,
  });
  assert(JSON.stringify(state) === JSON.stringify(copy));
});

Deno.test("clipAdam() refuses a step number of 0", () => {
  assertThrows(
    () =>
      clipAdam({ weight_W: [0], m_W: [0], v_W: [0] }, {
        gradient_W: [1],
        stepNumber: 0,
        learningRate: 1,
        maxNorm: 1,
      }),
    RangeError,
    "the step number is 0",
  );
});
