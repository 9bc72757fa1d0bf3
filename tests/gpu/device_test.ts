/** Tests of src/gpu/device.ts: what is refused, and what a lost device does to a run. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DeviceLostError, UserError } from "../../src/core/errors.ts";
import { inWords } from "../../src/core/mention.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { NO_ADAPTER, openGpu } from "../../src/gpu/device.ts";
import { createTensor } from "../../src/gpu/tensor.ts";
import { gpuTest, testGpu } from "./gpu_test_device.ts";

/** Runs `fn` while requestAdapter() answers with `adapter`. */
async function withAdapter(adapter: GPUAdapter | null, fn: () => Promise<void>): Promise<void> {
  const { gpu } = navigator;
  const requestAdapter = gpu.requestAdapter;
  gpu.requestAdapter = () => Promise.resolve(adapter);
  try {
    await fn();
  } finally {
    gpu.requestAdapter = requestAdapter;
  }
}

gpuTest("openGpu() says how to get an adapter where there is none", async () => {
  await withAdapter(null, async () => {
    const error = await assertRejects(() => openGpu(), UserError, inWords(NO_ADAPTER));
    assertEquals(error.exitCode, 1);
  });
});

gpuTest(
  "openGpu() refuses a software adapter where hardware is required, with its name",
  async () => {
    const info = { description: "llvmpipe (LLVM 15)", isFallbackAdapter: true };
    await withAdapter({ info } as GPUAdapter, async () => {
      const open = () => openGpu({ requireHardware: true });
      await assertRejects(open, UserError, 'only the software adapter "llvmpipe (LLVM 15)"');
    });
  },
);

gpuTest("openGpu() calls an adapter without a description by vendor and architecture", async () => {
  const info = { description: "", vendor: "google", architecture: "swiftshader" };
  await withAdapter({ info } as GPUAdapter, async () => {
    const open = () => openGpu({ requireHardware: true });
    await assertRejects(open, UserError, 'only the software adapter "google swiftshader"');
  });
});

gpuTest("openGpu() names the adapter and chooses the memory of operands by its kind", async () => {
  const { adapter, tuning: { operandMemory }, device } = await openGpu();
  assert(adapter.description.length > 0);
  assertEquals(operandMemory, adapter.isSoftware ? "texture" : "buffer");
  device.destroy();
});

gpuTest("Commands.read() ends with DeviceLostError when the device is lost", async () => {
  const commands = new Commands(await openGpu());
  const tensor = createTensor(commands.gpu.device, { label: "any", sizeBytes: 4 });
  const read = () => commands.read([{ tensor, sizeBytes: 4 }]);
  await read();
  commands.gpu.device.destroy();
  await assertRejects(read, DeviceLostError, "resume from the last checkpoint");
  await assertRejects(read, DeviceLostError);
});

gpuTest("testGpu() opens one device for each memory", async () => {
  assert(await testGpu() === await testGpu("texture"));
  assert((await testGpu("buffer")).tuning.operandMemory === "buffer");
});
