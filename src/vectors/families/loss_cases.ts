/** Cases of the family `loss`: batches of both signs, with and without KL, padded, permuted, with NaN outside the mask. */
import { lattice, type VectorCase } from "../family.ts";
import type { Values } from "../values.ts";
import { maskedAs, maskOf, padded, reordered } from "./aggregation_cases.ts";
import { shiftedLogps } from "./grid.ts";
import { type BatchCase, batchCase, someRatios } from "./surrogate_cases.ts";

/** A batch with a reference. */
function lossCase(
  id: string,
  about: string,
  rest: BatchCase & {
    readonly klCoef: number;
    readonly difference: readonly number[];
    readonly maxLength?: number;
  },
): VectorCase {
  const { klCoef, difference, maxLength = 12, ...batch } = rest;
  const { inputs, config, ...head } = batchCase(id, about, batch);
  const { logp, mask, ...others } = inputs;
  if (logp === undefined || mask === undefined) throw new RangeError(`${id} has no log-probs`);
  return {
    ...head,
    inputs: { logp, ...others, refLogp: shiftedLogps(logp, difference), mask },
    config: { ...config, klCoef, maxLength },
  };
}

/** A case with each input changed. */
function changed(
  vectorCase: VectorCase,
  head: { readonly id: string; readonly about: string; readonly isEdge?: true },
  change: (values: Values, name: string) => Values,
): VectorCase {
  return {
    ...vectorCase,
    ...head,
    sameAs: vectorCase.id,
    inputs: Object.fromEntries(
      Object.entries(vectorCase.inputs).map(([name, values]) => [name, change(values, name)]),
    ),
  };
}

const HOLES = maskOf("0110111", "1001100", "0111110");
const RAGGED = maskOf("11111100", "11000000", "11110000", "10000000");

const holes = lossCase("holes", "tool output in the middle of answers, with KL", {
  mask: HOLES,
  seed: 71,
  logRatio: someRatios(21, 72),
  advantage: [1.25, -0.75, -1.5],
  difference: lattice(21, { seed: 73, low: -0.75, high: 0.75 }),
  klCoef: 0.5,
});

const ragged = lossCase("ragged", "rows of 6, 2, 4 and 1 token, with KL", {
  mask: RAGGED,
  seed: 74,
  logRatio: someRatios(32, 75),
  advantage: [0.5, -1, 1.5, -0.25],
  difference: lattice(32, { seed: 76, low: -1, high: 1 }),
  klCoef: 0.25,
});

/** The cases. */
export const LOSS_CASES: readonly VectorCase[] = [
  ragged,
  holes,
  lossCase("no_kl", "ratios from 0.1 to 12, no KL", {
    mask: maskOf("111111", "111111"),
    seed: 77,
    logRatio: [-2.25, -1, -0.5, 0.5, 1, 2.5, 2.25, 1.25, 0.75, -0.75, -1.5, -2],
    advantage: [0.75, -1.25],
    difference: lattice(12, { seed: 78, low: -1, high: 1 }),
    klCoef: 0,
  }),
  lossCase("on_policy", "the first update on a batch: every ratio is 1", {
    mask: RAGGED,
    seed: 79,
    logRatio: Array.from({ length: 32 }, () => 0),
    advantage: [1, -1, 2, -0.5],
    difference: lattice(32, { seed: 80, low: -0.5, high: 0.5 }),
    klCoef: 0.125,
  }),
  lossCase("far_reference", "k3 beyond a clamp of 10", {
    mask: maskOf("1110", "1100"),
    seed: 81,
    logRatio: someRatios(8, 82),
    advantage: [1, -1],
    difference: [-3, 0.5, -0.25, 1, 0.25, -3.5, 1, 1],
    klCoef: 0.125,
  }),
  lossCase("empty_row", "a row without a trained token", {
    mask: maskOf("11100", "00000", "11111", "01000"),
    seed: 83,
    logRatio: someRatios(20, 84),
    advantage: [1, -2, -0.5, 1.5],
    difference: lattice(20, { seed: 85, low: -0.75, high: 0.75 }),
    klCoef: 0.5,
    maxLength: 7,
  }),
  changed(
    ragged,
    { id: "permuted_rows", about: "ragged with its rows in another order" },
    (values) => reordered(values, [2, 0, 3, 1]),
  ),
  changed(
    holes,
    { id: "other_values_masked", about: "holes with other finite values outside the mask" },
    (values, name) => /logp/i.test(name) ? maskedAs(values, HOLES, -5.5) : values,
  ),
  changed(
    holes,
    { id: "padded", about: "holes with two columns of padding on the left and three on the right" },
    (values, name) =>
      padded(values, {
        left: 2,
        right: 3,
        // Advantages stand for whole rows.
        fill: (index) => name === "mask" ? 0 : name === "advantage" ? 0.5 : -1 - index % 4 / 4,
      }),
  ),
  changed(
    holes,
    { id: "nan_masked", about: "holes with NaN in log-probs outside the mask", isEdge: true },
    (values, name) => /logp/i.test(name) ? maskedAs(values, HOLES, NaN) : values,
  ),
];
