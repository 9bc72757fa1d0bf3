/** Rules about metrics that cannot be what their names say. */
import type { CanonicalMetric, Quantity } from "../../producers/definition.ts";
import type { Finding } from "../finding.ts";
import { type Curve, middle, say, valuesAt } from "./curve.ts";
import { about, type Context, type Rule } from "./rule.ts";
import { flatnessOf } from "./signal.ts";

/** Rows that must contradict: one alone can be a slip of the writer. */
const LEAST_ROWS = 3;

function contradiction(
  curve: Curve,
  { index, bound, boundFrom, sentence, next }: {
    readonly index: number;
    readonly bound: number;
    readonly boundFrom: string;
    readonly sentence: string;
    readonly next: string;
  },
): Finding {
  return {
    id: "metrics_contradict",
    class: "suspect",
    ...about(curve),
    step: curve.steps[index],
    value: curve.values[index],
    bound,
    boundFrom,
    sentence,
    alternatives: ["in this version the key means something other than its name says"],
    next,
  };
}

/** Indices of values that fulfil a condition, where they are enough. */
function rowsWhere(
  { values }: Curve,
  condition: (value: number, index: number) => boolean,
): number[] {
  const rows: number[] = [];
  values.forEach((value, i) => {
    if (condition(value, i)) rows.push(i);
  });
  return rows.length >= LEAST_ROWS ? rows : [];
}

const SHARES: readonly CanonicalMetric[] = [
  "flat_groups",
  "all_solved",
  "none_solved",
  "truncated",
  "clip_fraction",
  "errors",
  "masked_by_correction",
];

function impossibleShares(context: Context): readonly Finding[] {
  return SHARES.flatMap((metric) => context.curves(metric)).flatMap((curve) => {
    if (curve.series.definition.unit !== "share") return [];
    const [index] = rowsWhere(curve, (value) => value > 1.001 || value < -0.001);
    if (index === undefined) return [];
    return [contradiction(curve, {
      index,
      bound: 1,
      boundFrom: "a share lies between 0 and 1",
      sentence: `${curve.key} is ${say(curve.values[index])} at step ${
        say(curve.steps[index])
      }, but a share lies between 0 and 1: it counts or sums something, and is not used here.`,
      next: "Read it as a count or a percentage.",
    })];
  });
}

/** The largest entropy of a token is the logarithm of the size of the vocabulary; no model has a million tokens. */
const LARGEST_ENTROPY = Math.log(1e6);

const NEVER_NEGATIVE: readonly Quantity[] = [
  "k2",
  "k3",
  "half_square",
  "full",
  "abs_log_prob",
  "abs_probability",
];

function impossibleSizes(context: Context): readonly Finding[] {
  const found: Finding[] = [];
  for (const metric of ["kl_reference", "entropy", "gap", "grad_norm"] as const) {
    for (const curve of context.curves(metric)) {
      const { definition } = curve.series;
      const mustBePositive = metric === "grad_norm" ||
        (!definition.signed && NEVER_NEGATIVE.includes(definition.quantity));
      const size = Math.max(middle(curve.values.map(Math.abs)), 1e-12);
      const [index] = mustBePositive
        ? rowsWhere(curve, (value) => value < -0.01 * size - 1e-6)
        : [];
      if (index !== undefined) {
        found.push(contradiction(curve, {
          index,
          bound: 0,
          boundFrom: "by definition it cannot be negative",
          sentence: `${curve.key} is ${say(curve.values[index])} at step ${
            say(curve.steps[index])
          }: it cannot be negative, so it is not what its name says.`,
          next: "Look up how it is computed before you rely on it.",
        }));
      }
      const [wide] = metric === "entropy" && definition.quantity === "full"
        ? rowsWhere(curve, (value) => value > LARGEST_ENTROPY)
        : [];
      if (wide !== undefined) {
        found.push(contradiction(curve, {
          index: wide,
          bound: LARGEST_ENTROPY,
          boundFrom: "the logarithm of a million tokens",
          sentence: `${curve.key} is ${say(curve.values[wide])} at step ${
            say(curve.steps[wide])
          }, more than a token of any vocabulary can have: it is a sum over tokens or micro-batches, not a mean.`,
          next: "Divide it by what it is summed over; the training itself need not be wrong.",
        }));
      }
    }
  }
  return found;
}

function meanAboveMax(_context: Context, length: Curve, longest: Curve): readonly Finding[] {
  if (length.series.part !== longest.series.part) return [];
  const maxima = valuesAt(longest, length);
  const [index] = rowsWhere(
    length,
    (value, i) => value > 1.01 * maxima[i],
  );
  if (index === undefined) return [];
  const max = maxima[index];
  return [contradiction(length, {
    index,
    bound: max,
    boundFrom: `${longest.key} of the same row`,
    sentence: `${length.key} is ${say(length.values[index])} at step ${
      say(length.steps[index])
    }, and ${longest.key} only ${
      say(max)
    }: a mean above the maximum, so the two do not measure the same answers.`,
    next: "Do not compare the two; the training itself need not be wrong.",
  })];
}

/** A spread of rewards that is more than rounding. */
const CLEAR_SPREAD = 1e-2;

function flatButSpread(context: Context, spread: Curve): readonly Finding[] {
  const flatness = flatnessOf(context);
  if (!flatness || flatness.by === "spread") return [];
  const flat = valuesAt({ ...flatness.curve, values: flatness.shares }, spread);
  const rows = rowsWhere(spread, (value, i) => {
    return flat[i] === 1 ? value > CLEAR_SPREAD : flat[i] === 0 && value === 0;
  });
  if (rows.length < 5) return [];
  const [index] = rows;
  const share = flat[index];
  return [contradiction(spread, {
    index,
    bound: 0,
    boundFrom: "a group of equal rewards has a spread of 0, and no other group has",
    sentence: `${flatness.curve.key} is ${say(share)} at step ${
      say(spread.steps[index])
    } while ${spread.key} is ${
      say(spread.values[index])
    } (${rows.length} such rows): they cannot both be about the same groups.`,
    next: "Check which rewards each of the two is taken from, and over which group.",
  })];
}

/** Two keys of one quantity may differ by when and over what they are taken; beyond this factor they differ in what they are. */
const SAME_QUANTITY = 1.5;

function scaledTwins(context: Context): readonly Finding[] {
  return (["entropy", "kl_reference"] as const).flatMap((metric): Finding[] => {
    const [first, ...others] = context.curves(metric).filter(({ series: { definition } }) =>
      definition.quantity !== "chosen_at_runtime" && definition.quantity !== "k1_sum"
    );
    if (!first) return [];
    return others.filter(({ series: { definition } }) =>
      definition.quantity === first.series.definition.quantity
    ).flatMap((other): Finding[] => {
      const values = valuesAt(first, other);
      const ratios = Array.from(
        other.values,
        (value, i) => value / values[i],
      )
        .filter((ratio) => Number.isFinite(ratio) && ratio > 0);
      if (ratios.length < 5) return [];
      const ratio = middle(ratios);
      const scatter = middle(ratios.map((one) => Math.abs(one / ratio - 1)));
      if (scatter > 0.1 || (ratio < SAME_QUANTITY && ratio > 1 / SAME_QUANTITY)) return [];
      const factor = ratio > 1 ? ratio : 1 / ratio;
      return [{
        id: "metrics_contradict",
        class: "note",
        ...about(other),
        step: other.steps[0],
        value: other.values[0],
        bound: first.values[0],
        boundFrom: `${first.key} of the same row`,
        sentence: `${other.key} is steadily ${say(factor)} times as ${
          ratio > 1 ? "large" : "small"
        } as ${first.key}, which measures the same thing: one of them is scaled in logging (by micro-batches or ranks), and the training need not be wrong.`,
        next: "Compare the factor with the number of micro-batches of a step.",
      }];
    });
  });
}

/** In the order in which they are tried. */
export const CONTRADICTION_RULES: readonly Rule[] = [
  { ids: ["metrics_contradict"], needs: [], judge: impossibleShares },
  { ids: ["metrics_contradict"], needs: [], judge: impossibleSizes },
  {
    ids: ["metrics_contradict"],
    needs: [{ metric: "length" }, { metric: "length_max" }],
    judge: meanAboveMax,
  },
  {
    ids: ["metrics_contradict"],
    needs: [{ metric: "reward_std", quantity: ["group_std", "std_used_for_scaling"] }],
    judge: flatButSpread,
  },
  { ids: ["metrics_contradict"], needs: [], judge: scaledTwins },
];
