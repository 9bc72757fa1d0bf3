/** Tests of the rmsnorm kernel: ragged rows, inputs far below and above epsilon. */
import { assertAlmostEquals } from "@std/assert";
import { rmsnormForward } from "../../src/reference/rmsnorm.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { assertHoldsInBothMemories } from "./harness.ts";
import { compareRmsnormForward } from "./rmsnorm.ts";

Deno.test("rmsnormForward() divides by the root of the mean square", () => {
  // The mean square of 1, 7 is 25; with epsilon 11 the root is 6.
  const y = rmsnormForward([1, 7], { rowCount: 1, width: 2, gain_D: [6, 3], epsilon: 11 });
  [1, 3.5].forEach((value, i) => assertAlmostEquals(y[i]!, value, 1e-12));
});

gpuTest("addRmsnormForward() matches the reference", async () => {
  for (const width of [8, 64, 136]) {
    for (const [rowCount, scale] of [[1, 1], [33, 1e-3], [65, 1e4]] as const) {
      await assertHoldsInBothMemories(compareRmsnormForward({ rowCount, width, scale }));
    }
  }
});
