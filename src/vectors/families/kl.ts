/** The family `kl`: estimators of the KL divergence to a reference, with the gradient that they are given. */
import { type KlKind, klTerm, type ValueAndDerivative } from "../../equations/policy_loss.ts";
import { absoluteKlTerm, clampedKlTerm, withK2Derivative } from "../../reference/kl_estimators.ts";
import {
  type Compute,
  type Dialect,
  type Family,
  input,
  inputMistake,
  lattice,
  mapOutputs,
  type Mistake,
  outputMistake,
  type VectorCase,
  withSwapped,
} from "../family.ts";
import { row } from "../values.ts";

const perToken = (term: (difference: number) => ValueAndDerivative): Compute => (vectorCase) => {
  const reference = input(vectorCase, "refLogp").values;
  const terms = input(vectorCase, "logp").values.map((logp, n) =>
    term(logp - (reference[n] ?? NaN))
  );
  return {
    kl: row(terms.map(({ value }) => value)),
    dlogp: row(terms.map(({ derivative }) => derivative)),
  };
};

const plain = (kind: KlKind) => (difference: number) => klTerm(kind, difference);

const clamped = (kind: KlKind, differenceLimit: number, valueLimit: number) =>
(
  difference: number,
) => clampedKlTerm(difference, { kind, differenceLimit, valueLimit });

const dialect = (
  name: string,
  sentence: string,
  rest: {
    readonly usedBy: readonly string[];
    readonly term: (difference: number) => ValueAndDerivative;
  },
): Dialect => ({ name, sentence, usedBy: rest.usedBy, compute: perToken(rest.term) });

/** exp(−d) in float32: infinite beyond 88.7. */
const overflows = (difference: number) => Math.fround(Math.exp(-difference)) === Infinity;

/** How each estimator is defined, with d = logp − refLogp. */
export const KL_DIALECTS: readonly Dialect[] = [
  dialect("k1", "d", {
    usedBy: ["verl kl, k1", "OpenRLHF k1", "slime k1", "agentrl k1"],
    term: plain("k1"),
  }),
  dialect("k2", "d²/2", {
    usedBy: ["verl mse, k2", "OpenRLHF k2", "slime k2", "agentrl k2"],
    term: plain("k2"),
  }),
  dialect("k3", "exp(−d) − 1 + d", {
    usedBy: ["TRL", "OpenRLHF k3", "slime k3", "GRPO's paper", "agentrl k3"],
    term: plain("k3"),
  }),
  dialect("abs", "the absolute value of d", { usedBy: ["verl abs"], term: absoluteKlTerm }),
  dialect("k3_clamped_20_10", "k3 of d clamped to ±20, itself clamped to ±10", {
    usedBy: ["verl low_var_kl, k3 (2026)", "SkyRL k3", "Unsloth (2026)"],
    term: clamped("k3", 20, 10),
  }),
  dialect("k3_clamped_20", "k3 of d clamped to ±20", {
    usedBy: ["trainers that clamp only what goes into the exponential"],
    term: clamped("k3", 20, Infinity),
  }),
  dialect(
    "k3_clamped_10",
    "k3, clamped to ±10 after its exponential, so that its gradient is 0 · ∞, NaN, where float32 " +
      "overflows",
    {
      usedBy: ["slime low_var_kl", "verl low_var_kl of early 2025"],
      term: (d) => {
        const term = clamped("k3", Infinity, 10)(d);
        return overflows(d) ? { ...term, derivative: NaN } : term;
      },
    },
  ),
  dialect("k3_grad_k2", "k3 with the gradient of k2", {
    usedBy: ["straight-through k3"],
    term: (d) => withK2Derivative(klTerm("k3", d), d),
  }),
  dialect("k3_clamped_20_10_grad_k2", "k3_clamped_20_10 with the gradient of k2", {
    usedBy: ["verl k3+, low_var_kl+ (2026)"],
    term: (d) => withK2Derivative(clamped("k3", 20, 10)(d), d),
  }),
  dialect("k1_grad_k2", "k1 with the gradient of k2", {
    usedBy: ["verl k1+ (2026)"],
    term: (d) => withK2Derivative(klTerm("k1", d), d),
  }),
];

const differencesOf = (vectorCase: VectorCase) => {
  const reference = input(vectorCase, "refLogp").values;
  return input(vectorCase, "logp").values.map((logp, n) => logp - (reference[n] ?? NaN));
};

/** A mistake in the formula, for dialects whose names begin so. */
function formula(
  name: string,
  sentence: string,
  rest: {
    readonly of: RegExp;
    readonly term: (difference: number) => ValueAndDerivative;
  },
): Mistake {
  return {
    name,
    sentence,
    compute: (vectorCase, _right, dialect) =>
      rest.of.test(dialect) ? perToken(rest.term)(vectorCase) : undefined,
  };
}

const onGradient = (name: string, sentence: string, change: (value: number) => number): Mistake =>
  outputMistake(
    name,
    sentence,
    (outputs) => mapOutputs(outputs, (value, key) => key === "dlogp" ? change(value) : value),
  );

const onBoth = (name: string, sentence: string, change: (value: number) => number): Mistake =>
  outputMistake(name, sentence, (outputs) => mapOutputs(outputs, change));

/** Mistakes with estimators. */
export const KL_MISTAKES: readonly Mistake[] = [
  {
    name: "swapped",
    sentence: "has the policy and the reference the wrong way round",
    compute: (vectorCase, right) => {
      const outputs = right(withSwapped(vectorCase, "logp", "refLogp"));
      return mapOutputs(outputs, (value, key) => key === "dlogp" ? -value : value);
    },
  },
  formula("reverse_exponent", "has exp(d) where exp(−d) was meant, with the linear term left", {
    of: /^k3/,
    term: (d) => ({ value: Math.exp(d) - 1 + d, derivative: Math.exp(d) + 1 }),
  }),
  formula("linear_sign", "subtracts d where it was to be added", {
    of: /^k3/,
    term: (d) => ({ value: Math.exp(-d) - 1 - d, derivative: -Math.exp(-d) - 1 }),
  }),
  formula("one_missing", "forgets the − 1", {
    of: /^k3/,
    term: (d) => ({ value: Math.exp(-d) + d, derivative: 1 - Math.exp(-d) }),
  }),
  formula("linear_missing", "forgets the linear term", {
    of: /^k3/,
    term: (d) => ({ value: Math.exp(-d) - 1, derivative: -Math.exp(-d) }),
  }),
  formula("forward_kl", "weighs the log-ratio by the ratio: exp(−d) · (−d)", {
    of: /^k[13]/,
    term: (d) => ({ value: -d * Math.exp(-d), derivative: (d - 1) * Math.exp(-d) }),
  }),
  formula("floored", "holds the estimate at 0 from below", {
    of: /^k1/,
    term: (d) => ({ value: Math.max(d, 0), derivative: d > 0 ? 1 : 0 }),
  }),
  formula("clamped_5", "clamps d to ±5", { of: /^(k3|k2)/, term: clamped("k3", 5, Infinity) }),
  formula("clamped_1", "clamps the estimate to ±1", { of: /^k[13]/, term: clamped("k3", 20, 1) }),
  onBoth("negated", "has the wrong sign", (value) => -value),
  onBoth("doubled", "is twice as large (of k2: without its factor ½)", (value) => 2 * value),
  onBoth("halved", "is half as large", (value) => value / 2),
  onBoth("in_bits", "is in bits where nats were meant", (value) => value / Math.LN2),
  onGradient("gradient_negated", "has the wrong sign in its gradient", (value) => -value),
  onGradient("detached", "is detached: it has no gradient", () => 0),
  onGradient("gradient_one", "has the gradient of k1, 1 for every token", () => 1),
  {
    name: "clamp_is_straight_through",
    sentence: "lets the gradient pass where a clamp holds",
    compute: (vectorCase, right, dialect) => {
      if (!/_clamped_/.test(dialect) || dialect.endsWith("k2")) return undefined;
      return {
        ...right(vectorCase),
        dlogp: row(differencesOf(vectorCase).map((d) => klTerm("k3", d).derivative)),
      };
    },
  },
  inputMistake(
    "probabilities",
    "takes probabilities where log-probs were meant",
    ({ inputs, ...rest }) => ({
      ...rest,
      inputs: Object.fromEntries(
        Object.entries(inputs).map(([key, { values }]) => [key, row(values.map(Math.exp))]),
      ),
    }),
  ),
];

function klCase(
  id: string,
  about: string,
  rest: {
    readonly differences: readonly number[];
    readonly seed?: number;
    readonly isEdge?: true;
  },
): VectorCase {
  const { differences, seed = 41, isEdge } = rest;
  const logp = lattice(differences.length, { seed, low: -4, high: -0.25 })
    .map((value, n) => value - Math.max(0, -(differences[n] ?? 0)));
  return {
    id,
    about,
    inputs: {
      logp: row(logp.map(Math.fround)),
      refLogp: row(logp.map((value, n) => Math.fround(value - (differences[n] ?? 0)))),
    },
    config: {},
    ...(isEdge && { isEdge }),
  };
}

/** The family. */
export const KL: Family = {
  name: "kl",
  sentence: "the KL divergence to a reference, estimated token by token",
  inputs: {
    logp: "log-prob of the token under the policy [N]",
    refLogp: "log-prob of the token under the reference [N]",
  },
  config: {},
  outputs: {
    kl: "the estimate of every token [N]",
    dlogp: "gradient of Σ kl for each logp [N]",
  },
  tolerance: {
    relative: 1e-5,
    absolute: 2e-7,
    reason: "differences of float32 of up to 32, so 2e-6, and an exponential of them",
  },
  cases: [
    klCase("small", "differences of both signs below 1", {
      differences: [0.5, -0.25, 0.75, -0.125, 0.375, -0.625, 0.0625, -0.9375],
    }),
    klCase("equal", "no difference, as before the first update", {
      differences: [0, 0, 0, 0],
      seed: 42,
    }),
    klCase("tiny", "differences of about 1e-3, where exp(−d) − 1 + d cancels", {
      differences: [2 ** -10, -(2 ** -10), 2 ** -9, -(2 ** -9)],
      seed: 43,
    }),
    klCase("large", "differences up to 6, both signs", {
      differences: [2, -2, 4, -1.5, 6, -1.75],
      seed: 44,
    }),
    klCase("policy_far_above", "the reference gives the token e^-25 of what the policy does", {
      differences: [25, 12, 21, 9],
      seed: 45,
    }),
    klCase("beyond_value_clamp", "k3 of about 17 to 141", {
      differences: [-3, -5, -4, 1],
      seed: 46,
    }),
    klCase("beyond_difference_clamp", "differences of −21 to −30, where k3 is 1e9 and more", {
      differences: [-21, -25, -30],
      seed: 47,
    }),
    klCase("overflow", "a difference of −100, where exp(100) is beyond float32", {
      differences: [-100, 1, -1],
      seed: 48,
      isEdge: true,
    }),
  ],
  dialects: KL_DIALECTS,
  mistakes: KL_MISTAKES,
};
