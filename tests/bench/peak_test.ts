/** Tests of the probes of an adapter's peaks: they compute what they claim to, so nothing of their work was left out. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { createFlatOperand, createTensor } from "../../src/gpu/tensor.ts";
import { createTimer } from "../../src/gpu/timing.ts";
import {
  bestPeak,
  chainPlan,
  PEAK_LANES,
  preparePeakBench,
  readPlan,
} from "../../src/bench/peak.ts";
import { gpuTest, MEMORIES, testGpu } from "../gpu/gpu_test_device.ts";

const GROUPS = 2;
const INVOCATIONS = GROUPS * PEAK_LANES;

gpuTest("chainPlan() takes every step of its three chains", async () => {
  const commands = new Commands(await testGpu());
  const sizeBytes = INVOCATIONS * 16;
  const end_C4 = createTensor(commands.gpu.device, { label: "ends", sizeBytes });
  const plan = chainPlan(commands, end_C4);
  const ends = async (loopCount: number) => {
    commands.replay(plan, { factor: 0.5, addend: 1, loopCount, groups: GROUPS });
    const [bytes] = await commands.read([{ tensor: end_C4, sizeBytes }]);
    return [...new Float32Array(bytes ?? new ArrayBuffer(0))];
  };
  // x ← x/2 + 1 has the fixed point 2: after n steps 2 + (x − 2)/2^n. The chains start at i, i + 1 and i + 2; 12 steps
  // leave numbers of 12 bits behind the point and 8 before it, which f32 holds exactly.
  const expected = Array.from({ length: INVOCATIONS * 4 }, (_, at) => {
    const i = Math.floor(at / 4);
    return 6 + (3 * i + 3 - 6) / 2 ** 12;
  });
  assertEquals(await ends(3), expected);
  assertNotEquals(await ends(2), expected);
});

for (const memory of MEMORIES) {
  gpuTest(`readPlan() reads every vec4 once in both orders, from ${memory} memory`, async () => {
    const commands = new Commands(await testGpu(memory));
    const { device } = commands.gpu;
    const loads = 8;
    const vec4Count = INVOCATIONS * loads;
    const data = createTensor(device, { label: "data", sizeBytes: vec4Count * 16 });
    // Whole numbers whose sums stay below 2^24 are exact in any order.
    const values = Float32Array.from({ length: 4 * vec4Count }, (_, i) => i + 1);
    const data_R4 = createFlatOperand(device, { tensor: data, memory });
    commands.write(data, values);
    commands.refreshOperand(data_R4, data);
    const sum_C4 = createTensor(device, { label: "sums", sizeBytes: INVOCATIONS * 16 });
    const plan = readPlan(commands, { data_R4, sum_C4 });
    const sums = async (order: "lines" | "runs") => {
      commands.replay(plan, { loads, order, groups: GROUPS });
      const [bytes] = await commands.read([{ tensor: sum_C4, sizeBytes: INVOCATIONS * 16 }]);
      return [...new Float32Array(bytes ?? new ArrayBuffer(0))];
    };
    const expected = (place: (group: number, lane: number, k: number) => number) =>
      Array.from({ length: 4 * INVOCATIONS }, (_, at) => {
        const [i, component] = [Math.floor(at / 4), at % 4];
        const [group, lane] = [Math.floor(i / PEAK_LANES), i % PEAK_LANES];
        let sum = 0;
        for (let k = 0; k < loads; k++) sum += values[4 * place(group, lane, k) + component] ?? NaN;
        return sum;
      });
    const first = (group: number) => group * PEAK_LANES * loads;
    const runs = expected((group, lane, k) => first(group) + lane * loads + k);
    const lines = expected((group, lane, k) => first(group) + k * PEAK_LANES + lane);
    assertEquals(await sums("runs"), runs);
    assertEquals(await sums("lines"), lines);
    assertNotEquals(runs, lines);
  });
}

gpuTest("preparePeakBench() measures positive rates", async () => {
  const probe = preparePeakBench(await createTimer(new Commands(await testGpu())));
  const { gflops, gbPerSecond } = await probe.measure();
  probe.destroy();
  assert(gflops > 0 && gflops < Infinity, `${gflops} GFLOP/s`);
  assert(gbPerSecond > 0 && gbPerSecond < Infinity, `${gbPerSecond} GB/s`);
});

Deno.test("bestPeak() takes each rate's best", () => {
  const peaks = [{ gflops: 2, gbPerSecond: 5 }, { gflops: 3, gbPerSecond: 4 }];
  assertEquals(bestPeak(peaks), { gflops: 3, gbPerSecond: 5 });
});
