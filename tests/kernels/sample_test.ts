/** Tests of the decoders' kernels against the float64 model and sampler; their equality with the trainer is in tests/rollout. */
import { assertEquals } from "@std/assert";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { assertHoldsInBothMemories, assertSameBits } from "./harness.ts";
import { compareDecoder } from "./sample.ts";

gpuTest("rollout_decode draws the reference's tokens and records their log-probs", async () => {
  await assertHoldsInBothMemories(compareDecoder("fused"));
});

gpuTest("rollout_advance has the bits of the fused decoder", async () => {
  const gpu = await testGpu();
  const fused = await compareDecoder("fused")(gpu);
  const layered = await compareDecoder("layered")(gpu);
  assertEquals(layered.length, fused.length);
  layered.forEach(({ name, actual }, i) => assertSameBits(name, actual, fused[i]!.actual));
});
