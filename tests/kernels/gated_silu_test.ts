/** Tests of the gated SiLU kernel: ragged rows, gates whose exponential would overflow. */
import { assert, assertAlmostEquals } from "@std/assert";
import { gatedSiluForward } from "../../src/reference/gated_silu.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { assertHoldsInBothMemories } from "./harness.ts";
import { compareGatedSiluForward } from "./gated_silu.ts";

Deno.test("gatedSiluForward() lets through what the gate says", () => {
  const y = gatedSiluForward([Math.log(3), -900, 4, 5], { rowCount: 1, width: 2 });
  assertAlmostEquals(y[0]!, Math.log(3) * 0.75 * 4, 1e-12);
  assert(Math.abs(y[1]!) === 0);
});

gpuTest("addGatedSiluForward() matches the reference", async () => {
  for (const [rowCount, width, scale] of [[1, 8, 1], [9, 40, 8], [33, 64, 200]] as const) {
    await assertHoldsInBothMemories(compareGatedSiluForward({ rowCount, width, scale }));
  }
});
