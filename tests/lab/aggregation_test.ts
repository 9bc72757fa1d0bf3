/** Holds the aggregation experiment to the tutorial's weight table and to hand numbers. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { AGGREGATION_MODES } from "../../src/equations/aggregate.ts";
import { measurePushes, printedWeights } from "../../src/lab/aggregation.ts";
import { handBatch } from "./hand_batch.ts";

Deno.test("printedWeights() are the tutorial's, digit by digit", () => {
  assertEquals(AGGREGATION_MODES.map((mode) => printedWeights(mode).join(" ")), [
    "0.0278 0.0278 0.0278 0.111 0.222 0.667",
    "0.3333 0.3333 0.3333 1.333 2.667 8.000",
    "0.0833 0.0417 0.0139 0.333 0.333 0.333",
    "0.0139 0.0139 0.0139 0.056 0.111 0.333",
  ]);
});

Deno.test("measurePushes() weighs outcomes by length, or alike", () => {
  // One success of 7 policy tokens, failures of 3 and 10; the mean reward is 1/3.
  const batch = handBatch();
  const tokenMean = measurePushes(batch, "token_mean");
  assertAlmostEquals(tokenMean.up, 2 / 3 * 7 / 20, 1e-15);
  assertAlmostEquals(tokenMean.down, 1 / 3 * 13 / 20, 1e-15);
  assertAlmostEquals(tokenMean.longToShort, 1, 1e-15);
  const sum = measurePushes(batch, "seq_mean_token_sum");
  assertAlmostEquals(sum.down, 1 / 3 * 13 / 3, 1e-15);
  const balanced = measurePushes(batch, "seq_mean_token_mean");
  assertAlmostEquals(balanced.up, balanced.down, 1e-15);
  assertAlmostEquals(balanced.longToShort, 3 / 10, 1e-15);
  assert(balanced.up > 0.1);
});
