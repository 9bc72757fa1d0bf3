/** Holds the pairing of blocks to hand numbers. */
import { assertAlmostEquals, assertEquals } from "@std/assert";
import { pairCosines } from "../../src/lab/gradient_noise.ts";

Deno.test("pairCosines() adds blocks up to batches and pairs neighbours", () => {
  const blocks = [[1, 0], [0, 1], [1, 1], [1, 0], [9, 9]];
  const single = pairCosines(blocks, 1);
  assertEquals(single.length, 2); // The fifth block has no partner.
  assertAlmostEquals(single[0], 0, 1e-15);
  assertAlmostEquals(single[1], Math.SQRT1_2, 1e-15);
  // (1, 1) against (2, 1).
  const [double, ...none] = pairCosines(blocks, 2);
  assertAlmostEquals(double, 3 / Math.sqrt(10), 1e-15);
  assertEquals(none, []);
  assertEquals(pairCosines(blocks, 3), []);
});
