/** Objectives that the product does not train with, by hand: baselines, clips, estimators, sampler weights. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { groupStandardizedAdvantage } from "../../src/equations/advantage.ts";
import {
  generalizedAdvantage,
  greedyBaselineAdvantage,
  normalizedAdvantage,
  standardDeviation,
  whitened,
} from "../../src/reference/baselines.ts";
import {
  absoluteKlTerm,
  clampedKlTerm,
  withK2Derivative,
} from "../../src/reference/kl_estimators.ts";
import { samplerWeights } from "../../src/reference/sampler_weights.ts";
import {
  clampedRatioTerm,
  dualClippedTerm,
  ratioTerm,
  sequenceLogRatio,
  stoppedWeightTerm,
} from "../../src/reference/surrogates.ts";

const CLIP = { clipLow: 0.2, clipHigh: 0.28 };

Deno.test("normalizedAdvantage() has n or n − 1, its ε, and a rule for those alone", () => {
  const rewards = [1, 0, 0, 1, 3];
  const groups = [0, 0, 1, 1, 2];
  // std with n − 1 of [1, 0] is √½, with n it is ½.
  const sample = normalizedAdvantage(rewards, groups, { ddof: 1, eps: 0, single: "zero" });
  assertEquals(sample.map((value) => value.toFixed(4)), [
    "0.7071",
    "-0.7071",
    "-0.7071",
    "0.7071",
    "0.0000",
  ]);
  const population = normalizedAdvantage(rewards, groups, { ddof: 0, eps: 0.5, single: "raw" });
  assertEquals(population, [0.5, -0.5, -0.5, 0.5, 2]);
  const pairs = [2, 5, 5, 5, -1, 0.5];
  const ids = [0, 0, 1, 1, 2, 2];
  assertEquals(
    normalizedAdvantage(pairs, ids, { ddof: 1, eps: 1e-6, single: "raw" }),
    Array.from(groupStandardizedAdvantage(pairs, ids)),
  );
});

Deno.test("standardDeviation() divides by n or n − 1", () => {
  assertAlmostEquals(standardDeviation([1, 2, 3, 4], 0), Math.sqrt(1.25), 1e-15);
  assertAlmostEquals(standardDeviation([1, 2, 3, 4], 1), Math.sqrt(5 / 3), 1e-15);
});

Deno.test("greedyBaselineAdvantage() subtracts the greedy answer's reward", () => {
  assertEquals(greedyBaselineAdvantage([1, 0, 2], [0.5, 0.5, -1]), [0.5, -0.5, 3]);
});

Deno.test("whitened() counts values by their weight and leaves out those without", () => {
  // As if it were [1, 1, 1, 5]: mean 2, variance 12/3.
  const [one, five, without] = whitened([1, 5, NaN], [3, 1, 0]);
  assertAlmostEquals(one!, -0.5, 1e-8);
  assertAlmostEquals(five!, 1.5, 1e-8);
  assert(Number.isNaN(without));
});

Deno.test("generalizedAdvantage() by hand, with tokens outside the mask skipped or not", () => {
  const options = { gamma: 0.5, lambda: 0.5, mask_T: [1, 0, 1] };
  // t = 2: 1 − 0.25 = 0.75. Skipped: t = 0: 0 + 0.5 · 0.25 − 1 + 0.25 · 0.75.
  const skipped = generalizedAdvantage([0, 9, 1], [1, 7, 0.25], { ...options, skipsMasked: true });
  assertEquals(skipped, [-0.6875, 0.75, 0.75]);
  // t = 1: 9 + 0.5 · 0.25 − 7 + 0.25 · 0.75 = 2.3125; t = 0: 0.5 · 7 − 1 + 0.25 · 2.3125.
  const plain = generalizedAdvantage([0, 9, 1], [1, 7, 0.25], { ...options, skipsMasked: false });
  assertEquals(plain, [3.078125, 2.3125, 0.75]);
});

Deno.test("dualClippedTerm() bounds the loss of a bad token only", () => {
  const term = (ratio: number, advantage: number) =>
    dualClippedTerm(ratio, { ...CLIP, advantage, dualClip: 3 });
  assertEquals(term(5, -2), { value: 6, derivative: 0 });
  assertEquals(term(2.5, -2), { value: 5, derivative: 5 });
  assertEquals(term(5, 2), { value: -2.56, derivative: 0 });
  assertEquals(term(0.5, -2), { value: 1.6, derivative: 0 });
});

Deno.test("clampedRatioTerm() holds the log-ratio, and has no gradient there", () => {
  const options = { limit: 1, term: (ratio: number) => ratioTerm(ratio, 2) };
  assertEquals(clampedRatioTerm(0, options), { value: -2, derivative: -2 });
  assertEquals(clampedRatioTerm(5, options), { value: -2 * Math.E, derivative: 0 });
  assertEquals(clampedRatioTerm(-5, options), { value: -2 * Math.exp(-1), derivative: 0 });
});

Deno.test("stoppedWeightTerm() has the gradient of its log-prob alone", () => {
  assertEquals(stoppedWeightTerm(-2, { weight: 1.25, advantage: 4 }), {
    value: 10,
    derivative: -5,
  });
});

Deno.test("sequenceLogRatio() is the mean under the mask, 0 where there is none", () => {
  assertEquals(sequenceLogRatio([1, NaN, 3], [1, 0, 1]), 2);
  assertEquals(sequenceLogRatio([1, 2], [0, 0]), 0);
});

Deno.test("estimators of KL: |d|, clamps before and after, k2's derivative for another value", () => {
  assertEquals([-2, 0, 3].map(absoluteKlTerm), [
    { value: 2, derivative: -1 },
    { value: 0, derivative: 0 },
    { value: 3, derivative: 1 },
  ]);
  const clamped = (d: number) =>
    clampedKlTerm(d, { kind: "k3", differenceLimit: 20, valueLimit: 10 });
  assertEquals(clamped(-3), { value: 10, derivative: 0 });
  assertEquals(clamped(-30), { value: 10, derivative: 0 });
  const inside = clamped(1);
  assertAlmostEquals(inside.value, Math.exp(-1), 1e-15);
  assertAlmostEquals(inside.derivative, 1 - Math.exp(-1), 1e-15);
  const outer = clampedKlTerm(-30, { kind: "k3", differenceLimit: 20, valueLimit: Infinity });
  assertAlmostEquals(outer.value / (Math.exp(20) - 21), 1, 1e-15);
  assertEquals(outer.derivative, 0);
  assertEquals(withK2Derivative({ value: 7, derivative: 1 }, -0.5), { value: 7, derivative: -0.5 });
});

Deno.test("samplerWeights() by token, by sequence and by geometric mean, truncated or masked", () => {
  const difference = [Math.log(2), NaN, Math.log(8)];
  const weights = (
    level: "token" | "sequence" | "geometric",
    bound: "truncate" | "mask",
    cap: number,
  ) =>
    samplerWeights(difference, { mask_T: [1, 0, 1], level, bound, cap, floor: 3 })
      .map((value) => Number(value.toFixed(12)));
  assertEquals(weights("token", "truncate", 5), [2, 0, 5]);
  assertEquals(weights("token", "mask", 9), [0, 0, 8]);
  assertEquals(weights("sequence", "truncate", 20), [16, 0, 16]);
  assertEquals(weights("sequence", "mask", 15), [0, 0, 0]);
  assertEquals(weights("geometric", "truncate", 20), [4, 0, 4]);
});
