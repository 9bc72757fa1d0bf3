/** Holds the aggregation experiment to the tutorial's weight table and to hand numbers, and runs it on an agent that it clones. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { AGGREGATION_MODES } from "../../src/equations/aggregate.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { compiledGym, probeEpisodes } from "../../src/lab/agents.ts";
import { AGGREGATION, measurePushes, printedWeights } from "../../src/lab/aggregation.ts";
import { createLabContext } from "../../src/lab/experiment.ts";
import {
  BASE_AGENTS,
  cloneBehaviour,
  CLONING,
  playDemonstrations,
} from "../../src/rl/base_agent.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
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

gpuTest(
  "AGGREGATION holds what it promises on episodes of an agent that is cloned for it",
  async () => {
    const commands = new Commands(await testGpu());
    const seed = 0;
    const context = createLabContext(commands, { seed, quick: true });
    const { mix } = BASE_AGENTS.plain;
    const demonstrations = await playDemonstrations(await compiledGym(context, "chapter6"), {
      mix,
      seed,
    });
    assertEquals(demonstrations.length, 320);
    // A tenth of the steps is enough for calls that are mostly well-formed: all of them take ten seconds.
    const steps = CLONING.steps / 10;
    const progress: number[] = [];
    const cloned_W = await context.shared(
      `base agent plain  ${seed}`,
      () =>
        cloneBehaviour(commands, {
          demonstrations,
          seed,
          steps,
          onProgress: (n) => progress.push(n),
        }),
    );
    assertEquals(progress.at(-1), steps);
    const { batch, weights_W } = await probeEpisodes(context);
    assertEquals(weights_W, cloned_W);
    const infos = batch.trajectories.map(({ info }) => info);
    const sum = (of: "turns" | "malformed") => infos.reduce((total, info) => total + info[of], 0);
    assert(
      sum("malformed") < 0.5 * sum("turns"),
      `${sum("malformed")} of ${sum("turns")} malformed`,
    );
    const { checks, tables } = await AGGREGATION.run(context);
    assertEquals(checks.map(({ holds }) => holds), [true, true, true, true]);
    const rows = tables[2].rows;
    assert(rows.every(([, , ours]) => Number(ours) > 0), JSON.stringify(rows));
  },
);
