/** Tests of the kernels that read stored weights: every storage, slices, ragged columns, many segments. */
import { assertEquals } from "@std/assert";
import { createWordOperand, destroy, writeTexels } from "../../src/gpu/tensor.ts";
import { SEGMENT_ENTRIES } from "../../src/kernels/logprob.ts";
import { storedEntriesPerDispatch } from "../../src/kernels/stored_weights.ts";
import { widenF16 } from "../../src/model/weight_values.ts";
import { bf16Value, f16Value } from "../../src/reference/stored_weights.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { assertHolds, assertHoldsInBothMemories } from "./harness.ts";
import {
  compareStoredEmbeddingForward,
  compareStoredLinearForward,
  compareStoredLogprobForward,
} from "./stored_weights.ts";

const STORAGES = ["f32", "bf16", "f16"] as const;

Deno.test("bf16Value() and f16Value() know signs, small numbers and the largest", () => {
  assertEquals([0x3f80, 0xc040, 0x0001, 0x7f7f].map(bf16Value), [
    1,
    -3,
    2 ** -133,
    (2 - 2 ** -7) * 2 ** 127,
  ]);
  assertEquals([0x3c00, 0xc200, 0x0001, 0x83ff, 0x7bff].map(f16Value), [
    1,
    -3,
    2 ** -24,
    -1023 * 2 ** -24,
    65504,
  ]);
  assertEquals([bf16Value(0x7fc0), f16Value(0x7c00)], [NaN, Infinity]);
});

Deno.test("widenF16() has every value of f16Value()", () => {
  const bits = Uint16Array.from({ length: 0x10000 }, (_, i) => i)
    .filter((half) => (half & 0x7c00) !== 0x7c00);
  assertEquals(widenF16(bits), Float32Array.from(bits, f16Value));
});

gpuTest("addStoredLinearForward() matches the reference in every storage", async () => {
  const shape = { rowCount: 9, width: 40, sliceRows: [32, 20] };
  for (const storage of STORAGES) {
    const accumulate = storage !== "f32";
    await assertHoldsInBothMemories(compareStoredLinearForward({ ...shape, storage, accumulate }));
  }
});

gpuTest("addStoredEmbeddingForward() copies rows of every slice and storage", async () => {
  for (const storage of STORAGES) {
    const shape = { rowCount: 11, width: 24, sliceRows: [5, 1, 7], storage };
    await assertHoldsInBothMemories(compareStoredEmbeddingForward(shape));
  }
});

gpuTest("addStoredLogprobForward() matches the reference over slices of segments", async () => {
  const sliceRows = [SEGMENT_ENTRIES, 77];
  const shape = { rowCount: 3, width: 16, temperature: 0.7, sliceRows, storage: "bf16" } as const;
  await assertHoldsInBothMemories(compareStoredLogprobForward(shape));
});

gpuTest("addStoredLogprobForward() takes wide rows in more than one dispatch", async () => {
  const width = 4096;
  assertEquals(Math.ceil(SEGMENT_ENTRIES / storedEntriesPerDispatch(width, 16)) > 1, true);
  const shape = { rowCount: 1, width, temperature: 2, sliceRows: [1300], storage: "bf16" } as const;
  // The entropy of so wide rows has a bound that is wider than the entropy.
  const [logp] = await compareStoredLogprobForward(shape)(await testGpu());
  assertHolds([logp!]);
});

gpuTest("writeTexels() refuses what is no whole texel or lies outside", async () => {
  const { device } = await testGpu();
  const words = createWordOperand(device, { label: "w", texelCount: 1024, memory: "texture" });
  for (const [texel, length] of [[0, 8], [1023, 32]] as const) {
    let message = "";
    try {
      writeTexels(device, words, { texel, bytes: new Uint8Array(length) });
    } catch (error) {
      message = String(error);
    }
    assertEquals(message.includes(`Cannot write ${length} bytes at texel ${texel} of w`), true);
  }
  destroy(words);
});
