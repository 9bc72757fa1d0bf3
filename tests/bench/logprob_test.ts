/** Tests of the log-prob benchmark: its check can fail, memory is counted, and the largest vocabulary fits. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { LOGPROB_MERGE } from "../../src/kernels/logprob.ts";
import { rowKernel } from "../../src/kernels/operands.ts";
import {
  FUSED_BYTES_BAR,
  LOGPROB_BENCH,
  LOGPROB_TOLERANCE,
  prepareLogprobCase,
} from "../../src/bench/logprob.ts";
import { createLogprobInputs, uploadLogprob } from "../../src/bench/logprob_inputs.ts";
import { fusedPath } from "../../src/bench/logprob_paths.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

for (const vocabSize of [60, 4100]) {
  gpuTest(`prepareLogprobCase() holds both ways to the reference at V=${vocabSize}`, async () => {
    const commands = new Commands(await testGpu());
    const sizes = { rowCount: 600, width: 64, vocabSize };
    const { checkedRows, fused, unfused, unfusedRefusal, free } = await prepareLogprobCase(
      commands,
      sizes,
    );
    assertEquals(unfusedRefusal, null);
    // 2^21 / 4,100 rows have room in the check.
    assertEquals(checkedRows, vocabSize === 60 ? 600 : 511);
    for (const path of [fused, unfused!]) {
      for (const [name, tolerance] of Object.entries(LOGPROB_TOLERANCE)) {
        const error = path.errors[name as keyof typeof path.errors];
        assert(error > 0 && error <= tolerance, `${name}: ${error}`);
      }
      const { forwardMs, backwardMs } = await path.run();
      assert(forwardMs > 0 && backwardMs > 0);
    }
    free();
    const logitsBytes = 4 * sizes.rowCount * vocabSize;
    assert(unfused!.workspaceBytes > 2 * logitsBytes, `${unfused!.workspaceBytes}`);
    // Below one tile of the vocabulary there is nothing to save.
    assertEquals(fused.workspaceBytes < logitsBytes, vocabSize === 4100);
  });
}

gpuTest("prepareLogprobCase() refuses kernels that disagree with the reference", async () => {
  const gpu = await testGpu();
  const kernels = [...gpu.kernels].filter(([key]) => !key.startsWith("logprob_merge "));
  const mutant = { ...gpu, kernels: new Map(kernels) };
  const wgsl = LOGPROB_MERGE.wgsl.replace(
    "params.inverse_temperature, -lse)",
    "params.inverse_temperature, -1.0001 * lse)",
  );
  rowKernel(mutant, { ...LOGPROB_MERGE, wgsl });
  await assertRejects(
    () => prepareLogprobCase(new Commands(mutant), { rowCount: 8, width: 32, vocabSize: 60 }),
    Error,
    "disagree with the float64 reference at V=60: logp is off by",
  );
});

gpuTest("fusedPath() needs less than the bar at every vocabulary that is measured", async () => {
  const commands = new Commands(await testGpu());
  for (const vocabSize of LOGPROB_BENCH.vocabSizes) {
    const sizes = { ...LOGPROB_BENCH, vocabSize };
    const tensors = uploadLogprob(commands, sizes, createLogprobInputs(sizes));
    const { workspaceBytes, free } = fusedPath(commands, tensors);
    free();
    tensors.free();
    assert(workspaceBytes > 2 ** 19 && workspaceBytes <= FUSED_BYTES_BAR, `${workspaceBytes}`);
  }
});

gpuTest(
  "prepareLogprobCase() is right at 151,936 words, and says why [N, V] does not fit",
  async () => {
    const commands = new Commands(await testGpu());
    const { checkedRows, fused, unfused, unfusedRefusal, free } = await prepareLogprobCase(
      commands,
      {
        rowCount: 5,
        width: 32,
        vocabSize: 151_936,
      },
    );
    free();
    assertEquals(checkedRows, 5);
    assert(fused.errors.dhead > 0);
    assert(unfused === null && /would take 6 MB. Cannot allocate/.test(unfusedRefusal!));
  },
);
