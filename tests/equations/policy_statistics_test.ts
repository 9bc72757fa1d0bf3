/** Tests of src/equations/policy_statistics.ts. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import {
  policyLoss,
  type PolicyLossOptions,
  type PolicyLossTokens,
} from "../../src/equations/policy_loss.ts";
import { policyStatistics } from "../../src/equations/policy_statistics.ts";

const OPTIONS: PolicyLossOptions = {
  surrogate: "clipped",
  clipLow: 0.2,
  clipHigh: 0.2,
  klKind: "k3",
  klCoef: 0.1,
  entropyCoef: 0,
};

/** Ratios 2, ¼, 1 and, masked, e⁹; the first is clipped (A > 0), the second is not (A > 0). */
const TOKENS: PolicyLossTokens = {
  logp_N: [-1, -1, -1, 0],
  entropy_N: [0.3, 0.6, 0.9, 100],
  oldLogp_N: [-1 - Math.log(2), -1 + Math.log(4), -1, -9],
  refLogp_N: [-1, -1 - Math.log(2), -1, -50],
  advantage_N: [1, 1, -1, 1],
  weight_N: [0.25, 0.25, 0.25, 0],
  meanWeight_N: [1 / 3, 1 / 3, 1 / 3, 0],
};

Deno.test("policyStatistics() gives hand values over the trained tokens", () => {
  const statistics = policyStatistics(TOKENS, OPTIONS);
  const kl2 = 2 - 1 - Math.log(2);
  const klQuarter = 0.25 - 1 + Math.log(4);
  assertAlmostEquals(statistics.entropy, 0.6, 1e-15);
  assertAlmostEquals(statistics.approxKl, (kl2 + klQuarter) / 3, 1e-15);
  assertAlmostEquals(statistics.approxKlMax, klQuarter, 1e-15);
  assertAlmostEquals(statistics.clipFraction, 1 / 3, 1e-15);
  assertAlmostEquals(statistics.ratioMin, 0.25, 1e-15);
  assertAlmostEquals(statistics.ratioMax, 2, 1e-15);
  assertAlmostEquals(statistics.klRef, (0.5 - 1 + Math.log(2)) / 3, 1e-15);
  assert(statistics.loss === policyLoss(TOKENS, OPTIONS).loss);
});

Deno.test("policyStatistics() is exactly trivial where nothing has moved", () => {
  const { logp_N } = TOKENS;
  const statistics = policyStatistics({ ...TOKENS, oldLogp_N: logp_N, refLogp_N: logp_N }, OPTIONS);
  const { approxKl, approxKlMax, clipFraction, ratioMin, ratioMax, klRef } = statistics;
  assertEquals([approxKl, approxKlMax, clipFraction, ratioMin, ratioMax, klRef], [
    0,
    0,
    0,
    1,
    1,
    0,
  ]);
});

Deno.test("policyStatistics() counts a bad token that became rarer as clipped", () => {
  const tokens = { ...TOKENS, advantage_N: [-1, -1, -1, 1] };
  assertAlmostEquals(policyStatistics(tokens, OPTIONS).clipFraction, 1 / 3, 1e-15);
  const worst = { ...TOKENS, advantage_N: [1, -1, -1, 1] };
  assertAlmostEquals(policyStatistics(worst, OPTIONS).clipFraction, 2 / 3, 1e-15);
});

Deno.test("policyStatistics() of a batch without trained tokens is that of an update that did nothing", () => {
  const nothing = new Float64Array(4);
  const statistics = policyStatistics(
    { ...TOKENS, weight_N: nothing, meanWeight_N: nothing },
    OPTIONS,
  );
  assertEquals(statistics, {
    loss: 0,
    entropy: 0,
    approxKl: 0,
    approxKlMax: 0,
    clipFraction: 0,
    ratioMin: 1,
    ratioMax: 1,
    klRef: 0,
  });
});
