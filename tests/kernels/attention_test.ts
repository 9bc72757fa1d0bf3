/** Tests of the attention kernels: every width and head count, ragged episodes up to 200 tokens, decoding against a cache. */
import { assert } from "@std/assert";
import { MAX_ITERATIONS } from "../../src/gpu/kernel.ts";
import { ATTENTION_BACKWARD_QUERY } from "../../src/kernels/attention.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import {
  compareAttentionBackward,
  compareAttentionDecode,
  compareAttentionForward,
  compareQkvForward,
} from "./attention.ts";
import { assertHolds, assertHoldsInBothMemories } from "./harness.ts";

/** Heads of 4, 16, 32 and 128 columns: each other width takes seconds to compile. */
const HEAD_COUNTS = {
  32: [1, 8],
  64: [4],
  96: [3],
  128: [1],
};

/** Episodes that differ in length, one of a single token among them. */
const LENGTHS = [3, 1, 7, 9];

for (const [key, headCounts] of Object.entries(HEAD_COUNTS)) {
  const width = Number(key);
  gpuTest(
    `addQkvForward() turns queries and keys as the reference does at width ${width}`,
    async () => {
      for (const headCount of headCounts) {
        await assertHoldsInBothMemories(compareQkvForward({ lengths: LENGTHS, width, headCount }));
      }
    },
  );
  gpuTest(`addAttentionForward() matches the reference at width ${width}`, async () => {
    for (const headCount of headCounts) {
      const size = { lengths: LENGTHS, width, headCount };
      await assertHoldsInBothMemories(compareAttentionForward(size));
    }
  });
  gpuTest(`addAttentionBackward() matches the reference at width ${width}`, async () => {
    for (const headCount of headCounts) {
      const size = { lengths: LENGTHS, width, headCount };
      await assertHoldsInBothMemories(compareAttentionBackward(size));
    }
  });
  gpuTest(
    `addAttentionDecode() gives the bits of the packed forward at width ${width}`,
    async () => {
      const size = { lengths: [5, 5, 5], width, headCount: headCounts.at(-1)! };
      await assertHoldsInBothMemories(compareAttentionDecode(size));
    },
  );
}

for (const lengths of [[1], [2], [64, 65], [200, 3]]) {
  const size = { lengths, width: 64, headCount: 4 };
  gpuTest(
    `addAttentionForward() and Backward() match the reference at lengths ${lengths}`,
    async () => {
      await assertHoldsInBothMemories(compareAttentionForward(size));
      if (lengths.length > 1) await assertHoldsInBothMemories(compareAttentionBackward(size));
    },
  );
}

gpuTest(
  "addAttentionForward() and Backward() match the reference when values are far from 0",
  async () => {
    const size = { lengths: LENGTHS, width: 64, headCount: 4, valueOffset: 100 };
    await assertHoldsInBothMemories(compareAttentionForward(size));
    await assertHoldsInBothMemories(compareAttentionBackward(size));
  },
);

gpuTest(
  "addAttentionForward() and Backward() match the reference at the longest loops that are allowed",
  async () => {
    const shape = { width: 128, headCount: 1 };
    const of = (length: number) => (name: string) =>
      name === "HEAD_WIDTH4" ? shape.width / 4 : length;
    let length = 1;
    while (ATTENTION_BACKWARD_QUERY.iterations(of(length + 1)) <= MAX_ITERATIONS) length++;
    assert(length > 800);
    const size = { ...shape, lengths: [length] };
    assertHolds(await compareAttentionForward(size)(await testGpu()));
    assertHolds(await compareAttentionBackward(size)(await testGpu()));
  },
);

gpuTest("addAttentionDecode() gives the bits of the packed forward up to 30 tokens", async () => {
  const size = { lengths: [30, 30], width: 64, headCount: 4 };
  await assertHoldsInBothMemories(compareAttentionDecode(size));
});
