/** Holds the gated SiLU kernel to src/reference/gated_silu.ts. */
import { addGatedSiluForward } from "../../src/kernels/gated_silu.ts";
import { gatedSiluForward } from "../../src/reference/gated_silu.ts";
import { type Compare, DIVISION, expError, randomF32, roundoffs, withRun } from "./harness.ts";

/** Rows, width, and the largest gate. */
export interface GatedSiluCase {
  readonly rowCount: number;
  readonly width: number;
  readonly scale: number;
}

export function compareGatedSiluForward({ rowCount, width, scale }: GatedSiluCase): Compare {
  const gate_up_N2F = randomF32(2 * rowCount * width, { seed: 1, scale });
  const expected = gatedSiluForward(gate_up_N2F, { rowCount, width });
  return (gpu) =>
    withRun(gpu, async (run) => {
      const y = run.rows(rowCount, width);
      run.replay({ rowCount }, (commands, plan) =>
        addGatedSiluForward(commands, plan, {
          gate_up_N2F: run.tensor(gate_up_N2F),
          y_NF: y,
          width,
        }));
      const actual = await run.readRows(y, rowCount, width);
      // exp's error counts for what it adds to 1; below −80 the result is nothing beside the bound of e⁻⁸⁰·gate·up.
      const bound = expected.map((value) =>
        Math.abs(value) * (expError(Math.min(80, scale)) + DIVISION + roundoffs(2)) +
        Math.exp(-80) * scale ** 2
      );
      return [{ name: "y_NF", actual, expected, bound }];
    });
}
