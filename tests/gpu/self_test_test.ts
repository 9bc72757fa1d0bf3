/** Tests of src/gpu/self_test.ts: a right adapter is trusted, and one that computes wrongly in any way is refused. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import type { Gpu } from "../../src/gpu/device.ts";
import { requireTrustedGpu, SELF_TEST, selfTest } from "../../src/gpu/self_test.ts";
import { kernelOf } from "../../src/kernels/operands.ts";
import { gpuTest, MEMORIES, testGpu } from "./gpu_test_device.ts";

/** The device with another self-test in place of the right one: what a wrong driver would make of it. */
async function wrongGpu(from: string, to: string): Promise<Gpu> {
  assert(SELF_TEST.wgsl.includes(from), `the self-test has no ${from}`);
  const gpu: Gpu = { ...await testGpu(), kernels: new Map() };
  kernelOf(gpu, { ...SELF_TEST, wgsl: SELF_TEST.wgsl.replace(from, () => to) });
  return gpu;
}

gpuTest("selfTest() finds nothing wrong in either memory", async () => {
  for (const memory of MEMORIES) {
    const { checks } = await selfTest(await testGpu(memory));
    assertEquals(checks.filter(({ ok }) => !ok), []);
    assertEquals(checks.length, 8);
    await requireTrustedGpu(await testGpu(memory));
  }
});

const MISTAKES = [
  ["exp(0) is 1", "exp(params.zero * f32(i))", "exp(params.zero * f32(i) + 1e-7)"],
  ["x − x is 0", "x - numbers_32[(i + 32u) % 32u]", "x - numbers_32[(i + 33u) % 32u]"],
  ["fma of integers is exact", "f32(i * i))", "f32(i * i) - 1.0)"],
  ["softmax", "/ sum, maximum", "/ (sum * 1.00001), maximum"],
  ["log-sum-exp", "maximum + log(sum)", "maximum + log(sum) * 1.00001"],
  ["integer hash", "h >> 13u", "h >> 12u"],
  [
    "what one dispatch writes to an operand the next one reads",
    "operand_row(63u - i, 1u)",
    "operand_row(i, 1u)",
  ],
  [
    "loops of 60000 steps end",
    "step < params.loop_count;",
    "step + 1u < params.loop_count;",
  ],
] as const;

for (const [name, from, to] of MISTAKES) {
  gpuTest(`selfTest() sees that an adapter is wrong about "${name}"`, async () => {
    const { checks } = await selfTest(await wrongGpu(from, to));
    assertEquals(checks.filter(({ ok }) => !ok).map((check) => check.name), [name]);
  });
}

gpuTest("requireTrustedGpu() ends with exit code 1 and what was found", async () => {
  const gpu = await wrongGpu("f32(i * i))", "f32(i * i) - 1.0)");
  const error = await assertRejects(() => requireTrustedGpu(gpu), UserError, "computes wrongly");
  assertEquals(error.exitCode, 1);
  assert(error.message.includes("found 16777215, right is 16777216"), error.message);
});
