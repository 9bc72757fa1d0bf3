/** Tests of the kernel of grouped attention: groups, sequences side by side, and keys over more than one segment. */
import { assertAlmostEquals } from "@std/assert";
import { groupedAttentionForward } from "../../src/reference/grouped_attention.ts";
import { KEY_SEGMENT } from "../../src/kernels/grouped_attention.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { compareGroupedAttentionForward } from "./grouped_attention.ts";
import { assertHolds, assertHoldsInBothMemories } from "./harness.ts";

Deno.test("groupedAttentionForward() gives each group of queries its own keys", () => {
  // Scores of row 1: of head 0 ln 3 and 0 against the first group, of head 1 equal ones against the second.
  const o = groupedAttentionForward([1, 1, 1, 1], {
    rowCount: 2,
    headCount: 2,
    groupCount: 2,
    headWidth: 1,
    first_N: [0, 0],
    k_NGK: [Math.log(3), 5, 0, 5],
    v_NGK: [4, 10, 8, 20],
  });
  [4, 10, 5, 15].forEach((value, i) => assertAlmostEquals(o[i]!, value, 1e-12));
});

gpuTest("addGroupedAttentionForward() matches the reference", async () => {
  // An invocation owns three heads of a group of five, then the two that are left.
  const shape = { headCount: 10, groupCount: 2, headWidth: 40, length_B: [5, 1, 12] };
  await assertHoldsInBothMemories(compareGroupedAttentionForward(shape));
});

gpuTest("addGroupedAttentionForward() takes heads of 256, one an invocation", async () => {
  const shape = { headCount: 2, groupCount: 1, headWidth: 256, length_B: [2, 7] };
  assertHolds(await compareGroupedAttentionForward(shape)(await testGpu()));
});

gpuTest("addGroupedAttentionForward() merges segments of keys in order", async () => {
  const length_B = [3, 2 * KEY_SEGMENT + 1];
  const shape = { headCount: 2, groupCount: 1, headWidth: 8, length_B };
  assertHolds(await compareGroupedAttentionForward(shape)(await testGpu()));
});
