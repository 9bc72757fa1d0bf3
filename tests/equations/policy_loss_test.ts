/** Tests of src/equations/policy_loss.ts. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  clippedTerm,
  clipRatio,
  KL_KINDS,
  type KlKind,
  klTerm,
  policyLoss,
  type PolicyLossOptions,
  type PolicyLossTokens,
  reinforceTerm,
} from "../../src/equations/policy_loss.ts";
import { assertGradient, randomArray } from "../reference/central_difference.ts";

const CLIP = { clipLow: 0.2, clipHigh: 0.3 };

const OPTIONS: PolicyLossOptions = {
  surrogate: "clipped",
  ...CLIP,
  klKind: "k3",
  klCoef: 0,
  entropyCoef: 0,
};

Deno.test("reinforceTerm() is −A log π with derivative −A", () => {
  assertEquals(reinforceTerm(-0.5, 3), { value: 1.5, derivative: -3 });
});

Deno.test("clippedTerm() keeps the pessimistic branch on either side for either sign", () => {
  const term = (ratio: number, advantage: number) => clippedTerm(ratio, { advantage, ...CLIP });
  assertEquals(term(1, 2), { value: -2, derivative: -2 });
  // A good token that became likelier is clipped; a bad one is not.
  assertEquals(term(1.5, 2), { value: -2.6, derivative: 0 });
  assertEquals(term(1.5, -2), { value: 3, derivative: 3 });
  // A bad token that became rarer is clipped; a good one is not.
  assertEquals(term(0.5, -2), { value: 1.6, derivative: 0 });
  assertEquals(term(0.5, 2), { value: -1, derivative: -1 });
});

Deno.test("clippedTerm() takes the unclipped branch at a tie", () => {
  // Exactly at the upper clip both branches are equal, and PyTorch passes the whole gradient.
  assertEquals(clippedTerm(1.3, { advantage: 1, ...CLIP }), { value: -1.3, derivative: -1.3 });
  const flat = clippedTerm(7, { advantage: 0, ...CLIP });
  assert(flat.value === 0 && flat.derivative === 0);
});

Deno.test("clipRatio() clips below and above on its own", () => {
  assertEquals([0.5, 0.8, 1.1, 1.3, 2].map((ratio) => clipRatio(ratio, CLIP)), [
    0.8,
    0.8,
    1.1,
    1.3,
    1.3,
  ]);
});

Deno.test("klTerm() gives hand values at d = log 2", () => {
  const d = Math.log(2);
  assertEquals(klTerm("k1", d), { value: d, derivative: 1 });
  assertAlmostEquals(klTerm("k2", d).value, d * d / 2, 1e-15);
  assertAlmostEquals(klTerm("k3", d).value, 0.5 - 1 + d, 1e-15);
  assertAlmostEquals(klTerm("k3", d).derivative, 0.5, 1e-15);
});

for (const kind of KL_KINDS) {
  Deno.test(`klTerm() has the derivative of ${kind} and is exactly 0 where the policies agree`, () => {
    assert(klTerm(kind, 0).value === 0);
    const d = Float64Array.of(-2, -0.3, 1e-4, 0.7, 3);
    assertGradient(kind, {
      x: d,
      gradient: d.map((x) => klTerm(kind, x).derivative),
      loss: (x) => x.reduce((sum, xi) => sum + klTerm(kind, xi).value, 0),
    });
  });
}

Deno.test("klTerm() of k1 and k3 has the mean KL(π ‖ π_ref), exactly, under π", () => {
  const pi = [0.7, 0.2, 0.1];
  const ref = [0.2, 0.2, 0.6];
  const kl = pi.reduce((sum, p, v) => sum + p * Math.log(p / ref[v]), 0);
  const mean = (kind: KlKind) =>
    pi.reduce((sum, p, v) => sum + p * klTerm(kind, Math.log(p / ref[v])).value, 0);
  assertAlmostEquals(mean("k1"), kl, 1e-15);
  assertAlmostEquals(mean("k3"), kl, 1e-15);
  assert(Math.abs(mean("k2") - kl) > 0.01, "k2 is biased");
});

/** Seven tokens; the ratio of the first leaves the clip range above, of the second below; tokens 2 and 5 are masked. */
function tokens(): PolicyLossTokens & { readonly logp_N: Float64Array } {
  const logp_N = randomArray(7, { seed: 1, scale: 0.5, offset: -1 });
  const moves = [0.6, -0.5, 0.1, 0.05, -0.1, 0.2, 0.4];
  const mask = [1, 1, 0, 1, 1, 0, 1];
  return {
    logp_N,
    entropy_N: randomArray(7, { seed: 2, offset: 1 }),
    oldLogp_N: logp_N.map((logp, n) => logp - moves[n]),
    refLogp_N: randomArray(7, { seed: 3, scale: 0.5, offset: -1 }),
    advantage_N: [1.2, -0.7, 5, 0.3, -2, -5, -0.4],
    weight_N: mask.map((m, n) => m * (n + 1) / 20),
    meanWeight_N: mask.map((m) => m / 5),
  };
}

Deno.test("policyLoss() adds up its three terms as written", () => {
  const t: PolicyLossTokens = {
    logp_N: [-1, -2],
    entropy_N: [0.5, 0.25],
    oldLogp_N: [-1, -2],
    refLogp_N: [-1 - Math.log(2), -2],
    advantage_N: [3, -1],
    weight_N: [0.1, 0.2],
    meanWeight_N: [0.5, 0.5],
  };
  const options = { ...OPTIONS, klCoef: 0.1, entropyCoef: 0.01 };
  const klAndEntropy = 0.1 * 0.5 * (Math.log(2) - 0.5) - 0.01 * 0.5 * 0.75;
  const clipped = policyLoss(t, options);
  // At ratio 1 the clipped surrogate is −A.
  assertAlmostEquals(clipped.loss, -0.3 + 0.2 + klAndEntropy, 1e-15);
  assertAlmostEquals(clipped.dlogp_N[0], -0.3 + 0.1 * 0.5 * 0.5, 1e-15);
  assertEquals([...clipped.dentropy_N], [-0.005, -0.005]);
  const reinforce = policyLoss(t, { ...options, surrogate: "reinforce" });
  assertAlmostEquals(reinforce.loss, 0.3 - 0.4 + klAndEntropy, 1e-15);
  assertAlmostEquals(reinforce.dlogp_N[1], 0.2, 1e-15);
});

for (const surrogate of ["reinforce", "clipped"] as const) {
  for (const klKind of KL_KINDS) {
    Deno.test(`policyLoss() has the gradient of ${surrogate} with ${klKind} and entropy`, () => {
      const t = tokens();
      const options = { ...OPTIONS, surrogate, klKind, klCoef: 0.3, entropyCoef: 0.7 };
      const { dlogp_N, dentropy_N } = policyLoss(t, options);
      assertGradient("dlogp", {
        x: t.logp_N,
        gradient: dlogp_N,
        loss: (logp_N) => policyLoss({ ...t, logp_N }, options).loss,
      });
      assertGradient("dentropy", {
        x: Float64Array.from(t.entropy_N),
        gradient: dentropy_N,
        loss: (entropy_N) => policyLoss({ ...t, entropy_N }, options).loss,
      });
      assert(dlogp_N[2] === 0 && dentropy_N[5] === 0, "masked tokens have no gradient");
    });
  }
}

Deno.test("policyLoss() gives clipped tokens no gradient and the others one", () => {
  const { dlogp_N } = policyLoss(tokens(), OPTIONS);
  // Token 0 rose by 0.6 with A > 0, token 1 fell by 0.5 with A < 0; token 6 rose with A < 0 and must still be pushed down.
  assertEquals([...dlogp_N].map((g) => g !== 0), [false, false, false, true, true, false, true]);
});

Deno.test("policyLoss() does not look at tokens without weight, whatever stands there", () => {
  const t = tokens();
  const options = { ...OPTIONS, klCoef: 0.3, entropyCoef: 0.7 };
  const poisoned = {
    ...t,
    logp_N: t.logp_N.map((logp, n) => n === 2 ? -Infinity : logp),
    advantage_N: Array.from(t.advantage_N, (a, n) => n === 5 ? NaN : a),
  };
  assertEquals(policyLoss(poisoned, options), policyLoss(t, options));
});

Deno.test("policyLoss() with every advantage 0 is exactly 0", () => {
  const t = { ...tokens(), advantage_N: new Float64Array(7) };
  for (const surrogate of ["reinforce", "clipped"] as const) {
    const { loss, dlogp_N } = policyLoss(t, { ...OPTIONS, surrogate });
    assert(loss === 0 && dlogp_N.every((g) => g === 0));
  }
});

Deno.test("policyLoss() refuses arrays of different lengths", () => {
  assertThrows(
    () => policyLoss({ ...tokens(), refLogp_N: [0] }, OPTIONS),
    RangeError,
    "refLogp_N holds 1 elements but (N=7) needs 7",
  );
});
