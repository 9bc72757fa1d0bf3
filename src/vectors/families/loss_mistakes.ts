/** Common mistakes with whole losses. */
import {
  type Compute,
  input,
  inputMistake,
  mapOutputs,
  type Mistake,
  outputMistake,
  scaled,
  setting,
  type VectorCase,
  withConfig,
  withInput,
  withSwapped,
} from "../family.ts";
import { type Arrays, mapValues } from "../values.ts";
import { withMaskRows } from "./grid.ts";

/** The KL part of a loss: what it is with it, less what it is without. */
function klPart(vectorCase: VectorCase, right: Compute): Arrays {
  const whole = right(vectorCase);
  const policy = right(withConfig(vectorCase, { klCoef: 0 }));
  return combined(whole, policy, -1);
}

/** a + factor · b. */
function combined(a: Arrays, b: Arrays, factor: number): Arrays {
  return Object.fromEntries(
    Object.entries(a).map(([name, values]) => [
      name,
      mapValues(values, (value, i) => value + factor * (b[name]?.values[i] ?? NaN)),
    ]),
  );
}

/** A mistake in the KL part alone: it becomes what another case's KL part is, or a multiple of its own. */
function inKl(
  name: string,
  sentence: string,
  change: (part: Arrays, vectorCase: VectorCase, right: Compute) => Arrays,
): Mistake {
  return {
    name,
    sentence,
    compute: (vectorCase, right) => {
      const policy = right(withConfig(vectorCase, { klCoef: 0 }));
      return combined(policy, change(klPart(vectorCase, right), vectorCase, right), 1);
    },
  };
}

const klOf = (name: string, sentence: string, change: (vectorCase: VectorCase) => VectorCase) =>
  inKl(name, sentence, (_part, vectorCase, right) => klPart(change(vectorCase), right));

const unmasked = (vectorCase: VectorCase) => withMaskRows(vectorCase, (row) => row.map(() => 1));

const tokens = (vectorCase: VectorCase) =>
  input(vectorCase, "mask").values.reduce((sum, mask) => sum + mask, 0);

const onGradient = (name: string, sentence: string, change: (value: number) => number): Mistake =>
  outputMistake(
    name,
    sentence,
    (outputs) => mapOutputs(outputs, (value, key) => key === "dlogp" ? change(value) : value),
  );

const clip = (vectorCase: VectorCase, low: number, high: number) =>
  withConfig(vectorCase, { clipLow: low, clipHigh: high });

const low = (vectorCase: VectorCase) => setting(vectorCase, "clipLow");
const high = (vectorCase: VectorCase) => setting(vectorCase, "clipHigh");

/** The mistakes. */
export const LOSS_MISTAKES: readonly Mistake[] = [
  outputMistake(
    "negated",
    "has the wrong sign",
    (outputs) => mapOutputs(outputs, (value) => -value),
  ),
  inputMistake(
    "advantage_negated",
    "has the sign of the advantage wrong",
    (vectorCase) =>
      withInput(vectorCase, "advantage", (values) => mapValues(values, (value) => -value)),
  ),
  inputMistake("mask_ignored", "ignores the mask everywhere", unmasked),
  inputMistake(
    "mask_one_late",
    "has its mask one column too far to the right",
    (vectorCase) => withMaskRows(vectorCase, (row) => row.map((_, t) => row[t - 1] ?? 0)),
  ),
  inputMistake(
    "mask_one_early",
    "has its mask one column too far to the left",
    (vectorCase) => withMaskRows(vectorCase, (row) => row.map((_, t) => row[t + 1] ?? 0)),
  ),
  inputMistake(
    "old_is_current",
    "takes the current log-probs as the old ones: every ratio is 1",
    (vectorCase) => withInput(vectorCase, "oldLogp", () => input(vectorCase, "logp")),
  ),
  inputMistake(
    "old_and_reference_swapped",
    "has the old policy and the reference exchanged",
    (vectorCase) => withSwapped(vectorCase, "oldLogp", "refLogp"),
  ),
  inputMistake(
    "clip_sides_swapped",
    "has the two sides of the clip exchanged",
    (vectorCase) => clip(vectorCase, high(vectorCase), low(vectorCase)),
  ),
  inputMistake(
    "clip_low_for_both",
    "clips both sides by the lower distance",
    (vectorCase) => clip(vectorCase, low(vectorCase), low(vectorCase)),
  ),
  inputMistake(
    "clip_high_for_both",
    "clips both sides by the upper distance",
    (vectorCase) => clip(vectorCase, high(vectorCase), high(vectorCase)),
  ),
  inputMistake(
    "unclipped",
    "clips nothing",
    (vectorCase) => clip(vectorCase, 1, 1e30),
  ),
  scaled(
    "denominator_counts_masked",
    "divides by all tokens where those under the mask were meant",
    (vectorCase) => tokens(vectorCase) / input(vectorCase, "mask").values.length,
  ),
  scaled(
    "times_rows",
    "forgets to divide by the number of rows",
    (vectorCase) => input(vectorCase, "mask").shape[0] ?? 0,
  ),
  scaled(
    "divided_twice_by_rows",
    "divides by the number of rows once more",
    (vectorCase) => 1 / (input(vectorCase, "mask").shape[0] ?? 1),
  ),
  scaled(
    "divided_twice_by_tokens",
    "divides by the number of trained tokens once more",
    (one) => 1 / tokens(one),
  ),
  scaled("halved", "is half as large", () => 0.5),
  onGradient("detached", "is detached: the value is right and the gradient 0", () => 0),
  onGradient(
    "gradient_negated",
    "has the right value and the wrong sign in its gradient",
    (value) => -value,
  ),
  inKl("kl_missing", "leaves the KL term out", (part) => mapOutputs(part, () => 0)),
  inKl("kl_subtracted", "subtracts the KL term", (part) => mapOutputs(part, (value) => -value)),
  inKl(
    "kl_detached",
    "has no gradient of the KL term",
    (part) => mapOutputs(part, (value, key) => key === "dlogp" ? 0 : value),
  ),
  inKl(
    "kl_coefficient_squared",
    "multiplies by the coefficient of the KL term twice",
    (part, one) => mapOutputs(part, (value) => value * setting(one, "klCoef")),
  ),
  inKl("kl_coefficient_missing", "forgets the coefficient of the KL term", (part, one) => {
    const klCoef = setting(one, "klCoef");
    return mapOutputs(part, (value) => klCoef === 0 ? value : value / klCoef);
  }),
  klOf("kl_unmasked", "counts every token in the KL term", unmasked),
  klOf(
    "kl_to_old",
    "measures the KL term to the old policy where the reference was meant",
    (vectorCase) => withInput(vectorCase, "refLogp", () => input(vectorCase, "oldLogp")),
  ),
  inKl(
    "kl_swapped",
    "has policy and reference exchanged in the KL term",
    (_part, vectorCase, right) => {
      const swapped = klPart(withSwapped(vectorCase, "logp", "refLogp"), right);
      return mapOutputs(swapped, (value, key) => key === "dlogp" ? -value : value);
    },
  ),
  {
    name: "mask_by_product",
    sentence: "multiplies by the mask instead of selecting by it, so that NaN outside it spreads " +
      "to the loss",
    compute: (vectorCase, right) => {
      const isHarmed = input(vectorCase, "logp").values.some(Number.isNaN);
      const mask = input(vectorCase, "mask").values;
      if (!isHarmed) return right(vectorCase);
      const { loss, dlogp } = right(vectorCase);
      if (loss === undefined || dlogp === undefined) return undefined;
      return {
        loss: mapValues(loss, () => NaN),
        dlogp: mapValues(dlogp, (value, i) => mask[i] === 0 ? NaN : value),
      };
    },
  },
  {
    name: "nan_in_empty_row",
    sentence: "divides each row by its own tokens also where it has none: 0/0, and the loss is NaN",
    compute: (vectorCase, right, dialect) => {
      if (!dialect.includes("seq_mean_token_mean")) return undefined;
      const outputs = right(vectorCase);
      const { loss } = outputs;
      const { shape: [B = 0, T = 0], values } = input(vectorCase, "mask");
      const isEmpty = Array.from(
        { length: B },
        (_, b) => values.slice(b * T, (b + 1) * T).every((value) => value === 0),
      );
      if (loss === undefined || !isEmpty.includes(true)) return outputs;
      return { ...outputs, loss: mapValues(loss, () => NaN) };
    },
  },
];
