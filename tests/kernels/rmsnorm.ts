/** Holds the rmsnorm kernel to src/reference/rmsnorm.ts. */
import { addRmsnormForward } from "../../src/kernels/rmsnorm.ts";
import { rmsnormForward } from "../../src/reference/rmsnorm.ts";
import { type Compare, DIVISION, randomF32, roundoffs, withRun } from "./harness.ts";

/** Rows, width, and what the inputs are multiplied by. */
export interface RmsnormCase {
  readonly rowCount: number;
  readonly width: number;
  readonly scale: number;
}

/** Large enough that a test of small inputs sees it. */
const EPSILON = 1e-3;

/** Relative error of y: half of that of a sum of squares, a division and a root, and two products. */
export function rmsnormError(width: number): number {
  return roundoffs(width / 4 + 4) + 3 * DIVISION + roundoffs(2);
}

export function compareRmsnormForward({ rowCount, width, scale }: RmsnormCase): Compare {
  const x_ND = randomF32(rowCount * width, { seed: 1, scale });
  // The gain does not start at 0, so that a forgotten offset shows.
  const vectors = randomF32(8 + width, { seed: 2, scale: 2 });
  const gain_D = vectors.subarray(8);
  const expected = rmsnormForward(x_ND, { rowCount, width, gain_D, epsilon: EPSILON });
  return (gpu) =>
    withRun(gpu, async (run) => {
      const y = run.rows(rowCount, width);
      run.replay({ rowCount }, (commands, plan) =>
        addRmsnormForward(commands, plan, {
          x_ND: run.tensor(x_ND),
          vectors: run.tensor(vectors),
          y_ND: y,
          width,
          gainOffset: 8,
          epsilon: EPSILON,
        }));
      const actual = await run.readRows(y, rowCount, width);
      const bound = expected.map((value) => Math.abs(value) * rmsnormError(width));
      return [{ name: "y_ND", actual, expected, bound }];
    });
}
