/** Holds the kernels of scored rows to src/reference/scored_rows.ts. */
import {
  addScoredRowsBackward,
  addScoredRowsForward,
  placesOf,
} from "../../src/kernels/scored_rows.ts";
import { scoredRowsBackward, scoredRowsForward } from "../../src/reference/scored_rows.ts";
import { type Compare, randomF32, withRun } from "./harness.ts";

/** N, D, and which of the N rows are scored. */
export interface ScoredRowsCase {
  readonly rowCount: number;
  readonly width: number;
  readonly row_R: readonly number[];
}

/** Copies, so not one bit may differ. */
export function compareScoredRowsForward(shape: ScoredRowsCase): Compare {
  const { rowCount, width, row_R } = shape;
  const size = { rowCount, scoredCount: row_R.length };
  const [x_ND, o_ND] = [1, 2].map((seed) => randomF32(rowCount * width, { seed }));
  return (gpu) =>
    withRun(gpu, async (run) => {
      const x_RD = run.empty(row_R.length * width);
      const o_RD = run.rows(row_R.length, width);
      run.replay(size, (commands, plan) =>
        addScoredRowsForward(commands, plan, {
          row_R: run.tensor(Uint32Array.from(row_R)),
          x_ND: run.tensor(x_ND!),
          o_ND: run.rows(rowCount, width, o_ND!),
          x_RD,
          o_RD,
          width,
        }));
      const x = await run.read(x_RD, row_R.length * width);
      const o = await run.readRows(o_RD, row_R.length, width);
      const expected = [x_ND!, o_ND!].map((all) => scoredRowsForward(all, row_R, shape));
      return [
        { name: "x_RD", actual: x, expected: expected[0]!, bound: 0 },
        { name: "o_RD", actual: o, expected: expected[1]!, bound: 0 },
      ];
    });
}

/** Copies and zeros, so not one bit may differ. */
export function compareScoredRowsBackward(shape: ScoredRowsCase): Compare {
  const { rowCount, width, row_R } = shape;
  const size = { rowCount, scoredCount: row_R.length };
  const [dx_RD, do_RD] = [3, 4].map((seed) => randomF32(row_R.length * width, { seed }));
  const place_N = placesOf(Uint32Array.from(row_R), { rowCount });
  return (gpu) =>
    withRun(gpu, async (run) => {
      const dx_ND = run.rows(rowCount, width);
      const do_ND = run.empty(rowCount * width);
      run.replay(size, (commands, plan) =>
        addScoredRowsBackward(commands, plan, {
          place_N: run.tensor(place_N),
          dx_RD: run.rows(row_R.length, width, dx_RD!),
          do_RD: run.tensor(do_RD!),
          dx_ND,
          do_ND,
          width,
        }));
      const dx = await run.readRows(dx_ND, rowCount, width);
      const dO = await run.read(do_ND, rowCount * width);
      const expected = [dx_RD!, do_RD!].map((own) => scoredRowsBackward(own, row_R, shape));
      return [
        { name: "dx_ND", actual: dx, expected: expected[0]!, bound: 0 },
        { name: "do_ND", actual: dO, expected: expected[1]!, bound: 0 },
      ];
    });
}
