/** Tests of src/gpu/readback.ts and of cli/readback_selftest.ts, which decides whether primed reads may be used. */
import { assert, assertEquals } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { stagingFor } from "../../src/gpu/readback.ts";
import { createTensor, destroy } from "../../src/gpu/tensor.ts";
import { gpuTest, testGpu } from "./gpu_test_device.ts";

gpuTest("an awaited read sees every write before it", async () => {
  const commands = new Commands(await testGpu());
  const tensor = createTensor(commands.gpu.device, { label: "changing", sizeBytes: 1024 });
  for (let round = 1; round <= 5; round++) {
    const data = Uint32Array.from({ length: 256 }, (_, i) => i * round);
    commands.write(tensor, data);
    const [bytes] = await commands.read([{ tensor, sizeBytes: 1024 }]);
    assertEquals(new Uint32Array(bytes!), data);
  }
  destroy(tensor);
});

gpuTest("stagingFor() makes one buffer for each power of two", async () => {
  const gpu = await testGpu();
  const sizes = [4, 256, 257, 512].map((size) => stagingFor(gpu, size).buffer.size);
  assertEquals(sizes, [256, 256, 512, 512]);
  assert(stagingFor(gpu, 300) === stagingFor(gpu, 512));
});

/** Runs Deno in a process of its own: a runtime on which primed reads do not work may end the process. */
async function runDeno(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: new URL("../../", import.meta.url),
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { result: { code, stdout: decode(stdout) }, stderr: decode(stderr) };
}

Deno.test("primed reads see every write before them on the pinned runtime", async () => {
  const { result, stderr } = await runDeno("run", "--quiet", "cli/readback_selftest.ts");
  assertEquals(result, { code: 0, stdout: "primed\n" }, stderr);
});

Deno.test("a primed read ends with DeviceLostError when the device is lost", async () => {
  const code = `
    import { Commands } from "./src/gpu/commands.ts";
    import { openGpu } from "./src/gpu/device.ts";
    import { createTensor } from "./src/gpu/tensor.ts";
    const commands = new Commands(await openGpu({ readback: "primed" }));
    const tensor = createTensor(commands.gpu.device, { label: "any", sizeBytes: 4 });
    const read = () => commands.read([{ tensor, sizeBytes: 4 }]);
    await read();
    commands.gpu.device.destroy();
    await read().catch(({ name }) => console.log(name));
    Deno.exit(0);`;
  const { result, stderr } = await runDeno("eval", "--quiet", code);
  assertEquals(result, { code: 0, stdout: "DeviceLostError\n" }, stderr);
});
