/** Tests of gradient reduction, norm, clip and Adam over the flat parameters. */
import { assert, assertEquals } from "@std/assert";
import { addGradientReduce } from "../../src/kernels/clip_adam.ts";
import { ROW_CHUNKS } from "../../src/kernels/operands.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { compareClipAdam, stepWithGradient } from "./clip_adam.ts";
import {
  assertHolds,
  assertHoldsInBothMemories,
  assertSameBits,
  randomF32,
  roundoffs,
  withRun,
} from "./harness.ts";

gpuTest("addClipAdam() matches the reference around a block of the norm", async () => {
  for (const parameterCount of [1, 7, 4095, 4096, 4097, 3 * 4096 + 5]) {
    for (const maxNorm of [0.05, 1e6]) {
      await assertHoldsInBothMemories(compareClipAdam({ parameterCount, maxNorm, step: 3 }));
    }
  }
});

gpuTest("addClipAdam() corrects the bias of the first step and of a late one", async () => {
  for (const step of [1, 1000]) {
    const compare = compareClipAdam({ parameterCount: 101, maxNorm: 0.5, step });
    await assertHoldsInBothMemories(compare);
  }
});

for (const bad of [NaN, Infinity, -Infinity, 3e38]) {
  gpuTest(`addClipAdam() changes nothing when a gradient is ${bad}`, async () => {
    const gradient_W = randomF32(5000, { seed: 9 });
    gradient_W[4502] = bad;
    const { norm, factor, before, after, notFinite } = await stepWithGradient(
      await testGpu(),
      gradient_W,
    );
    const value = Number.isNaN(bad) ? "NaN" : "an infinity";
    assertEquals(notFinite, bad === 3e38 ? undefined : { index: 4502, value });
    assert(!Number.isFinite(norm), `the norm is ${norm}`);
    assertEquals(factor, 0);
    assertSameBits("first", after.m_W, before.m_W);
    assertSameBits("second", after.v_W, before.v_W);
    assertSameBits("weights", after.weight_W, before.weight_W);
  });
}

gpuTest(
  "addGradientReduce() adds the chunks of a range and leaves its neighbours alone",
  async () => {
    const length = 13, chunkStride = 24;
    const partials = randomF32(ROW_CHUNKS * chunkStride, { seed: 1 });
    const held = randomF32(32, { seed: 2, offset: 3 });
    for (const accumulate of [false, true]) {
      const expected = Array.from(held, (value, i) => {
        if (i < 8 || i >= 8 + length) return value;
        let sum = accumulate ? value : 0;
        for (let c = 0; c < ROW_CHUNKS; c++) sum += partials[c * chunkStride + 4 + i - 8]!;
        return sum;
      });
      const actual = await withRun(await testGpu(), async (run) => {
        const gradient = run.tensor(held);
        run.replay({ accumulate }, (commands, plan) =>
          addGradientReduce(commands, plan, {
            partials: run.tensor(partials),
            gradient,
            chunkStride,
            ranges: [{ length, partialOffset: 4, gradientOffset: 8 }],
          }));
        return await run.read(gradient, held.length);
      });
      // Nine terms, the held one below 4 and eight below 1.
      const bound = expected.map((_, i) => i < 8 || i >= 8 + length ? 0 : roundoffs(9) * 12);
      assertHolds([{ name: "gradient", actual, expected, bound }]);
    }
  },
);
