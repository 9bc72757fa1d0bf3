/** Holds the comparison of positions to hand-made gradients, and reading operands back to what was written. */
import { assertEquals } from "@std/assert";
import { OWNER } from "../../src/core/owner.ts";
import { readRowOperand } from "../../src/lab/read_operand.ts";
import { rowGradients, summarizeSupport } from "../../src/lab/support.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { initialValues } from "../../src/model/parameters.ts";
import { gpuTest, MEMORIES, testGpu } from "../gpu/gpu_test_device.ts";
import { assertSameBits, randomF32, withRun } from "../kernels/harness.ts";
import { handBatch } from "./hand_batch.ts";

Deno.test("summarizeSupport() counts positions that differ, and those outside the mask", () => {
  const batch = handBatch();
  const { trajectories, packed: { rowCount } } = batch;
  const right = trajectories.flatMap(({ owners, reward }) =>
    Array.from(owners, (_, t) => Number(owners[t + 1] === OWNER.policy && reward > 0))
  );
  const embedding_N = Array.from({ length: rowCount }, () => 2);
  const found = summarizeSupport(batch, { logits_N: right, embedding_N });
  assertEquals([found.logitPositions, found.successTokens, found.differing, found.outside], [
    7,
    7,
    0,
    0,
  ]);
  assertEquals(found.byOwner.map(({ positions }) => positions), [6, 20, 9]);
  // The position before a tool's token of the success; and one of the success's own is lost.
  const wrong = right.slice();
  wrong[5] = 1;
  wrong[1] = 0;
  const other = summarizeSupport(batch, { logits_N: wrong, embedding_N });
  assertEquals([other.logitPositions, other.differing, other.outside], [7, 2, 1]);
});

gpuTest("rowGradients() are where the policy's tokens of successes are predicted", async () => {
  for (const memory of MEMORIES) {
    const commands = new Commands(await testGpu(memory));
    const batch = handBatch();
    const gradients = await rowGradients(commands, initialValues(TINY_AGENT, 1), batch);
    const { differing, successTokens, byOwner } = summarizeSupport(batch, gradients);
    assertEquals([differing, successTokens], [0, 7]);
    assertEquals(byOwner.every(({ mean }) => mean > 0), true);
  }
});

gpuTest("readRowOperand() returns what an operand holds, in both memories", async () => {
  for (const memory of MEMORIES) {
    await withRun(await testGpu(memory), async (run) => {
      for (const [rowCount, width] of [[1, 16], [3, 64], [9001, 16]] as const) {
        const data = randomF32(rowCount * width, { seed: rowCount });
        const operand = run.rows(rowCount, width, data);
        const read = await readRowOperand(run.commands, operand, { rowCount, width });
        assertSameBits(`${rowCount} × ${width}`, read, data);
      }
    });
  }
});
