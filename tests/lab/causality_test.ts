/** Holds the costs of calls and the four printed numbers. */
import { assertAlmostEquals, assertEquals } from "@std/assert";
import { fourCalls, stepCostRewards } from "../../src/lab/causality.ts";
import { createLabContext } from "../../src/lab/experiment.ts";
import { handBatch } from "./hand_batch.ts";

Deno.test("stepCostRewards() charges the last token of a call and pays with the last of all", () => {
  const { trajectories: [success, failure] } = handBatch();
  // <task> clamp <call> edit swap_minmax </call> <obs> same </obs> <call> submit </call>; the first token has no column.
  assertEquals(
    stepCostRewards(success.owners, 1),
    [0, 0, 0, 0, -0.1, 0, 0, 0, 0, 0, 0.9],
  );
  assertEquals(stepCostRewards(failure.owners, 0), [0, 0, 0, -0.1]);
});

Deno.test("fourCalls() are the tutorial's numbers", async () => {
  // It needs no device.
  const toGo = await fourCalls(createLabContext(undefined as never, { seed: 0, quick: true }));
  assertEquals(toGo.map((g) => g.toFixed(2)), ["0.60", "0.70", "0.80", "0.90"]);
  toGo.forEach((g, i) => assertAlmostEquals(g, 0.6 + 0.1 * i, 1e-15));
});
