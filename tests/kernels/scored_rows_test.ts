/** Tests of the kernels of scored rows: one, some, all and the last of the rows, in the second strip of a texture too. */
import { assertEquals } from "@std/assert";
import { chunkStarts } from "../../src/kernels/operands.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { assertHoldsInBothMemories } from "./harness.ts";
import { compareScoredRowsBackward, compareScoredRowsForward } from "./scored_rows.ts";

const CASES = [
  { rowCount: 1, width: 64, row_R: [0] },
  { rowCount: 7, width: 32, row_R: [6] },
  { rowCount: 65, width: 64, row_R: Array.from({ length: 65 }, (_, n) => n) },
  { rowCount: 65, width: 96, row_R: [0, 1, 5, 30, 31, 63] },
  { rowCount: 8200, width: 32, row_R: [3, 8191, 8192, 8199] },
];

gpuTest("addScoredRowsForward() copies the scored rows", async () => {
  for (const shape of CASES) await assertHoldsInBothMemories(compareScoredRowsForward(shape));
});

gpuTest("addScoredRowsBackward() copies them back and zeroes the others", async () => {
  for (const shape of CASES) await assertHoldsInBothMemories(compareScoredRowsBackward(shape));
});

Deno.test("chunkStarts() cuts scored rows where it cuts all rows", () => {
  assertEquals([...chunkStarts(20)], [0, 3, 6, 9, 12, 15, 18, 20, 20]);
  const row_R = Uint32Array.of(2, 3, 4, 12, 19);
  const starts = [...chunkStarts(20, row_R)];
  assertEquals(starts, [0, 1, 3, 3, 3, 4, 4, 5, 5]);
  starts.slice(0, -1).forEach((start, chunk) => {
    for (const row of row_R.subarray(start, starts[chunk + 1])) {
      assertEquals(Math.floor(row / 3), chunk);
    }
  });
});
