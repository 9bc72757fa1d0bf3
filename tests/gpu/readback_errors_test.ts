/** Tests of src/gpu/readback.ts: of several errors the first is told, and a lost device before a failed map. */
import { assertEquals, assertRejects } from "@std/assert";
import { DeviceLostError } from "../../src/core/errors.ts";
import type { Gpu } from "../../src/gpu/device.ts";
import type { Staging } from "../../src/gpu/staging.ts";
import { readStaging } from "../../src/gpu/readback.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { createTensor, destroy } from "../../src/gpu/tensor.ts";
import { gpuTest, testGpu } from "./gpu_test_device.ts";

/** What `readStaging` uses of a device, and a buffer whose map does what `map` does. */
function pretended(map: () => Promise<void>) {
  const faults: Gpu["faults"] = { firstError: undefined, lost: undefined };
  const counters = { submits: 0, readbacks: 0, dispatches: 0, waitMs: 0 };
  const turn = { lastMs: performance.now() };
  const gpu = { faults, counters, turn, readback: "awaited" } as unknown as Gpu;
  const buffer = { mapAsync: map, getMappedRange: () => new ArrayBuffer(4), unmap: () => {} };
  const staging = { buffer, isPrimed: false } as unknown as Staging;
  return { faults, read: () => readStaging(gpu, staging, 4) };
}

/** Says something of a device, as its listeners do: the first word stays, a turn later than what caused it. */
function sayLater(faults: Gpu["faults"], error: string): void {
  setTimeout(() => faults.firstError ??= error, 0);
}

Deno.test("readStaging() tells the first of two errors, and the second never", async () => {
  const { faults, read } = pretended(() => Promise.resolve());
  faults.firstError = "shader 'a', line 3: unknown identifier";
  sayLater(faults, "Invalid CommandBuffer");
  await assertRejects(read, Error, "shader 'a', line 3");
  assertEquals((await read()).byteLength, 4);
});

Deno.test("readStaging() tells the first error where the map fails, too", async () => {
  const { faults, read } = pretended(() => Promise.reject(new Error("map failed")));
  sayLater(faults, "shader 'a', line 3: unknown identifier");
  setTimeout(() => faults.firstError ??= "Invalid CommandBuffer", 0);
  await assertRejects(read, Error, "shader 'a', line 3");
  await assertRejects(read, Error, "map failed");
});

Deno.test("readStaging() tells that a device was lost when its word comes late", async () => {
  const { faults, read } = pretended(() => Promise.reject(new Error("map failed")));
  setTimeout(() => faults.lost = "unknown: driver reset", 0);
  await assertRejects(read, DeviceLostError, "driver reset");
});

gpuTest(
  "a broken shader is told with its name and line, and nothing of what it breaks",
  async () => {
    const gpu = await testGpu();
    const { device } = gpu;
    const code = "@compute @workgroup_size(1)\nfn broken() {\n  let x = nonsense;\n}";
    const module = device.createShaderModule({ label: "broken", code });
    const compute = { module, entryPoint: "broken" };
    device.createComputePipeline({ label: "broken", layout: "auto", compute });
    const commands = new Commands(gpu);
    const tensor = createTensor(device, { label: "any", sizeBytes: 4 });
    const request = [{ tensor, sizeBytes: 4 }];
    const error = await assertRejects(() => commands.read(request), Error, "broken");
    assertEquals([/\b3:11\b/.test(error.message), error.message.includes("nonsense")], [
      true,
      true,
    ]);
    await commands.read(request);
    destroy(tensor);
  },
);
