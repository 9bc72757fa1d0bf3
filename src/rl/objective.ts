/** From grids to what the learner trains on: rows of (advantage, weight, mean weight, old log-prob), and the loss over them. */
import { at } from "../core/element.ts";
import type { PolicyLossTokens } from "../equations/policy_loss.ts";
import { requireSizes } from "../core/shape.ts";
import { gridToRows, type PackedBatch } from "../rollout/batch.ts";

/** What the loss reads of a batch, on its [B, C] grid; column t belongs to the token at position t + 1. */
export type ObjectiveGrids =
  & {
    /** Weight of each token's surrogate term: `aggregationWeights` in the mode of the loss. */
    readonly weight_BC: ArrayLike<number>;
    /** Weight of each token's KL and entropy terms: `aggregationWeights` in mode `token_mean`. */
    readonly meanWeight_BC: ArrayLike<number>;
    /** Log-probs before the update, in nats; left out where the surrogate takes no ratio. */
    readonly oldLogp_BC?: ArrayLike<number> | undefined;
  }
  & ({
    /** One advantage for all tokens of an episode. */
    readonly advantage_B: ArrayLike<number>;
  } | {
    /** An advantage for each token, for instance its reward-to-go. */
    readonly advantage_BC: ArrayLike<number>;
  });

function advantageRows(batch: PackedBatch, grids: ObjectiveGrids): Float32Array {
  if ("advantage_BC" in grids) return gridToRows(batch, grids.advantage_BC);
  const advantage_N = new Float32Array(batch.rowCount);
  batch.length_B.forEach((length, i) => {
    const first = at(batch.firstRow_B, i);
    advantage_N.fill(at(grids.advantage_B, at(batch.gridRow_B, i)), first, first + length);
  });
  return advantage_N;
}

/**
 * The objective of every packed row, as `Learner.load` takes it.
 *
 * @param batch The packed episodes, all of the grid's or some.
 * @param grids Advantages, weights and old log-probs on the grid.
 * @returns objective_N4: (advantage, weight, mean weight, old log-prob) per row, f32; 0 in rows outside the grid.
 * @throws {RangeError} When a grid does not fit the batch.
 */
export function objectiveRows(
  batch: PackedBatch,
  grids: ObjectiveGrids,
): Float32Array<ArrayBuffer> {
  const { gridRowCount: B, columnCount: C, rowCount } = batch;
  const { weight_BC, meanWeight_BC, oldLogp_BC = new Float32Array(B * C) } = grids;
  requireSizes("objectiveRows", {
    weight_BC: [weight_BC, { B, C }],
    meanWeight_BC: [meanWeight_BC, { B, C }],
    oldLogp_BC: [oldLogp_BC, { B, C }],
    ...("advantage_BC" in grids
      ? { advantage_BC: [grids.advantage_BC, { B, C }] as const }
      : { advantage_B: [grids.advantage_B, { B }] as const }),
  });
  const columns = [
    advantageRows(batch, grids),
    gridToRows(batch, weight_BC),
    gridToRows(batch, meanWeight_BC),
    gridToRows(batch, oldLogp_BC),
  ];
  const objective_N4 = new Float32Array(4 * rowCount);
  columns.forEach((column_N, i) =>
    column_N.forEach((value, row) => objective_N4[4 * row + i] = value)
  );
  return objective_N4;
}

/**
 * What `policyLoss` and `policyStatistics` need of rows that came back from the learner.
 *
 * @param rows.result_N4 (log-prob, entropy, …) per row.
 * @param rows.objective_N4 What was loaded with the batch.
 * @param rows.refLogp_N Log-probs of the reference; left out where the loss has no KL term.
 * @returns Per-token arrays of length N.
 */
export function lossTokens(
  rows: {
    readonly result_N4: Float32Array;
    readonly objective_N4: Float32Array;
    readonly refLogp_N?: ArrayLike<number> | undefined;
  },
): PolicyLossTokens {
  const { result_N4, objective_N4 } = rows;
  const rowCount = result_N4.length / 4;
  const column = (table_N4: Float32Array, i: number) =>
    Float32Array.from({ length: rowCount }, (_, row) => at(table_N4, 4 * row + i));
  return {
    logp_N: column(result_N4, 0),
    entropy_N: column(result_N4, 1),
    advantage_N: column(objective_N4, 0),
    weight_N: column(objective_N4, 1),
    meanWeight_N: column(objective_N4, 2),
    oldLogp_N: column(objective_N4, 3),
    refLogp_N: rows.refLogp_N ?? new Float32Array(rowCount),
  };
}
