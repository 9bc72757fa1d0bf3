/** Tests of the benchmark's baseline: it stores the logits and has the bits of the fused kernels all the same. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { createLogprobInputs, uploadLogprob } from "../../src/bench/logprob_inputs.ts";
import { fusedPath, type LogprobPath, unfusedPath } from "../../src/bench/logprob_paths.ts";
import { paddedVocabulary } from "../../src/bench/unfused_logprob.ts";
import { gpuTest, MEMORIES, testGpu } from "../gpu/gpu_test_device.ts";
import { assertSameBits, roundoffs } from "../kernels/harness.ts";

/** Rows and entries that end within blocks, tiles, slices and segments. */
const SIZES = [
  { rowCount: 150, width: 64, vocabSize: 60 },
  { rowCount: 67, width: 32, vocabSize: 4101 },
];

/** Inputs on the device, and what a way makes of them. */
function prepare(commands: Commands, sizes: typeof SIZES[number]) {
  const inputs = createLogprobInputs(sizes);
  const tensors = uploadLogprob(commands, sizes, inputs);
  commands.write(tensors.dresult_N2, inputs.dresult_N2);
  const run = async (path: LogprobPath) => {
    path.forward();
    path.backward();
    const read = await commands.read([
      { tensor: tensors.result_N4, sizeBytes: 16 * sizes.rowCount },
      { tensor: tensors.dh_ND, sizeBytes: 4 * inputs.h_ND.length },
      { tensor: tensors.gradient, sizeBytes: 4 * inputs.head.length },
    ]);
    path.free();
    const [result_N4, dh_ND, dhead] = read.map((bytes) => new Float32Array(bytes));
    return { result_N4: result_N4!, dh_ND: dh_ND!, dhead: dhead! };
  };
  return { tensors, run };
}

for (const sizes of SIZES) {
  const name = `N=${sizes.rowCount}, V=${sizes.vocabSize}`;
  gpuTest(`unfusedPath() has the bits of fusedPath() in both memories at ${name}`, async () => {
    for (const memory of MEMORIES) {
      const commands = new Commands(await testGpu(memory));
      const { tensors, run } = prepare(commands, sizes);
      const fused = await run(fusedPath(commands, tensors));
      commands.clear(tensors.gradient);
      const unfused = await run(unfusedPath(commands, tensors));
      tensors.free();
      assertSameBits("result_N4", unfused.result_N4, fused.result_N4);
      assertSameBits("dh_ND", unfused.dh_ND, fused.dh_ND);
      assertSameBits("dhead", unfused.dhead, fused.dhead);
      assert(fused.dhead.every((x) => Number.isFinite(x)) && fused.dhead.some((x) => x > 0.1));
    }
  });
}

gpuTest("unfusedPath() computes the same in slices of rows", async () => {
  const commands = new Commands(await testGpu());
  const [sizes] = SIZES;
  const { tensors, run } = prepare(commands, sizes!);
  const whole = await run(unfusedPath(commands, tensors));
  // 64 rows of 64 columns: slices of 64, 64 and 22 rows.
  const path = unfusedPath(commands, tensors, { bindingBytes: 4 * 64 * 64 });
  const sliced = await run(path);
  tensors.free();
  assertSameBits("result_N4", sliced.result_N4, whole.result_N4);
  assertSameBits("dh_ND", sliced.dh_ND, whole.dh_ND);
  // Rows are added in other chunks; a product of a row's gradient and hidden state is at most 2 · √3 · (1 + 2 · log V).
  const term = 2 * Math.sqrt(3) * (1 + 2 * Math.log(sizes!.vocabSize));
  const bound = roundoffs(sizes!.rowCount) * sizes!.rowCount * term;
  const largest = Math.max(...whole.dhead.map((x, i) => Math.abs(x - sliced.dhead[i]!)));
  assert(largest > 0, "the sums were not cut in another way");
  assert(!(largest > bound) && whole.dhead.some((x) => x > 100 * bound), `${largest}, ${bound}`);
});

gpuTest("unfusedPath() says what does not fit", async () => {
  const commands = new Commands(await testGpu());
  const { tensors } = prepare(commands, { rowCount: 2, width: 32, vocabSize: 60 });
  const shape = { ...tensors.shape, vocabSize: 40_000 };
  const sentence =
    "Cannot allocate logit gradients: a texture of 10000×2 exceeds the limit of 8192";
  assertThrows(() => unfusedPath(commands, { ...tensors, shape }), UserError, sentence);
  tensors.free();
});

Deno.test("paddedVocabulary() fills the last block of 16", () => {
  assertEquals([1, 16, 60, 4101].map(paddedVocabulary), [16, 16, 64, 4112]);
});
