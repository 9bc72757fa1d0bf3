/** Tests of the counted work and its least time, by hand for a model of two layers. */
import { assertEquals } from "@std/assert";
import { boundMs, rolloutWork, updateWork } from "../../src/bench/roofline.ts";

const CONFIG = { vocabSize: 10, width: 16, headCount: 1, feedForwardWidth: 32, layerCount: 2 };
/** Per token and layer: 2 operations for each weight of qkv, and of proj, fc and out. */
const QKV_FLOPS = 2 * 16 * 48;
const ROW_FLOPS = 2 * (16 * 16 + 16 * 32 + 32 * 16);
const HEAD_FLOPS = 2 * 16 * 10;
/** Weights and biases of a block: two LayerNorms, qkv, proj, fc, out. */
const BLOCK = 2 * 32 + 768 + (256 + 16) + (512 + 32) + (512 + 16);
/** Without the token table: blocks, last LayerNorm, head. */
const TRUNK_AND_HEAD = 2 * BLOCK + 32 + (160 + 10);

Deno.test("updateWork() counts an update of two episodes by hand", () => {
  // Episodes of 3 and 1 tokens: 4 tokens, 2 of them scored, and (1 + 2 + 3) + 1 = 7 pairs of a query and a key.
  const products = 4 * (2 * QKV_FLOPS + ROW_FLOPS) + 2 * (ROW_FLOPS + HEAD_FLOPS);
  const perPair = 7 * 16 * 2; // Columns of both layers.
  assertEquals(updateWork(CONFIG, { length_B: [3, 1], sampledCount: 2 }), {
    forward: { flops: products + 4 * perPair, bytes: 0 },
    backward: { flops: 2 * products + (6 + 8) * perPair, bytes: 0 },
    // The norm reads the gradient; Adam reads four arrays and writes three.
    optimizer: { flops: 0, bytes: (1 + 4 + 3) * 4 * (10 * 16 + TRUNK_AND_HEAD) },
  });
});

Deno.test("rolloutWork() leaves out last tokens, and what is behind the last attention where nothing is sampled", () => {
  // Of episodes of 3 and 1 tokens, 2 and 0 are computed: 1 + 2 pairs. One token was sampled.
  const { flops, bytes } = rolloutWork(CONFIG, { length_B: [3, 1], sampledCount: 1 });
  const products = 2 * (2 * QKV_FLOPS + ROW_FLOPS) + ROW_FLOPS + HEAD_FLOPS;
  assertEquals(flops, products + 4 * 3 * 16 * 2);
  // Two positions read the weights; a key and a value of 16 floats in each layer for each pair.
  assertEquals(bytes, 2 * 4 * TRUNK_AND_HEAD + 3 * 2 * (2 * 16) * 4);
});

Deno.test("boundMs() adds up the slower bound of each pass", () => {
  const passes = [{ flops: 3e6, bytes: 2e6 }, { flops: 1e6, bytes: 8e6 }];
  // 3 ms of operations against 1 ms of reading, then 1 ms against 4 ms.
  assertEquals(boundMs(passes, { gflops: 1, gbPerSecond: 2 }), 3 + 4);
});
