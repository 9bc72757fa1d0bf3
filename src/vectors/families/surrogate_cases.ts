/** Cases of the family `surrogate`: both signs of the advantage, at and beyond each edge of the clip, holes, long sequences. */
import { lattice, type VectorCase } from "../family.ts";
import type { Values } from "../values.ts";
import { maskedAs, maskOf } from "./aggregation_cases.ts";
import { logps, perRow, shiftedLogps } from "./grid.ts";

/** The clip of every case: sides that differ, so that exchanged ones show. */
export const CLIP = { clipLow: 0.2, clipHigh: 0.28, dualClip: 3, ratioCap: 2 };

/** What a case is made of. */
export interface BatchCase {
  readonly mask: Values;
  readonly seed: number;
  /** log π − log π_old of every token, row by row. */
  readonly logRatio: readonly number[];
  /** Advantage of each row. */
  readonly advantage: readonly number[];
  readonly isEdge?: true;
  readonly sameAs?: string;
}

/** A case of log-probs, advantages and a mask. */
export function batchCase(id: string, about: string, batch: BatchCase): VectorCase {
  const { mask, seed, logRatio, advantage, ...rest } = batch;
  const logp = logps(mask.shape, seed);
  return {
    id,
    about,
    inputs: {
      logp,
      oldLogp: shiftedLogps(logp, logRatio),
      advantage: perRow(advantage, mask.shape[1] ?? 0),
      mask,
    },
    config: CLIP,
    ...rest,
  };
}

/** Log-ratios of a batch: beyond both edges of the clip, and within. */
export const someRatios = (count: number, seed: number) =>
  lattice(count, { seed, low: -0.5, high: 0.5 });

/** Beside each edge of the clip and of the dual clip: float32 cannot stand on one. */
const EDGES = [0.8, 1.28, 3].flatMap((ratio) => [Math.log(ratio) - 2e-3, Math.log(ratio) + 2e-3]);

const HOLES = maskOf("0110111", "1001100", "0111110");
const RAGGED = maskOf("11111100", "11000000", "11110000", "10000000");
const EDGE_MASK = maskOf("111111", "111111");

const holes = batchCase("holes", "tool output in the middle of answers, both signs", {
  mask: HOLES,
  seed: 51,
  logRatio: someRatios(21, 52),
  advantage: [1.25, -0.75, -1.5],
});

const nanIn = (vectorCase: VectorCase, names: readonly string[]): VectorCase => ({
  ...vectorCase,
  inputs: Object.fromEntries(
    Object.entries(vectorCase.inputs).map(([name, values]) => [
      name,
      names.includes(name) ? maskedAs(values, HOLES, NaN) : values,
    ]),
  ),
});

/** The cases. */
export const SURROGATE_CASES: readonly VectorCase[] = [
  batchCase("on_policy", "equal policies: every ratio is 1", {
    mask: RAGGED,
    seed: 53,
    logRatio: Array.from({ length: 32 }, () => 0),
    advantage: [1, -1, 0.5, -2],
  }),
  batchCase("within", "ratios within the clip", {
    mask: RAGGED,
    seed: 54,
    logRatio: lattice(32, { seed: 55, low: -0.125, high: 0.125 }),
    advantage: [1, -1, 0.5, -2],
  }),
  batchCase("edges", "beside each edge of the clip and the dual clip, both signs", {
    mask: EDGE_MASK,
    seed: 56,
    logRatio: [...EDGES, ...EDGES],
    advantage: [1.5, -0.5],
  }),
  batchCase("beyond", "ratios from 0.1 to 12, both signs", {
    mask: EDGE_MASK,
    seed: 57,
    logRatio: [-2.25, -1, -0.5, 0.5, 1, 2.5, 2.25, 1.25, 0.75, -0.75, -1.5, -2],
    advantage: [0.75, -1.25],
  }),
  holes,
  batchCase("zero_advantage", "a row whose advantage is 0", {
    mask: EDGE_MASK,
    seed: 58,
    logRatio: someRatios(12, 59),
    advantage: [0, 1],
  }),
  batchCase(
    "sequence_clipped",
    "mean log-ratios beyond the clip while tokens are within, and back",
    {
      mask: maskOf("11111", "11111", "11100", "11110"),
      seed: 60,
      logRatio: [
        1.5,
        0,
        0.125,
        0,
        0.25,
        -1.25,
        0,
        0,
        -0.125,
        0,
        2,
        -2,
        0.125,
        0.5,
        0.5,
        -0.5,
        -0.75,
        -0.25,
        -0.5,
        1,
      ],
      advantage: [1, -1, 0.5, -0.75],
    },
  ),
  batchCase("empty_row", "a row without a trained token", {
    mask: maskOf("1101", "0000"),
    seed: 61,
    logRatio: someRatios(8, 62),
    advantage: [-1, 2],
  }),
  batchCase("log_ratio_25", "log-ratios of ±21 to 25, beyond a clamp of 20", {
    mask: maskOf("1", "1", "1", "1"),
    seed: 63,
    logRatio: [25, -25, 21, -22],
    advantage: [-1, -1, -0.5, -0.5],
  }),
  batchCase("sequence_log_ratio_11", "mean log-ratios of 11 to 12", {
    mask: maskOf("11", "11"),
    seed: 64,
    logRatio: [11, 12, 12, 11],
    advantage: [-1, -0.5],
  }),
  batchCase("overflow", "a log-ratio of 100, whose exponential is beyond float32", {
    mask: maskOf("11", "11"),
    seed: 65,
    logRatio: [100, 0.125, 100, -0.125],
    advantage: [-1, 1],
    isEdge: true,
  }),
  {
    ...nanIn(holes, ["logp", "oldLogp", "advantage"]),
    id: "nan_masked",
    about: "holes with NaN in every input outside the mask",
    isEdge: true,
    sameAs: "holes",
  },
];
