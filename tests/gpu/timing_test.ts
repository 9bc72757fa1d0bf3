/** Tests of src/gpu/timing.ts. */
import { assert } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { createTensor, destroy } from "../../src/gpu/tensor.ts";
import { createTimer, timeOnDevice } from "../../src/gpu/timing.ts";
import { addGradientNorm, normBlockCount } from "../../src/kernels/clip_adam.ts";
import { gpuTest, testGpu } from "./gpu_test_device.ts";

gpuTest("timeOnDevice() grows with the work and stays below the wall clock", async () => {
  const commands = new Commands(await testGpu());
  const timer = await createTimer(commands);
  const parameterCount = 2 ** 20;
  const tensor = (label: string, sizeBytes: number) =>
    createTensor(commands.gpu.device, { label, sizeBytes });
  const gradient = tensor("gradient", 4 * parameterCount);
  const block_squares = tensor("squares", 4 * normBlockCount(parameterCount));
  const clip_2 = tensor("clip", 8);
  const plan = commands.plan<{ maxNorm: number }>();
  addGradientNorm(commands, plan, { gradient, block_squares, clip_2, parameterCount });
  const replay = (times: number) => () => {
    for (let i = 0; i < times; i++) commands.replay(plan, { maxNorm: 1 });
  };
  await timeOnDevice(timer, replay(1)); // Compiles on software adapters.
  // The least of five: other work on the device makes a single short one long.
  const single: number[] = [];
  for (let i = 0; i < 5; i++) single.push((await timeOnDevice(timer, replay(1))).us);
  const once = Math.min(...single);
  const startMs = performance.now();
  const { us: often } = await timeOnDevice(timer, replay(100));
  const wallUs = (performance.now() - startMs) * 1000;
  // Exactly 100 times is too much to ask of a machine that does other work; nothing at all would give 1.
  assert(once > 0 && often > 10 * once, `${once} µs once, ${often} µs for a hundred`);
  assert(often < wallUs, `${often} µs of ${wallUs}`);
  [gradient, block_squares, clip_2].forEach(destroy);
});
