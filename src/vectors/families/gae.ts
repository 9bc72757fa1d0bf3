/** The family `gae`: generalized advantage estimation over the tokens of answers. */
import { type GaeOptions, generalizedAdvantage, whitened } from "../../reference/baselines.ts";
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
  setting,
  type VectorCase,
  withConfig,
  withInput,
} from "../family.ts";
import { type Arrays, mapValues, matrix, rowsOf, type Values } from "../values.ts";
import { maskOf } from "./aggregation_cases.ts";
import { gridRows, withMaskRows } from "./grid.ts";

/** Both outputs, 0 outside the mask. */
function estimated(
  vectorCase: VectorCase,
  skipsMasked: boolean,
  estimate: typeof generalizedAdvantage = generalizedAdvantage,
): Arrays {
  const gamma = setting(vectorCase, "gamma");
  const lambda = setting(vectorCase, "lambda");
  const rows = gridRows(vectorCase, ["reward", "value", "mask"]).map(({ reward, value, mask }) => {
    const options: GaeOptions & { readonly mask_T: readonly number[] } = {
      gamma,
      lambda,
      skipsMasked,
      mask_T: mask,
    };
    const advantage = estimate(reward, value, options).map((one, t) => mask[t] === 0 ? 0 : one);
    return {
      advantage,
      returns: advantage.map((one, t) => mask[t] === 0 ? 0 : one + (value[t] ?? NaN)),
    };
  });
  return {
    advantage: matrix(rows.map(({ advantage }) => advantage)),
    return: matrix(rows.map(({ returns }) => returns)),
  };
}

/** The advantages whitened over the mask, the returns left. */
const whiten = (compute: Compute): Compute => (vectorCase) => {
  const { advantage, ...rest } = compute(vectorCase);
  const mask = input(vectorCase, "mask").values;
  if (advantage === undefined) return rest;
  const values = whitened(advantage.values, mask);
  return {
    advantage: mapValues(advantage, (_, i) => mask[i] === 0 ? 0 : values[i] ?? NaN),
    ...rest,
  };
};

const skipping: Compute = (vectorCase) => estimated(vectorCase, true);
const plain: Compute = (vectorCase) => estimated(vectorCase, false);

const DIALECTS: readonly Dialect[] = [
  {
    name: "skips_masked",
    sentence: "tokens outside the mask are skipped: the next value is the next trained token's",
    usedBy: ["agents with tool output in the answer"],
    compute: skipping,
  },
  {
    name: "skips_masked_whitened",
    sentence: "skips_masked, with the advantages whitened over the mask and the returns left",
    usedBy: ["verl gae (2026)"],
    compute: whiten(skipping),
  },
  {
    name: "plain",
    sentence: "every column is a step, those outside the mask included",
    usedBy: ["slime ppo", "TRL PPOTrainer"],
    compute: plain,
  },
  {
    name: "plain_whitened",
    sentence: "plain, with the advantages whitened over the mask and the returns left",
    usedBy: ["verl gae of early 2025"],
    compute: whiten(plain),
  },
];

/** A mistake within the recursion. */
function recursion(
  name: string,
  sentence: string,
  step: (row: {
    readonly reward: number;
    readonly value: number;
    readonly next: number;
    readonly following: number;
    readonly gamma: number;
    readonly lambda: number;
  }) => number,
): Mistake {
  const estimate: typeof generalizedAdvantage = (reward, value, options) => {
    const { gamma, lambda, mask_T, skipsMasked } = options;
    let [next, following] = [0, 0];
    const advantage = reward.map(() => 0);
    for (let t = reward.length - 1; t >= 0; t--) {
      if (!skipsMasked || mask_T[t] !== 0) {
        const own = value[t] ?? NaN;
        following = step({ reward: reward[t] ?? NaN, value: own, next, following, gamma, lambda });
        next = own;
      }
      advantage[t] = following;
    }
    return advantage;
  };
  return {
    name,
    sentence,
    compute: (vectorCase, _right, dialect) => {
      const compute: Compute = (one) => estimated(one, dialect.startsWith("skips"), estimate);
      return (dialect.endsWith("whitened") ? whiten(compute) : compute)(vectorCase);
    },
  };
}

const MISTAKES: readonly Mistake[] = [
  recursion(
    "no_next_value",
    "leaves the next value out",
    (one) => one.reward - one.value + one.gamma * one.lambda * one.following,
  ),
  recursion(
    "no_value",
    "does not subtract the value",
    (one) => one.reward + one.gamma * one.next + one.gamma * one.lambda * one.following,
  ),
  recursion(
    "next_undiscounted",
    "does not discount the next value",
    (one) => one.reward + one.next - one.value + one.gamma * one.lambda * one.following,
  ),
  recursion(
    "gamma_missing_in_decay",
    "decays by λ alone",
    (one) => one.reward + one.gamma * one.next - one.value + one.lambda * one.following,
  ),
  recursion(
    "lambda_missing",
    "decays by γ alone, as λ = 1 would",
    (one) => one.reward + one.gamma * one.next - one.value + one.gamma * one.following,
  ),
  recursion(
    "one_step",
    "ends after one step, as λ = 0 would",
    (one) => one.reward + one.gamma * one.next - one.value,
  ),
  recursion(
    "next_value_subtracted",
    "subtracts the next value",
    (one) => one.reward - one.gamma * one.next - one.value + one.gamma * one.lambda * one.following,
  ),
  recursion(
    "reward_missing",
    "leaves the rewards out",
    (one) => one.gamma * one.next - one.value + one.gamma * one.lambda * one.following,
  ),
  inputMistake(
    "gamma_and_lambda_swapped",
    "has γ and λ exchanged",
    (one) => withConfig(one, { gamma: setting(one, "lambda"), lambda: setting(one, "gamma") }),
  ),
  inputMistake(
    "values_one_late",
    "has the values one column too far to the right",
    (one) => withInput(one, "value", moved(1)),
  ),
  inputMistake(
    "values_one_early",
    "has the values one column too far to the left",
    (one) => withInput(one, "value", moved(-1)),
  ),
  inputMistake(
    "reward_one_early",
    "has the rewards one column too far to the left",
    (one) => withInput(one, "reward", moved(-1)),
  ),
  inputMistake(
    "mask_one_late",
    "has its mask one column too far to the right",
    (one) => withMaskRows(one, (row) => row.map((_, t) => row[t - 1] ?? 0)),
  ),
  {
    name: "not_reversed",
    sentence: "runs from the first token to the last, and turns neither around",
    compute: (one, right) => {
      const reversed = { ...one, inputs: mirrored(one.inputs) };
      return mirrored(right(reversed));
    },
  },
  {
    name: "returns_from_whitened",
    sentence: "adds the values to advantages that are whitened already",
    compute: (one, right, dialect) => {
      if (!dialect.endsWith("whitened")) return undefined;
      const { advantage } = right(one);
      const value = input(one, "value").values;
      const mask = input(one, "mask").values;
      return advantage && {
        advantage,
        return: mapValues(advantage, (own, i) => mask[i] === 0 ? 0 : own + (value[i] ?? NaN)),
      };
    },
  },
  {
    name: "returns_without_value",
    sentence: "gives the advantages as returns",
    compute: (one, right, dialect) => {
      const { advantage } = right(one);
      return dialect.endsWith("whitened") || advantage === undefined
        ? undefined
        : { advantage, return: advantage };
    },
  },
  outputMistake(
    "negated",
    "has the wrong sign in its advantages",
    (outputs) => mapOutputs(outputs, (value, key) => key === "advantage" ? -value : value),
  ),
];

/** Columns moved to the right by so many, with 0 where nothing comes from. */
function moved(by: 1 | -1): (values: Values) => Values {
  return (values) => matrix(rowsOf(values).map((row) => row.map((_, t) => row[t - by] ?? 0)));
}

function mirrored(arrays: Arrays): Arrays {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, values]) => [
      name,
      matrix(rowsOf(values).map((row) => row.toReversed())),
    ]),
  );
}

function gaeCase(
  id: string,
  about: string,
  rest: {
    readonly mask: Values;
    readonly seed: number;
    readonly gamma: number;
    readonly lambda: number;
    readonly isLastOnly?: true;
  },
): VectorCase {
  const { mask, seed, gamma, lambda, isLastOnly } = rest;
  const rewards = lattice(mask.values.length, { seed, low: -1, high: 1 });
  const reward = matrix(
    rowsOf({ shape: mask.shape, values: rewards }).map((row, b) => {
      const own = rowsOf(mask)[b] ?? [];
      const last = own.lastIndexOf(1);
      return row.map((value, t) => own[t] === 0 || (isLastOnly && t !== last) ? 0 : value);
    }),
  );
  return {
    id,
    about,
    inputs: {
      reward,
      value: {
        shape: mask.shape,
        values: lattice(mask.values.length, { seed: seed + 1, low: -0.5, high: 1 }),
      },
      mask,
    },
    config: { gamma: Math.fround(gamma), lambda: Math.fround(lambda) },
  };
}

/** The family. */
export const GAE: Family = {
  name: "gae",
  sentence: "generalized advantage estimation, with value 0 after the end of a row",
  inputs: {
    reward: "reward that arrives with each token, 0 outside the mask [B, T]",
    value: "value of each token, anything outside the mask [B, T]",
    mask: "1 where the token is the policy's, else 0 [B, T]",
  },
  config: { gamma: "γ", lambda: "λ" },
  outputs: {
    advantage: "advantage, 0 outside the mask [B, T]",
    return: "unwhitened advantage + value, 0 outside the mask [B, T]",
  },
  tolerance: {
    relative: 2e-5,
    absolute: 1e-6,
    reason: "a recursion of at most 8 steps in float32; whitening divides by no less than 0.1",
  },
  cases: [
    gaeCase("dense", "a reward with every token", {
      mask: maskOf("1111111", "1111111"),
      seed: 141,
      gamma: 0.875,
      lambda: 0.75,
    }),
    gaeCase("outcome", "one reward at the end, no discount", {
      mask: maskOf("11111", "11111", "11111"),
      seed: 143,
      gamma: 1,
      lambda: 0.9375,
      isLastOnly: true,
    }),
    gaeCase("holes", "tool output in the middle of answers", {
      mask: maskOf("1100111", "1011001", "0111101"),
      seed: 145,
      gamma: 0.9375,
      lambda: 0.5,
    }),
    gaeCase("right_padding", "rows of 6, 3 and 1 token, values of padding that are not 0", {
      mask: maskOf("11111100", "11100000", "10000000"),
      seed: 147,
      gamma: 0.75,
      lambda: 0.875,
      isLastOnly: true,
    }),
    gaeCase("monte_carlo", "λ = 1: returns do not depend on values between", {
      mask: maskOf("11111", "11111"),
      seed: 149,
      gamma: 0.875,
      lambda: 1,
    }),
  ],
  dialects: DIALECTS,
  mistakes: MISTAKES,
};
