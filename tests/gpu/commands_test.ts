/** Tests of src/gpu/commands.ts: writing, replaying, copying, reading, and refusals. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import type { Gpu } from "../../src/gpu/device.ts";
import { UserError } from "../../src/core/errors.ts";
import { type KernelSpec, MAX_ITERATIONS } from "../../src/gpu/kernel.ts";
import { createRowOperand, createTensor, destroy, slice } from "../../src/gpu/tensor.ts";
import { input, kernelOf, output } from "../../src/kernels/operands.ts";
import { ADD_SCALED, COUNT, prepare, X } from "./add_scaled.ts";
import { gpuTest, testGpu } from "./gpu_test_device.ts";

gpuTest(
  "Commands.replay() keeps the order and the parameters of every dispatch in one submit",
  async () => {
    const { gpu, commands, plan, read } = await prepare();
    const { submits, dispatches } = gpu.counters;
    commands.replay(plan, { scale: 1 });
    commands.replay(plan, { scale: 10, launch: { times: 3 } });
    commands.replay(plan, { scale: 1000, launch: { times: 0 } });
    commands.replay(plan, { scale: 1000, launch: { workgroups: [0] } });
    assertEquals(await read(), X.map((x) => 31 * x));
    assertEquals(gpu.counters.submits, submits + 1);
    assertEquals(gpu.counters.dispatches, dispatches + 4);
  },
);

gpuTest("Commands.replay() submits by itself when its uniform memory is full", async () => {
  const { gpu, commands, plan, read } = await prepare();
  const { submits } = gpu.counters;
  for (let i = 0; i < 5000; i++) commands.replay(plan, { scale: i % 2 === 0 ? 1 : -1 });
  commands.replay(plan, { scale: 2 });
  assertEquals(await read(), X.map((x) => 2 * x));
  assertEquals(gpu.counters.submits, submits + 2);
});

gpuTest("Commands.copy() and clear() run between the dispatches around them", async () => {
  const { commands, x, y, plan, read } = await prepare();
  commands.replay(plan, { scale: 1 });
  commands.copy({ tensor: x, offsetBytes: 4 * 9, sizeBytes: 4 }, y, 4);
  commands.replay(plan, { scale: 1 });
  const found = await read();
  assertEquals([...found.slice(0, 3)], [1 + 1, 10 + 2, 3 + 3]);
  commands.clear(x);
  commands.replay(plan, { scale: 1 });
  assertEquals(await read(), found);
});

gpuTest("Commands.read() returns ranges in their order through one readback", async () => {
  const { gpu, commands, x } = await prepare();
  const { readbacks } = gpu.counters;
  const [empty, tail, head] = await commands.read([
    { tensor: x, sizeBytes: 0 },
    { tensor: x, offsetBytes: 4 * (COUNT - 2), sizeBytes: 8 },
    { tensor: x, sizeBytes: 4 },
  ]);
  assertEquals(empty!.byteLength, 0);
  assertEquals([...new Float32Array(tail!)], [COUNT - 1, COUNT]);
  assertEquals([...new Float32Array(head!)], [1]);
  assertEquals(gpu.counters.readbacks, readbacks + 1);
  assertEquals(await commands.read([]), []);
});

gpuTest("Commands.write() refuses data that does not fit, with both sizes", async () => {
  const { commands, x } = await prepare();
  const write = () => commands.write(x, new Float32Array(COUNT), 128);
  assertThrows(write, RangeError, `400 bytes at 128 of x: it holds ${x.sizeBytes}`);
});

gpuTest("Commands.replay() refuses more workgroups than a dimension may have", async () => {
  const { commands, plan } = await prepare();
  const replay = () => commands.replay(plan, { scale: 1, launch: { workgroups: [1, 65536] } });
  assertThrows(replay, UserError, "Cannot dispatch add_scaled: 1×65536×1 workgroups");
});

gpuTest("Commands.replay() refuses loops that a software adapter would cut off", async () => {
  const { gpu, x, y } = await prepare();
  const planOn = (isSoftware: boolean) => {
    const commands = new Commands({ ...gpu, adapter: { ...gpu.adapter, isSoftware } });
    const plan = commands.plan<number>().add(kernelOf(gpu, ADD_SCALED), {
      bindings: { x, y },
      launch: (turns) => ({
        params: { count: 0, scale: 0 },
        workgroups: [1],
        ...(turns > 0 && { sizes: { turns } }),
      }),
    });
    return { commands, plan };
  };
  const software = planOn(true), hardware = planOn(false);
  const sentence = `add_scaled: one invocation would run ${MAX_ITERATIONS + 1} loop iterations`;
  for (const run of ["check", "replay"] as const) {
    const { commands, plan } = software;
    commands[run](plan, MAX_ITERATIONS);
    assertThrows(() => commands[run](plan, MAX_ITERATIONS + 1), UserError, sentence);
    assertThrows(() => commands[run](plan, NaN), TypeError, "depend on turns");
    hardware.commands[run](hardware.plan, MAX_ITERATIONS + 1);
  }
  await software.commands.read([{ tensor: y, sizeBytes: 4 }]);
  await hardware.commands.read([{ tensor: y, sizeBytes: 4 }]);
});

gpuTest("Commands.replay() takes a plan that is longer than its uniform memory", async () => {
  const { gpu, commands, x, y, read } = await prepare();
  const plan = commands.plan<undefined>();
  for (let i = 0; i < 4100; i++) {
    plan.add(kernelOf(gpu, ADD_SCALED), {
      bindings: { x, y },
      launch: () => ({
        params: { count: COUNT, scale: i % 2 === 0 ? 2 : -1 },
        sizes: { turns: 0 },
        workgroups: [2],
      }),
    });
  }
  commands.replay(plan, undefined);
  assertEquals(await read(), X.map((x) => 2050 * x));
});

gpuTest("Plan.add() refuses a binding that is missing", async () => {
  const { gpu, commands, x } = await prepare();
  const launch = () => ({ params: { count: 0, scale: 0 }, workgroups: [1] as const });
  const add = () => commands.plan().add(kernelOf(gpu, ADD_SCALED), { bindings: { x }, launch });
  assertThrows(add, TypeError, "Cannot bind add_scaled: y is missing");
});

gpuTest(
  "createTensor(), slice() and createRowOperand() refuse what the device cannot hold",
  async () => {
    const { device } = await testGpu();
    const limit = device.limits.maxStorageBufferBindingSize;
    const create = () => createTensor(device, { label: "huge", sizeBytes: limit + 256 });
    assertThrows(create, UserError, `one binding holds at most ${limit}`);
    const tensor = createTensor(device, { label: "small", sizeBytes: 512 });
    assertEquals(slice(tensor, 256, 256).offsetBytes, 256);
    assertThrows(() => slice(tensor, 4, 256), RangeError, "multiples of 256");
    assertThrows(() => slice(tensor, 256, 512), RangeError, "bytes 256..768 of 512");
    destroy(tensor);
    const shape = { label: "wide", rowCount: 8, width4: 10000, memory: "texture" as const };
    assertThrows(() => createRowOperand(device, shape), UserError, "10000×8 exceeds the limit");
  },
);

gpuTest("Commands.read() reports a refused command once, with the kernel's label", async () => {
  const gpu: Gpu = await testGpu();
  const commands = new Commands(gpu);
  const broken = { ...ADD_SCALED, name: "broken_kernel", wgsl: "fn broken_kernel() { nonsense }" };
  kernelOf(gpu, broken);
  const tensor = createTensor(gpu.device, { label: "any", sizeBytes: 4 });
  const request = [{ tensor, sizeBytes: 4 }];
  // A read without a wait hears of errors when the event loop turns.
  await new Promise((resolve) => setTimeout(resolve, 0));
  await assertRejects(() => commands.read(request), Error, "broken_kernel");
  await commands.read(request);
  destroy(tensor);
});

gpuTest("kernelOf() compiles a kernel once for each set of overrides", async () => {
  const gpu = await testGpu();
  const spec: KernelSpec = {
    ...ADD_SCALED,
    wgsl: ADD_SCALED.wgsl.replace("size(64)", "size(LANES)") + "\noverride LANES: u32 = 64;",
    name: "add_scaled",
    bindings: [input("x"), output("y")],
    overrides: ["LANES"],
  };
  const narrow = kernelOf(gpu, spec, { LANES: 8 });
  assert(kernelOf(gpu, spec, { LANES: 8 }) === narrow);
  assert(kernelOf(gpu, spec, { LANES: 16 }) !== narrow);
});
