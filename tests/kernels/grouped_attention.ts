/** Holds the kernel of grouped attention to src/reference/grouped_attention.ts. */
import {
  addGroupedAttentionForward,
  type PositionSize,
} from "../../src/kernels/grouped_attention.ts";
import type { GroupedShape } from "../../src/kernels/head_rotary.ts";
import { groupedAttentionForward } from "../../src/reference/grouped_attention.ts";
import { type Compare, expError, randomF32, roundoffs, withRun } from "./harness.ts";

/** Heads, and the lengths of sequences. */
export interface GroupedAttentionCase extends GroupedShape {
  readonly length_B: readonly number[];
}

/** Rows of the last sequence that are looked at; the kernel computes all. */
export function compareGroupedAttentionForward(shape: GroupedAttentionCase): Compare {
  const { headCount, groupCount, headWidth, length_B } = shape;
  const rowCount = length_B.reduce((a, b) => a + b);
  const first_N = length_B.flatMap((length, b) =>
    Array<number>(length).fill(length_B.slice(0, b).reduce((a, c) => a + c, 0))
  );
  const q_NHK = randomF32(rowCount * headCount * headWidth, { seed: 1, scale: 2 });
  const k_NGK = randomF32(rowCount * groupCount * headWidth, { seed: 2 });
  const v_NGK = randomF32(rowCount * groupCount * headWidth, { seed: 3 });
  const expected = groupedAttentionForward(q_NHK, { ...shape, rowCount, first_N, k_NGK, v_NGK });
  const longest = Math.max(...length_B);
  const width = headCount * headWidth;
  // Scores are below 2·√K; their error and that of exp weigh values below 1, over sums of `longest` terms.
  const largest = 2 * Math.sqrt(headWidth);
  const bound = 2 * (largest * roundoffs(headWidth / 4 + 5) + expError(2 * largest)) +
    roundoffs(2 * Math.sqrt(longest) + 30);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const o = run.rows(rowCount, width);
      const size: PositionSize = { rowCount, positionCount: longest };
      run.replay(size, (commands, plan) =>
        addGroupedAttentionForward(commands, plan, {
          q_NHK: run.rows(rowCount, width, q_NHK),
          key_cache: run.rows(rowCount, groupCount * headWidth, k_NGK),
          value_cache: run.rows(rowCount, groupCount * headWidth, v_NGK),
          token_N4: run.tensor(
            Uint32Array.from(first_N.flatMap((first, n) => [0, n - first, first, n])),
          ),
          state_NHK: run.empty(rowCount * width),
          sums_NH: run.empty(2 * rowCount * headCount),
          o_NHK: o,
          shape,
          maxPositions: longest,
        }));
      return [{ name: "o_NHK", actual: await run.readRows(o, rowCount, width), expected, bound }];
    });
}
