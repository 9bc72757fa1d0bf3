/** The family `sampler`: weights against the difference between the sampler's log-probs and the trainer's. */
import {
  samplerWeights,
  type WeightBound,
  type WeightLevel,
} from "../../reference/sampler_weights.ts";
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
  withSwapped,
} from "../family.ts";
import { mapValues, matrix, type Values } from "../values.ts";
import { maskedAs, maskOf } from "./aggregation_cases.ts";
import { gridRows, logps, shiftedLogps, withMaskRows } from "./grid.ts";

const compute = (level: WeightLevel, bound: WeightBound): Compute => (vectorCase) => ({
  weight: matrix(
    gridRows(vectorCase, ["oldLogp", "samplerLogp", "mask"]).map(
      ({ oldLogp, samplerLogp, mask: mask_T }) =>
        samplerWeights(oldLogp.map((value, t) => value - (samplerLogp[t] ?? NaN)), {
          mask_T,
          level,
          bound,
          cap: setting(vectorCase, "cap"),
          floor: setting(vectorCase, "floor"),
        }),
    ),
  ),
});

const LEVELS = {
  token: "each token by its own ratio",
  sequence: "each token by the ratio of its whole sequence, the product over the mask",
  geometric: "each token by the geometric mean of its sequence's ratios",
} as const satisfies Readonly<Record<WeightLevel, string>>;

const BOUNDS = {
  truncate: "at most `cap`",
  mask: "0 where it is above `cap` or below `floor`",
} as const satisfies Readonly<Record<WeightBound, string>>;

const USERS: Readonly<Record<string, readonly string[]>> = {
  token_truncate: [
    "verl rollout_is=token",
    "TRL token_truncate",
    "slime tis",
    "OpenRLHF tis",
    "NeMo-RL",
  ],
  token_mask: ["TRL token_mask", "prime-rl (two bounds)", "OpenRLHF icepop"],
  sequence_truncate: ["verl rollout_is=sequence", "TRL sequence_truncate"],
  sequence_mask: ["TRL sequence_mask"],
  geometric_truncate: [],
  geometric_mask: ["verl rejection by geometric mean"],
};

const DIALECTS: readonly Dialect[] = (["token", "sequence", "geometric"] as const).flatMap((
  level,
) =>
  (["truncate", "mask"] as const).map((bound) => ({
    name: `${level}_${bound}`,
    sentence: `weighs ${LEVELS[level]}, ${BOUNDS[bound]}`,
    usedBy: USERS[`${level}_${bound}`] ?? [],
    compute: compute(level, bound),
  }))
);

const scaled = (name: string, sentence: string, change: (value: number) => number): Mistake =>
  outputMistake(name, sentence, (outputs) => mapOutputs(outputs, change));

const ofTokens = (
  name: string,
  sentence: string,
  weight: (logRatio: number, one: VectorCase) => number,
): Mistake => ({
  name,
  sentence,
  compute: (one, _right, dialect) => {
    if (!dialect.startsWith("token")) return undefined;
    const sampler = input(one, "samplerLogp").values;
    const mask = input(one, "mask").values;
    return {
      weight: mapValues(
        input(one, "oldLogp"),
        (value, i) => mask[i] === 0 ? 0 : weight(value - (sampler[i] ?? NaN), one),
      ),
    };
  },
});

const MISTAKES: readonly Mistake[] = [
  inputMistake(
    "ratio_inverted",
    "divides the sampler's probability by the trainer's",
    (one) => withSwapped(one, "oldLogp", "samplerLogp"),
  ),
  inputMistake("cap_missing", "has no upper bound", (one) => withConfig(one, { cap: 1e30 })),
  inputMistake("floor_missing", "has no lower bound", (one) => withConfig(one, { floor: 0 })),
  {
    name: "floor_held",
    sentence: "holds weights at the lower bound as well where only the upper one was meant",
    compute: (one, right, dialect) => {
      if (!dialect.endsWith("truncate")) return undefined;
      const mask = input(one, "mask").values;
      const { weight } = right(one);
      return weight && {
        weight: mapValues(
          weight,
          (value, i) => mask[i] === 0 ? 0 : Math.max(value, setting(one, "floor")),
        ),
      };
    },
  },
  inputMistake(
    "mask_ignored",
    "counts every column of the row",
    (one) => withMaskRows(one, (row) => row.map(() => 1)),
  ),
  inputMistake(
    "mask_one_late",
    "has its mask one column too far to the right",
    (one) => withMaskRows(one, (row) => row.map((_, t) => row[t - 1] ?? 0)),
  ),
  {
    name: "sequence_unmasked",
    sentence: "takes the sequence's ratio over all columns, those outside the mask included",
    compute: (one, right, dialect) => {
      if (dialect.startsWith("token")) return undefined;
      const mask = input(one, "mask").values;
      const { weight } = right(withMaskRows(one, (row) => row.map(() => 1)));
      return weight && { weight: mapValues(weight, (value, i) => mask[i] === 0 ? 0 : value) };
    },
  },
  {
    name: "one_outside_mask",
    sentence: "has 1 outside the mask where 0 was meant",
    compute: (one, right) => {
      const mask = input(one, "mask").values;
      const { weight } = right(one);
      return weight && { weight: mapValues(weight, (value, i) => mask[i] === 0 ? 1 : value) };
    },
  },
  ofTokens(
    "log_ratio",
    "takes the log-ratio for the ratio",
    (logRatio, one) => Math.min(logRatio, setting(one, "cap")),
  ),
  ofTokens(
    "cap_on_log_ratio",
    "caps the log-ratio instead of the ratio",
    (logRatio, one) => Math.exp(Math.min(logRatio, setting(one, "cap"))),
  ),
  ofTokens(
    "probability_difference",
    "takes 1 + the difference of log-probs",
    (logRatio, one) => Math.min(1 + logRatio, setting(one, "cap")),
  ),
  scaled("squared", "multiplies by the weight twice", (value) => value * value),
  scaled("rooted", "takes the root of the weight", Math.sqrt),
  scaled(
    "all_one",
    "has no effect: every weight that is not 0 is 1",
    (value) => value === 0 ? 0 : 1,
  ),
  scaled("at_most_one", "caps weights at 1", (value) => Math.min(value, 1)),
  {
    name: "normalized",
    sentence: "divides the weights by their mean over the mask",
    compute: (one, right) => {
      const mask = input(one, "mask").values;
      const { weight } = right(one);
      if (weight === undefined) return undefined;
      const count = Math.max(mask.reduce((sum, value) => sum + value, 0), 1);
      const mean = weight.values.reduce((sum, value) => sum + value, 0) / count;
      return { weight: mapValues(weight, (value) => mean === 0 ? 0 : value / mean) };
    },
  },
];

function samplerCase(
  id: string,
  about: string,
  rest: {
    readonly mask: Values;
    readonly seed: number;
    readonly difference: readonly number[];
    readonly isEdge?: true;
    readonly sameAs?: string;
  },
): VectorCase {
  const { mask, seed, difference, ...others } = rest;
  const oldLogp = logps(mask.shape, seed);
  const samplerLogp = shiftedLogps(oldLogp, difference);
  return {
    id,
    about,
    inputs: { oldLogp, samplerLogp, mask },
    config: { cap: 2, floor: 0.5 },
    ...others,
  };
}

const HOLES = maskOf("0110111", "1001100", "0111110");
const holes = samplerCase("holes", "tool output in the middle of answers", {
  mask: HOLES,
  seed: 121,
  difference: lattice(21, { seed: 122, low: -0.5, high: 0.5 }),
});

/** The family. */
export const SAMPLER: Family = {
  name: "sampler",
  sentence: "the weight of every token against the difference between sampler and trainer",
  inputs: {
    oldLogp: "log-prob by the trainer before the update [B, T]",
    samplerLogp: "log-prob by the engine that drew the token [B, T]",
    mask: "1 where the loss trains on the token, else 0 [B, T]",
  },
  config: { cap: "upper bound of a weight", floor: "lower bound where weights are masked" },
  outputs: { weight: "weight of every token, 0 outside the mask [B, T]" },
  tolerance: {
    relative: 1e-5,
    absolute: 1e-6,
    reason: "a sum of at most 8 differences of float32 and an exponential",
  },
  cases: [
    samplerCase("close", "differences of a few hundredths", {
      mask: maskOf("111111", "111100"),
      seed: 123,
      difference: lattice(12, { seed: 124, low: -0.0625, high: 0.0625 }),
    }),
    holes,
    samplerCase("far", "single tokens beyond both bounds", {
      mask: maskOf("11111", "11111", "11111"),
      seed: 125,
      difference: [1, 0, -0.25, 0, 0.125, -1.5, 0.25, 0, 0.125, 0, 0.5, 0.25, 0.25, 0.125, 2.5],
    }),
    samplerCase("drift", "small differences of one sign, whose product is beyond the bounds", {
      mask: maskOf("11111111", "11111111", "11000000"),
      seed: 126,
      difference: [
        ...[0.125, 0.25, 0.125, 0.125, 0.25, 0.125, 0.0625, 0.125],
        ...[-0.125, -0.25, -0.125, -0.0625, -0.125, -0.25, -0.125, -0.125],
        ...[0.125, -0.0625, 1, 1, -1, 1, 1, 1],
      ],
    }),
    samplerCase("sequence_beyond", "whole sequences whose mean ratio is beyond the bounds", {
      mask: maskOf("111", "111"),
      seed: 127,
      difference: [0.75, 1, 0.875, -1, -0.75, -0.875],
    }),
    samplerCase("empty_row", "a row without a trained token", {
      mask: maskOf("0000", "1010"),
      seed: 128,
      difference: lattice(8, { seed: 129, low: -0.5, high: 0.5 }),
    }),
    {
      ...holes,
      id: "nan_masked",
      about: "holes with NaN for the sampler outside the mask, which reports no prompt",
      isEdge: true,
      sameAs: "holes",
      inputs: {
        ...holes.inputs,
        samplerLogp: maskedAs(input(holes, "samplerLogp"), HOLES, NaN),
      },
    },
  ],
  dialects: DIALECTS,
  mistakes: MISTAKES,
};
