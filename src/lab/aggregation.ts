/** Experiment `aggregation`: how a loss adds up its tokens decides what each episode weighs. */
import { mean, median } from "../core/statistics.ts";
import {
  AGGREGATION_MODES,
  type AggregationMode,
  aggregationWeights,
} from "../equations/aggregate.ts";
import type { TrainBatch } from "../rl/train_batch.ts";
import { probeEpisodes } from "./agents.ts";
import type { Experiment, LabCheck, ResultFigure } from "./experiment.ts";

/** Policy tokens of the three episodes of the weight table, and the divisor of `constant`: episodes × longest. */
const LENGTHS = [4, 8, 24];
const NORM_CONST = 72;

/** As the tutorial prints it: weights of a token and of a whole episode. */
const PRINTED_WEIGHTS: Readonly<Record<AggregationMode, readonly string[]>> = {
  token_mean: ["0.0278", "0.0278", "0.0278", "0.111", "0.222", "0.667"],
  seq_mean_token_sum: ["0.3333", "0.3333", "0.3333", "1.333", "2.667", "8.000"],
  seq_mean_token_mean: ["0.0833", "0.0417", "0.0139", "0.333", "0.333", "0.333"],
  constant: ["0.0139", "0.0139", "0.0139", "0.056", "0.111", "0.333"],
};

const PUSHED_MODES = ["token_mean", "seq_mean_token_sum", "seq_mean_token_mean"] as const;

const TUTORIAL = {
  weights: PRINTED_WEIGHTS,
  lengths: { success: 9.4, shortFailure: 6.4, longFailure: 19.6 },
  pushes: {
    token_mean: { up: 0.132, down: 0.157, longToShort: 1 },
    seq_mean_token_sum: { up: 1.435, down: 1.712, longToShort: 1 },
    seq_mean_token_mean: { up: 0.152, down: 0.152, longToShort: 0.33 },
  },
} as const;

/** The weights of a mode for the three episodes, in the tutorial's digits. */
export function printedWeights(mode: AggregationMode): string[] {
  const columnCount = Math.max(...LENGTHS);
  const mask_BT = LENGTHS.flatMap((length) =>
    Array.from({ length: columnCount }, (_, t) => Number(t < length))
  );
  const weight_BT = aggregationWeights(mask_BT, {
    mode,
    episodeCount: LENGTHS.length,
    columnCount,
    normConst: NORM_CONST,
  });
  const token_B = LENGTHS.map((_, b) => weight_BT[b * columnCount]);
  return [
    ...token_B.map((weight) => weight.toFixed(4)),
    ...LENGTHS.map((length, b) => (length * token_B[b]).toFixed(3)),
  ];
}

/** Policy tokens of every episode. */
function policyLengths({ policyMask_BC, packed: { columnCount } }: TrainBatch): number[] {
  const length_B: number[] = [];
  policyMask_BC.forEach((mask, i) => {
    const b = Math.floor(i / columnCount);
    length_B[b] = (length_B[b] ?? 0) + mask;
  });
  return length_B;
}

/** Successes, the failures up to the median length of failures, and the longer ones. */
function outcomeGroups(rewards_B: readonly number[], length_B: readonly number[]) {
  const episodes = rewards_B.map((_, b) => b);
  const failures = episodes.filter((b) => rewards_B[b] === 0);
  const middle = median(failures.map((b) => length_B[b]));
  return {
    success: episodes.filter((b) => rewards_B[b] > 0),
    shortFailure: failures.filter((b) => length_B[b] <= middle),
    longFailure: failures.filter((b) => length_B[b] > middle),
  };
}

/** How hard a mode pushes successes up and failures down, with the advantage R − mean(R). */
export function measurePushes(batch: TrainBatch, mode: AggregationMode) {
  const { rewards_B, policyMask_BC, packed: { episodeCount, columnCount } } = batch;
  const length_B = policyLengths(batch);
  const groups = outcomeGroups(rewards_B, length_B);
  const weight_BC = aggregationWeights(policyMask_BC, { mode, episodeCount, columnCount });
  const meanReward = mean(rewards_B);
  const push_B = rewards_B.map((reward, b) =>
    (reward - meanReward) *
    weight_BC.subarray(b * columnCount, (b + 1) * columnCount).reduce((sum, w) => sum + w, 0)
  );
  const total = (episodes: readonly number[]) => episodes.reduce((sum, b) => sum + push_B[b], 0);
  const perToken = (episodes: readonly number[]) =>
    mean(episodes.map((b) => push_B[b] / length_B[b]));
  return {
    up: total(groups.success),
    down: -total(groups.shortFailure) - total(groups.longFailure),
    longToShort: perToken(groups.longFailure) / perToken(groups.shortFailure),
  };
}

/** Figure 6.2: what an episode weighs by its own length, and what a token weighs as the other episodes get longer. */
function figures(batch: TrainBatch): ResultFigure[] {
  const { policyMask_BC, packed: { episodeCount, columnCount } } = batch;
  const length_B = policyLengths(batch);
  const distinct = [...new Set(length_B)].sort((a, b) => a - b);
  const share = (mode: AggregationMode) => {
    const weight_BC = aggregationWeights(policyMask_BC, { mode, episodeCount, columnCount });
    const weight_B = length_B.map((_, b) =>
      weight_BC.subarray(b * columnCount, (b + 1) * columnCount).reduce((sum, w) => sum + w, 0)
    );
    const sum = weight_B.reduce((a, b) => a + b, 0);
    return distinct.map((length) => [length, weight_B[length_B.indexOf(length)] / sum] as const);
  };
  const others = Array.from({ length: 31 }, (_, i) => 10 + i);
  // One episode of 10 tokens among 64; the others have `length` tokens each.
  const relative = (mode: AggregationMode) =>
    others.map((length) => [length, mode === "token_mean" ? 640 / (10 + 63 * length) : 1] as const);
  return [{
    title: "Share of the batch's weight that an episode carries",
    xLabel: "policy tokens of the episode",
    yLabel: "share of the total weight",
    series: [
      {
        name: "the three modes proportional to length",
        style: "line",
        points: share("token_mean"),
      },
      { name: "seq_mean_token_mean", style: "line", points: share("seq_mean_token_mean") },
    ],
  }, {
    title: "Weight of a token of a 10-token episode as the other 63 get longer",
    xLabel: "policy tokens of each other episode",
    yLabel: "weight, relative to 10 tokens everywhere",
    series: [
      { name: "token_mean", style: "line", points: relative("token_mean") },
      { name: "the other three modes", style: "line", points: relative("constant") },
    ],
  }];
}

function checksOf(
  printed: readonly (readonly string[])[],
  pushes: readonly ReturnType<typeof measurePushes>[],
): LabCheck[] {
  const differing = AGGREGATION_MODES.filter((mode, i) =>
    printed[i].join() !== PRINTED_WEIGHTS[mode].join()
  );
  const [tokenMean, , balanced] = pushes;
  const imbalance = Math.abs(balanced.up - balanced.down);
  return [
    {
      requirement: "the weight table, digit by digit",
      value: differing.length === 0 ? "equal" : `differs: ${differing}`,
      holds: differing.length === 0,
    },
    {
      requirement: "seq_mean_token_mean: pushes balance",
      value: imbalance,
      holds: imbalance <= 1e-12, // Rounding of some hundred float64 sums below 1.
    },
    {
      requirement: "seq_mean_token_mean: long failures pushed less",
      value: balanced.longToShort,
      holds: balanced.longToShort < 1,
    },
    {
      requirement: "token_mean: every failing token pushed equally",
      value: tokenMean.longToShort,
      holds: Math.abs(tokenMean.longToShort - 1) <= 1e-12,
    },
  ];
}

/** One half of the weight table, which begins at a printed column. */
function weightRows(printed: readonly (readonly string[])[], begin: number) {
  const half = (weights: readonly string[]) => weights.slice(begin, begin + LENGTHS.length);
  return {
    columns: ["mode", "source", ...LENGTHS.map(String)],
    rows: AGGREGATION_MODES.flatMap((mode, i) => [
      [mode, "tutorial", ...half(PRINTED_WEIGHTS[mode])],
      ["", "ours", ...half(printed[i])],
    ]),
  };
}

/** What each episode weighs in the loss under each aggregation mode. */
export const AGGREGATION: Experiment = {
  name: "aggregation",
  title: "Loss aggregation decides what an episode weighs (Figure 6.2)",
  shows:
    "Three modes weigh an episode by its length. seq_mean_token_mean weighs all alike, so a token of a long " +
    "failure is pushed down less than one of a short failure: a reason to grow long.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 1,
  run: async (context) => {
    const { batch } = await probeEpisodes(context);
    const printed = AGGREGATION_MODES.map(printedWeights);
    const pushes = PUSHED_MODES.map((mode) => measurePushes(batch, mode));
    const length_B = policyLengths(batch);
    const groups = outcomeGroups(batch.rewards_B, length_B);
    const lengthOf = (episodes: readonly number[]) => mean(episodes.map((b) => length_B[b]));
    const keys = ["up", "down", "longToShort"] as const;
    return {
      tables: [{
        title: "weight of a token in an episode of 4, 8 and 24 policy tokens",
        ...weightRows(printed, 0),
      }, {
        title: "weight of the whole episode",
        ...weightRows(printed, LENGTHS.length),
      }, {
        title: "policy tokens of the base agent's episodes",
        columns: ["episodes", "tutorial", "ours"],
        rows: [
          ["successes", TUTORIAL.lengths.success, lengthOf(groups.success)],
          ["short failures", TUTORIAL.lengths.shortFailure, lengthOf(groups.shortFailure)],
          ["long failures", TUTORIAL.lengths.longFailure, lengthOf(groups.longFailure)],
        ],
      }, {
        title: "pushes; a long failure's token against a short one's",
        columns: ["mode", "source", "up", "down", "long / short"],
        rows: PUSHED_MODES.flatMap((mode, i) => [
          [mode, "tutorial", ...keys.map((key) => TUTORIAL.pushes[mode][key])],
          ["", "ours", ...keys.map((key) => pushes[i][key])],
        ]),
      }],
      figures: figures(batch),
      checks: checksOf(printed, pushes),
      data: { pushes: Object.fromEntries(PUSHED_MODES.map((mode, i) => [mode, pushes[i]])) },
    };
  },
};
