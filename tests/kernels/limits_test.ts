/**
 * Tests of sizes beyond what one loop or one dimension of a dispatch may have: a software adapter ends loops after 65,535
 * iterations without a word, and work that is longer must be cut so that it has the bits of work that is not.
 */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { MAX_ITERATIONS } from "../../src/gpu/kernel.ts";
import { createTensor, destroy, type Tensor } from "../../src/gpu/tensor.ts";
import {
  type AdamArguments,
  addClipAdam,
  addClipScale,
  addGradientReduce,
} from "../../src/kernels/clip_adam.ts";
import {
  entriesPerDispatch,
  LOGPROB_FORWARD,
  SEGMENT_ENTRIES,
  segmentCount,
} from "../../src/kernels/logprob.ts";
import { addEmbeddingForward } from "../../src/kernels/embedding.ts";
import {
  GRID_GROUPS,
  gridGroups,
  productGroups,
  productKernel,
} from "../../src/kernels/operands.ts";
import { addScoredRowsBackward, addScoredRowsForward } from "../../src/kernels/scored_rows.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { assertHolds, assertSameBits, randomF32, withRun } from "./harness.ts";
import { compareLogprobBackward, compareLogprobForward } from "./logprob.ts";

/** The vocabulary of Qwen2.5: 75 segments, the last one of 384 entries. */
const LARGE_VOCABULARY = 151_936;

/** Widths that are multiples of 16 at which a whole segment takes this many dispatches at least. */
function narrowestIn(dispatches: number): number {
  for (let width = 16;; width += 16) {
    const entries = entriesPerDispatch({ width, vocabSize: SEGMENT_ENTRIES }, 16);
    if (SEGMENT_ENTRIES / entries > dispatches - 1) return width;
  }
}

for (
  const size of [
    { width: narrowestIn(2) - 16, vocabSize: SEGMENT_ENTRIES },
    { width: narrowestIn(2), vocabSize: SEGMENT_ENTRIES },
    { width: 2304, vocabSize: SEGMENT_ENTRIES + 1 },
    { width: narrowestIn(3), vocabSize: 1000 },
    { width: 16, vocabSize: LARGE_VOCABULARY },
  ]
) {
  gpuTest(`addLogprobForward() matches the reference at ${JSON.stringify(size)}`, async () => {
    const compare = compareLogprobForward({ ...size, rowCount: 3, temperature: 0.7 });
    assertHolds(await compare(await testGpu()));
  });
}

for (
  const size of [
    { width: 2304, vocabSize: 600, temperature: 2 },
    { width: 16, vocabSize: LARGE_VOCABULARY, temperature: 0.7 },
  ]
) {
  gpuTest(`addLogprobBackward() matches the reference at ${JSON.stringify(size)}`, async () => {
    const compare = compareLogprobBackward({ ...size, rowCount: 3 });
    assertHolds(await compare(await testGpu()));
  });
}

gpuTest("logprob_forward has the same bits however its segments are cut", async () => {
  const rowCount = 3, width = 32, vocabSize = 3000;
  const gpu = await testGpu();
  const w = randomF32(vocabSize * (width + 1), { seed: 1, scale: 0.5 });
  const segments = await withRun(gpu, async (run) => {
    const given = {
      h_ND: run.rows(rowCount, width, randomF32(rowCount * width, { seed: 2 })),
      w: run.flat(w).w,
      target_N: run.tensor(Uint32Array.of(1, 2047, 2999)),
    };
    const count = 4 * rowCount * segmentCount(vocabSize);
    const found = [];
    for (const cuts of [[0, 2048], [0, 16, 1040, 2048], [0, 1024, 1536, 2048]]) {
      const tensor = run.empty(count);
      run.replay(
        { rowCount },
        (commands, plan) =>
          cuts.slice(1).forEach((end, i) =>
            plan.add(productKernel(gpu, LOGPROB_FORWARD), {
              bindings: { ...given, segments: tensor },
              launch: () => ({
                params: {
                  row_count: rowCount,
                  width4: width / 4,
                  vocab_size: vocabSize,
                  weight_offset4: 0,
                  inverse_temperature: 1,
                  first_entry: cuts[i]!,
                  entry_count: end - cuts[i]!,
                },
                workgroups: [
                  productGroups(commands.gpu, { rowCount, columnCount: 16 })[0],
                  segmentCount(vocabSize),
                ],
              }),
            })
          ),
      );
      found.push(await run.read(tensor, count));
    }
    return found;
  });
  segments.slice(1).forEach((other) => assertSameBits("segments", segments[0]!, other));
});

gpuTest("addClipScale() adds up any number of blocks", async () => {
  const gpu = await testGpu();
  const squares = randomF32(130_001, { seed: 3 }).map(Math.abs);
  await withRun(gpu, async (run) => {
    const block_squares = run.tensor(squares);
    const norms: number[] = [];
    for (const blockCount of [1, MAX_ITERATIONS - 1, MAX_ITERATIONS, 65_537, 130_001]) {
      const clip_2 = run.empty(2);
      run.replay(
        { maxNorm: 10 },
        (commands, plan) => addClipScale(commands, plan, { block_squares, clip_2, blockCount }),
      );
      const [norm, scale] = await run.read(clip_2, 2);
      const sum = squares.subarray(0, blockCount).reduce((total, x) => total + x, 0);
      // One rounding an addition, of a sum at most the last one; half of that relative error is left under the root.
      const bound = Math.sqrt(sum) * blockCount * 2 ** -25 + 1e-6;
      assertAlmostEquals(norm!, Math.sqrt(sum), bound);
      assertAlmostEquals(scale!, Math.min(1, 10 / Math.sqrt(sum)), 0.01);
      norms.push(norm!);
    }
    assert(norms.every((norm, i) => i === 0 || norm > norms[i - 1]!), `${norms}`);
  });
});

Deno.test("gridGroups() covers every count with at most 65,535 workgroups a dimension", () => {
  assertEquals(gridGroups(1, 32), [1, 1]);
  assertEquals(gridGroups(32 * GRID_GROUPS, 32), [GRID_GROUPS, 1]);
  assertEquals(gridGroups(32 * GRID_GROUPS + 1, 32), [GRID_GROUPS, 2]);
  assertEquals(gridGroups(32 * GRID_GROUPS * 3, 32), [GRID_GROUPS, 3]);
});

gpuTest("kernels over all vec4 of a batch take more than 65,535 workgroups", async () => {
  const gpu = await testGpu();
  const rowCount = 3_700, width = 2304;
  assert(rowCount * width / 4 / 32 > 65_535);
  const last = 4 * (rowCount - 1) * width;
  const row = randomF32(width, { seed: 5 });
  const size = { rowCount, scoredCount: rowCount };
  await withRun(gpu, async (run) => {
    const { commands } = run;
    const owned: Tensor[] = [];
    const zeros = (label: string) => {
      const tensor = createTensor(gpu.device, { label, sizeBytes: 4 * rowCount * width });
      commands.clear(tensor);
      owned.push(tensor);
      return tensor;
    };
    const given = zeros("given");
    const [x_ND, x_RD, do_ND] = ["embedded", "scored", "spread"].map(zeros);
    commands.submit();
    commands.write(given, row, last);
    const token_N4 = new Uint32Array(4 * rowCount);
    token_N4.set([1, 0, 0, 1], 4 * (rowCount - 1));
    const everyRow = run.tensor(Uint32Array.from({ length: rowCount }, (_, n) => n));
    const idle = run.rows(rowCount, width, new Float32Array(rowCount * width));
    run.replay(size, (commands, plan) => {
      addEmbeddingForward(commands, plan, {
        token_N4: run.tensor(token_N4),
        w: run.flat(Float32Array.of(...new Float32Array(width), ...row)).w,
        x_ND: x_ND!,
        width,
        weightOffset: 0,
      });
      const o_RD = run.rows(rowCount, width);
      addScoredRowsForward(commands, plan, {
        row_R: everyRow,
        x_ND: given,
        o_ND: idle,
        x_RD: x_RD!,
        o_RD,
        width,
      });
      addScoredRowsBackward(commands, plan, {
        place_N: everyRow,
        dx_RD: idle,
        do_RD: given,
        dx_ND: o_RD,
        do_ND: do_ND!,
        width,
      });
    });
    const results = await commands.read(
      [x_ND, x_RD, do_ND].map((tensor) => ({
        tensor: tensor!,
        offsetBytes: last,
        sizeBytes: 4 * width,
      })),
    );
    for (const bytes of results) assertEquals(new Float32Array(bytes), row);
    owned.forEach(destroy);
  });
});

gpuTest("kernels over all parameters take more than 65,535 workgroups", async () => {
  const gpu = await testGpu();
  const parameterCount = 4 * 64 * 65_536;
  await withRun(gpu, async (run) => {
    const { commands } = run;
    const owned: Tensor[] = [];
    const zeros = (label: string, floats = parameterCount) => {
      const tensor = createTensor(gpu.device, { label, sizeBytes: 4 * floats });
      commands.clear(tensor);
      owned.push(tensor);
      return tensor;
    };
    const [partials, gradient, first, second] = ["partials", "gradient", "first", "second"]
      .map((label) => zeros(label));
    const weights = zeros("weights"), clip_2 = zeros("clip", 2);
    commands.submit();
    const last = 4 * (parameterCount - 4);
    commands.write(partials!, Float32Array.of(1, 2, 3, 4), last);
    commands.write(clip_2, Float32Array.of(1, 1));
    run.replay({ accumulate: false }, (commands, plan) =>
      addGradientReduce(commands, plan, {
        partials: partials!,
        gradient: gradient!,
        chunkStride: 0, // The eight chunks are one and the same.
        ranges: [{ length: parameterCount, partialOffset: 0, gradientOffset: 0 }],
      }));
    const adam = { learningRate: 0.5, beta1: 0, beta2: 0, epsilon: 0, step: 1 };
    run.replay<AdamArguments>({ adam }, (commands, plan) =>
      addClipAdam(commands, plan, {
        gradient: gradient!,
        first: first!,
        second: second!,
        weights,
        refused: zeros("refused", parameterCount / 4),
        clip_2,
        parameterCount,
      }));
    const reads = [gradient!, weights].map((tensor) => ({
      tensor,
      offsetBytes: last,
      sizeBytes: 16,
    }));
    const [reduced, moved] = await commands.read(reads);
    assertEquals([...new Float32Array(reduced!)], [8, 16, 24, 32]);
    assertEquals([...new Float32Array(moved!)], [-0.5, -0.5, -0.5, -0.5]);
    owned.forEach(destroy);
  });
});
