/** The family `aggregation`: from per-token terms to one loss. */
import { at } from "../../core/element.ts";
import {
  type AggregationMode,
  type AggregationOptions,
  aggregationWeights,
} from "../../equations/aggregate.ts";
import {
  type Compute,
  type Dialect,
  type Family,
  input,
  inputMistake,
  mapOutputs,
  type Mistake,
  outputMistake,
  scaled,
  setting,
  type VectorCase,
  withInput,
} from "../family.ts";
import { type Arrays, mapValues, matrix, rowsOf, scalar, type Values } from "../values.ts";
import { AGGREGATION_CASES } from "./aggregation_cases.ts";

/** Loss and gradient from the weight of every token: loss = Σ weight · term over tokens that have one. */
export function weighted({ shape, values }: Values, weight_BT: ArrayLike<number>): Arrays {
  const dterm = values.map((_, i) => weight_BT[i] ?? 0);
  // A weight of 0 selects: what stands there is not looked at, NaN included.
  const loss = dterm.reduce(
    (sum, weight, i) => weight === 0 ? sum : sum + at(values, i) * weight,
    0,
  );
  return { loss: scalar(loss), dterm: { shape, values: dterm } };
}

/** Rows in which the mask has something. */
export function trainedRows(mask: Values): number[] {
  return rowsOf(mask).flatMap((row, b) => row.some((value) => value > 0) ? [b] : []);
}

function byMode(
  mode: AggregationMode,
  optionsOf: (vectorCase: VectorCase) => Partial<AggregationOptions> = () => ({}),
): Compute {
  return (vectorCase) => {
    const mask = input(vectorCase, "mask");
    const [episodeCount = 0, columnCount = 0] = mask.shape;
    const options = { mode, episodeCount, columnCount, ...optionsOf(vectorCase) };
    return weighted(input(vectorCase, "term"), aggregationWeights(mask.values, options));
  };
}

const onlyTrained = (vectorCase: VectorCase) => ({
  episodes: trainedRows(input(vectorCase, "mask")),
});

const sizes = (vectorCase: VectorCase) => {
  const [B = 0, T = 0] = input(vectorCase, "mask").shape;
  return { B, T };
};

const scaledBy = (factor: (vectorCase: VectorCase) => number, compute: Compute): Compute =>
(
  vectorCase,
) => mapOutputs(compute(vectorCase), (value) => value * factor(vectorCase));

/** How terms become a loss, by dialect. */
export const AGGREGATION_DIALECTS: readonly Dialect[] = [
  {
    name: "token_mean",
    sentence: "the sum over trained tokens divided by their number in the batch",
    usedBy: [
      "verl token-mean",
      "TRL bnpo, and dapo with one process and no accumulation",
      "OpenRLHF (token_level_loss)",
      "NeMo-RL token_level_loss",
      "agentrl token_mean",
    ],
    compute: byMode("token_mean"),
  },
  {
    name: "token_sum",
    sentence: "the sum over trained tokens",
    usedBy: ["verl token-sum (2026)"],
    compute: byMode("constant", () => ({ normConst: 1 })),
  },
  {
    name: "seq_mean_token_sum",
    sentence: "the sum over trained tokens divided by the number of rows, empty ones included",
    usedBy: [
      "agentrl seq_mean_token_sum",
      "verl seq-mean-token-sum before empty rows were left out",
    ],
    compute: byMode("seq_mean_token_sum"),
  },
  {
    name: "seq_mean_token_sum_nonempty",
    sentence: "the sum over trained tokens divided by the number of rows that have one",
    usedBy: ["verl seq-mean-token-sum (2026)"],
    compute: byMode("seq_mean_token_sum", onlyTrained),
  },
  {
    name: "seq_mean_token_mean",
    sentence: "each row's mean over its trained tokens, then the mean over all rows; an empty " +
      "row counts as 0",
    usedBy: ["TRL grpo", "GRPO's paper", "slime", "agentrl seq_mean_token_mean"],
    compute: byMode("seq_mean_token_mean"),
  },
  {
    name: "seq_mean_token_mean_nonempty",
    sentence: "each row's mean over its trained tokens, then the mean over rows that have one",
    usedBy: ["verl seq-mean-token-mean (2026)"],
    compute: byMode("seq_mean_token_mean", onlyTrained),
  },
  {
    name: "constant_max_length",
    sentence: "the sum over trained tokens divided by rows times the longest length allowed",
    usedBy: ["TRL dr_grpo", "Dr. GRPO's paper", "agentrl constant"],
    compute: byMode("constant", (vectorCase) => ({
      normConst: sizes(vectorCase).B * setting(vectorCase, "maxLength"),
    })),
  },
  {
    name: "seq_mean_token_sum_norm",
    sentence: "the sum over trained tokens divided by non-empty rows times the columns of the " +
      "tensor",
    usedBy: ["verl seq-mean-token-sum-norm without loss_scale_factor"],
    compute: scaledBy(
      (vectorCase) => 1 / sizes(vectorCase).T,
      byMode("seq_mean_token_sum", onlyTrained),
    ),
  },
  {
    name: "seq_mean_token_sum_norm_max_length",
    sentence: "the sum over trained tokens divided by non-empty rows times the longest length " +
      "allowed",
    usedBy: ["verl seq-mean-token-sum-norm with loss_scale_factor"],
    compute: scaledBy(
      (vectorCase) => 1 / setting(vectorCase, "maxLength"),
      byMode("seq_mean_token_sum", onlyTrained),
    ),
  },
];

const shifted = (name: string, sentence: string, by: 1 | -1): Mistake =>
  inputMistake(
    name,
    sentence,
    (vectorCase) =>
      withInput(vectorCase, "mask", (mask) =>
        matrix(
          rowsOf(mask).map((row) => row.map((_, t) => row[t - by] ?? 0)),
        )),
  );

const tokens = (vectorCase: VectorCase) =>
  input(vectorCase, "mask").values.reduce((sum, mask) => sum + mask, 0);

/** Gradients that a mask by multiplication gives are right; its value is NaN where a masked term is not finite. */
const multiplied: Mistake = {
  name: "mask_by_product",
  sentence: "multiplies by the mask instead of selecting by it, so that a term outside the " +
    "mask that is not finite spreads",
  compute: (vectorCase, right) => {
    const outputs = right(vectorCase);
    const term = input(vectorCase, "term");
    const isHarmed = term.values.some((value) => !Number.isFinite(value));
    return isHarmed ? { ...outputs, loss: scalar(NaN) } : outputs;
  },
};

const nanWhereEmpty: Mistake = {
  name: "nan_where_empty",
  sentence: "divides by the number of trained tokens also where there is none: 0/0",
  compute: (vectorCase, right) => {
    const outputs = right(vectorCase);
    return tokens(vectorCase) > 0 ? outputs : mapOutputs(outputs, () => NaN);
  },
};

/** An empty row's own mean is 0/0, and the mean over rows takes it in. */
const nanInEmptyRow: Mistake = {
  name: "nan_in_empty_row",
  sentence: "divides each row by its own tokens also where it has none: 0/0, and the loss is NaN",
  compute: (vectorCase, right, dialect) => {
    if (!dialect.startsWith("seq_mean_token_mean")) return undefined;
    const outputs = right(vectorCase);
    const mask = input(vectorCase, "mask");
    if (trainedRows(mask).length === mask.shape[0]) return outputs;
    return { ...outputs, loss: scalar(NaN) };
  },
};

/** Common mistakes with aggregations. */
export const AGGREGATION_MISTAKES: readonly Mistake[] = [
  inputMistake(
    "mask_ignored",
    "ignores the mask: every token counts",
    (vectorCase) => withInput(vectorCase, "mask", (mask) => mapValues(mask, () => 1)),
  ),
  scaled(
    "denominator_counts_masked",
    "divides by all tokens where those under the mask were meant: the sum is masked, the " +
      "denominator is not",
    (vectorCase) => tokens(vectorCase) / (sizes(vectorCase).B * sizes(vectorCase).T),
  ),
  {
    name: "row_denominator_counts_masked",
    sentence: "divides each row by all of its columns where its trained tokens were meant",
    compute: (vectorCase, _right, dialect) => {
      if (!dialect.startsWith("seq_mean_token_mean")) return undefined;
      const { T } = sizes(vectorCase);
      const rows = dialect.endsWith("nonempty") ? onlyTrained : undefined;
      return scaledBy(() => 1 / T, byMode("seq_mean_token_sum", rows))(vectorCase);
    },
  },
  {
    name: "numerator_unmasked",
    sentence: "sums all tokens and divides by those under the mask",
    compute: (vectorCase, _right, dialect) => {
      if (dialect !== "token_mean") return undefined;
      const count = Math.max(tokens(vectorCase), 1e-8);
      const { B, T } = sizes(vectorCase);
      return weighted(input(vectorCase, "term"), new Float64Array(B * T).fill(1 / count));
    },
  },
  outputMistake(
    "negated",
    "has the wrong sign",
    (outputs) => mapOutputs(outputs, (value) => -value),
  ),
  outputMistake(
    "gradient_negated",
    "has the right value and the wrong sign in its gradient",
    (outputs) => mapOutputs(outputs, (value, name) => name === "dterm" ? -value : value),
  ),
  outputMistake(
    "detached",
    "is detached: the value is right and the gradient 0",
    (outputs) => mapOutputs(outputs, (value, name) => name === "dterm" ? 0 : value),
  ),
  shifted("mask_one_late", "has its mask one column too far to the right", 1),
  shifted("mask_one_early", "has its mask one column too far to the left", -1),
  inputMistake(
    "mask_inverted",
    "trains on what the mask leaves out",
    (vectorCase) => withInput(vectorCase, "mask", (mask) => mapValues(mask, (value) => 1 - value)),
  ),
  inputMistake(
    "first_token_dropped",
    "drops the first trained token of every row",
    (vectorCase) =>
      withInput(
        vectorCase,
        "mask",
        (mask) =>
          matrix(
            rowsOf(mask).map((row) =>
              row.map((value, t) => t === row.findIndex((one) => one > 0) ? 0 : value)
            ),
          ),
      ),
  ),
  inputMistake(
    "last_token_dropped",
    "drops the last trained token of every row",
    (vectorCase) =>
      withInput(
        vectorCase,
        "mask",
        (mask) =>
          matrix(
            rowsOf(mask).map((row) =>
              row.map((value, t) => t === row.findLastIndex((one) => one > 0) ? 0 : value)
            ),
          ),
      ),
  ),
  inputMistake(
    "hole_filled",
    "takes the mask as one stretch from its first to its last token",
    (vectorCase) =>
      withInput(vectorCase, "mask", (mask) =>
        matrix(
          rowsOf(mask).map((row) => {
            const [first, last] = [row.indexOf(1), row.lastIndexOf(1)];
            return row.map((_, t) => first >= 0 && t >= first && t <= last ? 1 : 0);
          }),
        )),
  ),
  inputMistake(
    "lengths_from_the_left",
    "counts each row's tokens and takes that many from the left, whatever side the padding is on",
    (vectorCase) =>
      withInput(vectorCase, "mask", (mask) =>
        matrix(
          rowsOf(mask).map((row) => {
            const length = row.reduce((sum, value) => sum + value, 0);
            return row.map((_, t) => t < length ? 1 : 0);
          }),
        )),
  ),
  {
    name: "columns_then_rows",
    sentence: "averages over rows first and over columns then: the wrong axis",
    compute: (vectorCase, _right, dialect) => {
      if (!dialect.startsWith("seq_mean_token_mean")) return undefined;
      const mask = rowsOf(input(vectorCase, "mask"));
      const { B, T } = sizes(vectorCase);
      const weights = mask.flatMap((row) =>
        row.map((value, t) =>
          value / Math.max(mask.reduce((sum, other) => sum + (other[t] ?? 0), 0), 1e-8) / T
        )
      );
      return B === 0 ? undefined : weighted(input(vectorCase, "term"), weights);
    },
  },
  scaled(
    "times_rows",
    "forgets to divide by the number of rows",
    ({ inputs }) => inputs.mask?.shape[0] ?? 0,
  ),
  scaled(
    "divided_twice_by_rows",
    "divides by the number of rows once more",
    (vectorCase) => 1 / sizes(vectorCase).B,
  ),
  scaled(
    "divided_twice_by_tokens",
    "divides by the number of trained tokens once more",
    (vectorCase) => 1 / Math.max(tokens(vectorCase), 1),
  ),
  scaled(
    "divided_by_columns",
    "divides by the columns of the tensor once more",
    (vectorCase) => 1 / sizes(vectorCase).T,
  ),
  scaled("halved", "is half as large", () => 0.5),
  multiplied,
  nanWhereEmpty,
  nanInEmptyRow,
];

/** The family. */
export const AGGREGATION: Family = {
  name: "aggregation",
  sentence: "from one term a token to one loss",
  inputs: {
    term: "term of every token [B, T]",
    mask: "1 where the loss trains on the token, else 0 [B, T]",
  },
  config: { maxLength: "longest answer that the sampler allows, in tokens; not T" },
  outputs: {
    loss: "the loss, a scalar",
    dterm: "gradient of the loss for each term [B, T]",
  },
  tolerance: {
    relative: 1e-5,
    absolute: 2e-7,
    reason: "sums of at most 48 float32 terms: 48 roundings of 6e-8, and three times that",
  },
  cases: AGGREGATION_CASES,
  dialects: AGGREGATION_DIALECTS,
  mistakes: AGGREGATION_MISTAKES,
};
