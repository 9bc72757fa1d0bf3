/** Tests of the kernel benchmark: its check can fail, its cases cover the update, its counts are right. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { createTimer } from "../../src/gpu/timing.ts";
import { prepareKernelBench, timeKernel } from "../../src/bench/kernels.ts";
import { kernelWork } from "../../src/bench/kernel_work.ts";
import { checkUpdatePass, UPDATE_TOLERANCE } from "../../src/bench/update_check.ts";
import { prepareUpdatePass } from "../../src/tuning/update_pass.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

/** Several episodes, the last one cut short: 16 to 40 tokens each. */
const ROWS = 150;

gpuTest(
  "checkUpdatePass() accepts right kernels and refuses other weights on the device",
  async () => {
    const commands = new Commands(await testGpu());
    const errors = await checkUpdatePass(prepareUpdatePass(commands, { rowCount: ROWS }));
    for (const [name, tolerance] of Object.entries(UPDATE_TOLERANCE)) {
      const error = errors[name as keyof typeof errors];
      assert(error > 0 && error <= tolerance, `${name} is off by ${error}`);
    }
    // The first weight of the token table and the last one of the head's bias.
    for (const index of [0, -1]) {
      const pass = prepareUpdatePass(commands, { rowCount: ROWS });
      const changed_W = pass.weights_W.slice();
      const w = (index + changed_W.length) % changed_W.length;
      changed_W[w] += 0.01;
      commands.write(pass.parameters.flat, changed_W);
      commands.refreshOperand(pass.parameters.operand, pass.parameters.flat);
      await assertRejects(() => checkUpdatePass(pass), Error, "disagree with the float64");
    }
  },
);

gpuTest(
  "prepareKernelBench() lists every dispatch of an update once, with the calls of all layers",
  async () => {
    const commands = new Commands(await testGpu());
    const pass = prepareUpdatePass(commands, { rowCount: ROWS });
    const { cases, rowCount } = await prepareKernelBench(commands, { rowCount: ROWS });
    assertEquals(rowCount, ROWS);
    const calls = cases.reduce((sum, kernelCase) => sum + kernelCase.calls, 0);
    assertEquals(calls, pass.plan.steps.length);
    const layernorm = cases.find(({ kernel }) => kernel === "layernorm_forward");
    assertEquals(layernorm?.calls, 7); // Two in each of three layers, and the last one.
    const timer = await createTimer(commands);
    const fc = cases.find(({ kernel }) => kernel === "linear_gelu_forward");
    assert(fc && fc.bytes === 0);
    const timing = await timeKernel(timer, fc);
    assertEquals([timing.shape, timing.gbPerSecond], ["64→256", null]);
    const flops = 2 * ROWS * 64 * 256;
    assertEquals(fc.flops, flops);
    assert(timing.timeUs > 0);
    assertEquals(timing.gflops, flops / timing.timeUs / 1000);
  },
);

Deno.test("kernelWork() counts a layer of attention by hand and refuses unknown kernels", () => {
  const facts = { rowCount: 3, vocabSize: 60, pairCount: 6 };
  // One episode of 3 tokens, D = 8: each of the 1 + 2 + 3 pairs takes 2·8 operations for its score and 2·8 for its value.
  assertEquals(kernelWork("attention_forward", { width4: 2, head_count: 2 }, facts), {
    shape: "2×4",
    flops: 6 * (2 * 8 + 2 * 8),
    bytes: 0,
  });
  assertThrows(() => kernelWork("no_kernel", {}, facts), RangeError, "the work of no_kernel");
});
