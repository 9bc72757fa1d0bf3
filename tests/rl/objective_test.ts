/** Tests of src/rl/objective.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { lossTokens, objectiveRows } from "../../src/rl/objective.ts";
import { forEachRow, packEpisodes, selectEpisodes } from "../../src/rollout/batch.ts";

/** Episodes of 2 and 3 tokens: the rows (0,0) (0,1) (1,0) (1,1) (1,2) on a grid of two columns. */
const BATCH = packEpisodes([[1, 2], [3, 4, 5]], { vocabSize: 6 });
const weight_BC = [0.1, 0.2, 0.3, 0.4];
const meanWeight_BC = [1, 2, 3, 4];
const oldLogp_BC = [-1, -2, -3, -4];

/** Column i of the rows. */
function column(objective_N4: Float32Array, i: number): number[] {
  return Array.from(objective_N4.filter((_, n) => n % 4 === i));
}

Deno.test("objectiveRows() puts grids on rows and repeats an episode's advantage", () => {
  const rows = objectiveRows(BATCH, {
    advantage_B: [7, -8],
    weight_BC,
    meanWeight_BC,
    oldLogp_BC,
  });
  assertEquals(column(rows, 0), [7, 7, -8, -8, -8]);
  // Row (1, 2) lies behind the grid; row (0, 1), whose target is a pad, on it: a shifted mask must reach it.
  assertEquals(column(rows, 1), [0.1, 0.2, 0.3, 0.4, 0].map(Math.fround));
  assertEquals(column(rows, 2), [1, 2, 3, 4, 0]);
  assertEquals(column(rows, 3), [-1, -2, -3, -4, 0]);
});

Deno.test("objectiveRows() takes an advantage per token, and no old log-probs where no ratio needs them", () => {
  const rows = objectiveRows(BATCH, {
    advantage_BC: [5, 6, 7, 8],
    weight_BC,
    meanWeight_BC,
  });
  assertEquals(column(rows, 0), [5, 6, 7, 8, 0]);
  assertEquals(column(rows, 3), [0, 0, 0, 0, 0]);
});

Deno.test("objectiveRows() of selected episodes reads their cells of the whole batch's grid", () => {
  const trajectories = [{ ids: [3, 4, 5] }, { ids: [1] }, { ids: [1, 2] }];
  const packed = packEpisodes(trajectories.map(({ ids }) => ids), { vocabSize: 6, padColumns: 1 });
  const selected = selectEpisodes({ packed, trajectories }, { episodes: [2, 0], vocabSize: 6 });
  const cells: number[][] = [];
  forEachRow(selected, (row, cell) => cells.push([row, cell]));
  assertEquals(cells, [[0, 6], [1, 7], [2, 0], [3, 1], [4, 2]]);
  const grid_BC = Array.from({ length: 9 }, (_, cell) => cell);
  const rows = objectiveRows(selected, {
    advantage_B: [7, 8, 9],
    weight_BC: grid_BC,
    meanWeight_BC: grid_BC,
  });
  assertEquals(column(rows, 0), [9, 9, 7, 7, 7]);
  assertEquals(column(rows, 1), [6, 7, 0, 1, 2]);
  // Of a selection again: the grid stays that of the first batch.
  assertEquals([selected.gridRowCount, selected.columnCount, selected.episodeCount], [3, 3, 2]);
});

Deno.test("objectiveRows() refuses grids that do not fit the batch", () => {
  const grids = { advantage_B: [1, 2], weight_BC, meanWeight_BC, oldLogp_BC };
  for (const name of Object.keys(grids)) {
    const wrong = { ...grids, [name]: [1, 2, 3] };
    assertThrows(() => objectiveRows(BATCH, wrong), RangeError, `${name} holds 3 elements`);
  }
});

Deno.test("lossTokens() takes the columns of the rows apart", () => {
  const tokens = lossTokens({
    result_N4: Float32Array.of(-1, 2, 3, 0, -4, 5, 6, 0),
    objective_N4: Float32Array.of(10, 20, 30, 40, 50, 60, 70, 80),
    refLogp_N: [-7, -8],
  });
  const lists = Object.fromEntries(
    Object.entries(tokens).map(([name, array]) => [name, Array.from(array as ArrayLike<number>)]),
  );
  assertEquals(lists, {
    logp_N: [-1, -4],
    entropy_N: [2, 5],
    advantage_N: [10, 50],
    weight_N: [20, 60],
    meanWeight_N: [30, 70],
    oldLogp_N: [40, 80],
    refLogp_N: [-7, -8],
  });
});
