/** Tests of the experiments of debugging: the comparison of reruns, the table of rare tokens, and two on the golden agent. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { MetricsRow } from "../../src/rl/metrics.ts";
import { BISECT_VERSIONS } from "../../src/lab/bisect_versions.ts";
import { createLabContext, type LabContext } from "../../src/lab/experiment.ts";
import { clippedTokens, RARE_TOKENS } from "../../src/lab/rare_tokens.ts";
import { identicalSteps, rerunDistance } from "../../src/lab/rerun_spread.ts";
import { openBench } from "../faults/small_runs.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";

/** Rows with the metrics that a comparison of runs looks at. */
function row(values: Partial<MetricsRow>): MetricsRow {
  return { step: 0, reward: 0.5, grad_norm: 0.2, ...values } as MetricsRow;
}

/** A lab whose base agent of the debugging runs is the golden one, so that nothing is cloned. */
async function goldenContext(): Promise<LabContext> {
  const { commands, agent } = await openBench();
  const context = createLabContext(commands, { seed: 0, quick: true });
  return {
    ...context,
    shared: <T>(key: string, make: () => Promise<T>): Promise<T> =>
      key.startsWith("base agent rl")
        ? Promise.resolve(agent.weights_W as T) // What this key names.
        : context.shared(key, make),
  };
}

Deno.test("identicalSteps() compares bits and leaves evaluations out", () => {
  const run = [row({ eval_pass: 0.4, eval_pass_low: 0.3, eval_pass_high: 0.5 }), row({ step: 1 })];
  assertEquals(identicalSteps(run, [row({}), row({ step: 1 })]), 2);
  assertEquals(identicalSteps(run, [row({}), row({ step: 1, grad_norm: 0.2 + 2 ** -40 })]), 1);
  assertEquals(identicalSteps(run, [row({ loss: -0 })]), 1);
  assertEquals(identicalSteps([row({ loss: 0 })], [row({ loss: -0 })]), 0);
  assertEquals(identicalSteps([row({ loss: NaN })], [row({ loss: NaN })]), 1);
});

Deno.test("rerunDistance() counts equal rewards and takes the largest difference of gradient norms", () => {
  const run = [row({}), row({ step: 1, reward: 0.25, grad_norm: 0.5 })];
  const rerun = [row({ grad_norm: 0.3 }), row({ step: 1, reward: 0.5, grad_norm: 0.25 })];
  assertEquals(rerunDistance(run, rerun), {
    identicalSteps: 0,
    equalRewards: 1,
    gradNormDifference: 0.25,
  });
  // A rerun that ended early is not near.
  assert(Number.isNaN(rerunDistance(run, rerun.slice(0, 1)).gradNormDifference));
});

Deno.test("clippedTokens() counts ratios above the clip among the chosen tokens alone", () => {
  const tokens = { samplerProbability: [0.1, 0.4, 0.5, 0.9], ratio: [1.5, 1.1, 1.3, 0.9] };
  const rare = clippedTokens(tokens, { isChosen: (p) => p < 0.5, clipHigh: 0.2 });
  assertEquals([rare.tokens, rare.clippedShare], [2, 0.5]);
  assertAlmostEquals(rare.meanRatio, 1.3, 1e-15);
  const wide = clippedTokens(tokens, { isChosen: () => true, clipHigh: 0.6 });
  assertEquals([wide.tokens, wide.clippedShare], [4, 0]);
  const none = clippedTokens(tokens, { isChosen: () => false, clipHigh: 0.2 });
  assert(none.tokens === 0 && Number.isNaN(none.meanRatio) && Number.isNaN(none.clippedShare));
});

gpuTest("bisect_versions finds the version that broke in three tests", async () => {
  const { checks, data } = await BISECT_VERSIONS.run(await goldenContext());
  assert(checks.every(({ holds }) => holds), JSON.stringify(checks));
  assertEquals(data, { firstBad: 3, tested: [3, 1, 2], failing: [[8, 13, 15], [], []] });
});

gpuTest("rare_tokens clips rare tokens before any update, and never a common one", async () => {
  const { checks, tables } = await RARE_TOKENS.run(await goldenContext());
  assert(checks.length === 3 && checks.every(({ holds }) => holds), JSON.stringify(checks));
  const counts = tables[0].rows.filter(([, quantity]) => quantity === "tokens with A > 0");
  assert(counts.every(([, , , tokens]) => Number(tokens) > 0));
});
