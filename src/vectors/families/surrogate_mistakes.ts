/** Common mistakes with ratios and clips. */
import {
  input,
  inputMistake,
  mapOutputs,
  type Mistake,
  outputMistake,
  setting,
  type VectorCase,
  withConfig,
  withInput,
  withSwapped,
} from "../family.ts";
import { mapValues, matrix } from "../values.ts";
import { gridRows, withMaskRows } from "./grid.ts";

/** A clipped term whose minimum, branches or gradient went wrong. */
function clipping(
  name: string,
  sentence: string,
  term: (token: {
    readonly ratio: number;
    readonly clipped: number;
    readonly advantage: number;
    readonly isClipped: boolean;
  }) => { readonly value: number; readonly derivative: number },
): Mistake {
  return {
    name,
    sentence,
    compute: (vectorCase, _right, dialect) => {
      if (!dialect.startsWith("clip")) return undefined;
      const low = 1 - setting(vectorCase, "clipLow");
      const high = 1 + setting(vectorCase, "clipHigh");
      const limit = dialect.endsWith("20") ? 20 : Infinity;
      const names = ["logp", "oldLogp", "advantage", "mask"] as const;
      const terms = gridRows(vectorCase, names).map(({ logp, oldLogp, advantage, mask }) =>
        mask.map((isTrained, t) => {
          if (isTrained === 0) return { value: 0, derivative: 0 };
          const logRatio = (logp[t] ?? NaN) - (oldLogp[t] ?? NaN);
          const ratio = Math.exp(Math.min(Math.max(logRatio, -limit), limit));
          const clipped = Math.min(Math.max(ratio, low), high);
          const isClipped = clipped !== ratio;
          const found = term({ ratio, clipped, advantage: advantage[t] ?? NaN, isClipped });
          return Math.abs(logRatio) > limit ? { ...found, derivative: 0 } : found;
        })
      );
      return {
        term: matrix(terms.map((row) => row.map(({ value }) => value))),
        dlogp: matrix(terms.map((row) => row.map(({ derivative }) => derivative))),
      };
    },
  };
}

const onGradient = (name: string, sentence: string, change: (value: number) => number): Mistake =>
  outputMistake(
    name,
    sentence,
    (outputs) => mapOutputs(outputs, (value, key) => key === "dlogp" ? change(value) : value),
  );

const clipChanged = (
  name: string,
  sentence: string,
  change: (low: number, high: number) => Readonly<Record<string, number>>,
): Mistake =>
  inputMistake(
    name,
    sentence,
    (vectorCase) =>
      withConfig(
        vectorCase,
        change(setting(vectorCase, "clipLow"), setting(vectorCase, "clipHigh")),
      ),
  );

const old = (
  name: string,
  sentence: string,
  change: (vectorCase: VectorCase) => VectorCase,
): Mistake => inputMistake(name, sentence, change);

/** The mistakes. */
export const SURROGATE_MISTAKES: readonly Mistake[] = [
  outputMistake(
    "negated",
    "has the wrong sign",
    (outputs) => mapOutputs(outputs, (value) => -value),
  ),
  clipping("max_for_min", "takes the optimistic branch: max where min was meant", (token) => {
    const { ratio, clipped, advantage } = token;
    return clipped * advantage > ratio * advantage
      ? { value: -clipped * advantage, derivative: 0 }
      : { value: -ratio * advantage, derivative: -ratio * advantage };
  }),
  clipping(
    "always_clipped",
    "clips the ratio and takes no minimum, so that a ratio on the wrong side has no gradient",
    ({ clipped, advantage, isClipped }) => ({
      value: -clipped * advantage,
      derivative: isClipped ? 0 : -clipped * advantage,
    }),
  ),
  clipping(
    "clipped_tokens_have_gradient",
    "lets the gradient pass through the clip",
    ({ ratio, clipped, advantage }) => ({
      value: -Math.min(ratio * advantage, clipped * advantage),
      derivative: -ratio * advantage,
    }),
  ),
  clipping(
    "absolute_advantage",
    "loses the sign of the advantage",
    ({ ratio, clipped, advantage }) => {
      const size = Math.abs(advantage);
      return ratio <= clipped
        ? { value: -ratio * size, derivative: -ratio * size }
        : { value: -clipped * size, derivative: 0 };
    },
  ),
  clipChanged("clip_sides_swapped", "has the two sides of the clip exchanged", (low, high) => ({
    clipLow: high,
    clipHigh: low,
  })),
  clipChanged("clip_low_for_both", "clips both sides by the lower distance", (low) => ({
    clipHigh: low,
  })),
  clipChanged("clip_high_for_both", "clips both sides by the upper distance", (_low, high) => ({
    clipLow: high,
  })),
  clipChanged("clip_lower_missing", "has no lower clip", () => ({ clipLow: 1 })),
  clipChanged("clip_upper_missing", "has no upper clip", () => ({ clipHigh: 1e30 })),
  {
    name: "ratio_inverted",
    sentence: "divides the old policy by the new one",
    compute: (vectorCase, right, dialect) => {
      if (dialect === "reinforce") return undefined;
      const outputs = right(withSwapped(vectorCase, "logp", "oldLogp"));
      return dialect.startsWith("cispo")
        ? undefined
        : mapOutputs(outputs, (value, key) => key === "dlogp" ? -value : value);
    },
  },
  old(
    "old_is_current",
    "takes the current log-probs as the old ones: every ratio is 1",
    (vectorCase) => withInput(vectorCase, "oldLogp", () => input(vectorCase, "logp")),
  ),
  old(
    "advantage_negated",
    "has the sign of the advantage wrong",
    (vectorCase) => withInput(vectorCase, "advantage", (values) => mapValues(values, (a) => -a)),
  ),
  old(
    "advantage_normalized",
    "normalises the advantages of the batch once more",
    (vectorCase) =>
      withInput(vectorCase, "advantage", (advantage) => {
        const { values } = advantage;
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) /
          values.length;
        return mapValues(advantage, (value) => (value - mean) / (Math.sqrt(variance) + 1e-8));
      }),
  ),
  old(
    "mask_one_late",
    "has its mask one column too far to the right",
    (vectorCase) => withMaskRows(vectorCase, (row) => row.map((_, t) => row[t - 1] ?? 0)),
  ),
  old(
    "mask_one_early",
    "has its mask one column too far to the left",
    (vectorCase) => withMaskRows(vectorCase, (row) => row.map((_, t) => row[t + 1] ?? 0)),
  ),
  old(
    "mask_ignored",
    "ignores the mask",
    (vectorCase) => withMaskRows(vectorCase, (row) => row.map(() => 1)),
  ),
  old(
    "old_one_late",
    "has the old log-probs one column too far to the right",
    (vectorCase) =>
      withInput(vectorCase, "oldLogp", ({ shape, values }) => {
        const T = shape[1] ?? 1;
        return {
          shape,
          values: values.map((value, i) => i % T === 0 ? value : values[i - 1] ?? 0),
        };
      }),
  ),
  {
    name: "sequence_sum",
    sentence: "sums the log-ratios of a sequence where their mean was meant",
    compute: (vectorCase, right, dialect) => {
      if (!dialect.startsWith("gspo")) return undefined;
      const names = ["logp", "oldLogp", "mask"] as const;
      const logp = input(vectorCase, "logp");
      const shifted = gridRows(vectorCase, names).map(({ logp, oldLogp, mask }) => {
        const count = mask.reduce((sum, value) => sum + value, 0);
        return logp.map((value, t) => value - count * (value - (oldLogp[t] ?? NaN)));
      });
      return right({
        ...vectorCase,
        inputs: { ...vectorCase.inputs, logp, oldLogp: matrix(shifted) },
      });
    },
  },
  {
    name: "sequence_mean_unmasked",
    sentence: "takes the mean log-ratio over all columns, those outside the mask included",
    compute: (vectorCase, right, dialect) => {
      if (!dialect.startsWith("gspo")) return undefined;
      const all = right(withMaskRows(vectorCase, (row) => row.map(() => 1)));
      const mask = input(vectorCase, "mask").values;
      const names = Object.entries(all).map(([name, values]) => [
        name,
        mapValues(values, (value, i) => mask[i] === 0 ? 0 : value),
      ]);
      return Object.fromEntries(names);
    },
  },
  {
    name: "weight_not_stopped",
    sentence: "lets the gradient pass through the weight, which was to be a constant",
    compute: (vectorCase, right, dialect) => {
      if (!dialect.startsWith("cispo")) return undefined;
      const { term, dlogp, ...rest } = right(vectorCase);
      if (term === undefined || dlogp === undefined) return undefined;
      const low = 1 - setting(vectorCase, "clipLow");
      const high = dialect === "cispo_cap"
        ? setting(vectorCase, "ratioCap")
        : 1 + setting(vectorCase, "clipHigh");
      const oldLogp = input(vectorCase, "oldLogp").values;
      const ratio = input(vectorCase, "logp").values.map((value, i) =>
        Math.exp(value - (oldLogp[i] ?? NaN))
      );
      const isFree = (value: number) => value < high && (dialect !== "cispo" || value > low);
      return {
        ...rest,
        term,
        // d(w A log π) = w A + log π · A · dw, and dw = w within the clip.
        dlogp: mapValues(
          dlogp,
          (value, i) => value + (isFree(ratio[i] ?? NaN) ? term.values[i] ?? 0 : 0),
        ),
      };
    },
  },
  {
    name: "dual_clip_for_both_signs",
    sentence: "applies the dual clip whatever the sign of the advantage",
    compute: (vectorCase, right, dialect) => {
      if (!dialect.startsWith("dual_clip")) return undefined;
      const advantage = input(vectorCase, "advantage").values;
      const mask = input(vectorCase, "mask").values;
      const c = setting(vectorCase, "dualClip");
      const { term, dlogp } = right(vectorCase);
      if (term === undefined || dlogp === undefined) return undefined;
      const isHeld = (i: number) => {
        const most = -c * (advantage[i] ?? 0);
        return mask[i] !== 0 && (term.values[i] ?? 0) > most;
      };
      return {
        term: mapValues(term, (value, i) => isHeld(i) ? -c * (advantage[i] ?? 0) : value),
        dlogp: mapValues(dlogp, (value, i) => isHeld(i) ? 0 : value),
      };
    },
  },
  {
    name: "overflow",
    sentence:
      "overflows in float32, where the ratio is infinite beyond a log-ratio of 88.7 and a " +
      "gradient that was 0 is 0 · ∞, NaN",
    compute: (vectorCase, right, dialect) => {
      if (/reinforce|clamped|cispo|gspo/.test(dialect)) return undefined;
      const oldLogp = input(vectorCase, "oldLogp").values;
      const logp = input(vectorCase, "logp").values;
      const isOver = (i: number) => (logp[i] ?? NaN) - (oldLogp[i] ?? NaN) > 88.7;
      return Object.fromEntries(
        Object.entries(right(vectorCase)).map(([name, values]) => [
          name,
          mapValues(values, (value, i) => {
            if (!isOver(i)) return value;
            if (name === "dlogp" && value === 0) return NaN;
            return Math.abs(value) > 3.4e38 ? Math.sign(value) * Infinity : value;
          }),
        ]),
      );
    },
  },
  onGradient("detached", "is detached: the value is right and the gradient 0", () => 0),
  onGradient(
    "gradient_negated",
    "has the right value and the wrong sign in its gradient",
    (value) => -value,
  ),
  {
    name: "masked_by_product",
    sentence: "multiplies by the mask instead of selecting by it, so that NaN outside it spreads",
    compute: (vectorCase, right) => {
      const mask = input(vectorCase, "mask").values;
      const logp = input(vectorCase, "logp").values;
      return Object.fromEntries(
        Object.entries(right(vectorCase)).map(([name, values]) => [
          name,
          mapValues(values, (value, i) => mask[i] === 0 && Number.isNaN(logp[i]) ? NaN : value),
        ]),
      );
    },
  },
];
