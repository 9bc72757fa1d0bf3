/** Holds norms, sums and variances of single episodes' gradients to each other, and the experiments that use them. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import type { Probe, Weights } from "../../src/lab/agents.ts";
import {
  BASELINES_AGENT,
  optimalBaseline,
  type ScoreStatistics,
  varianceAt,
} from "../../src/lab/baselines_agent.ts";
import { EpisodeGradients, scaledMask, varianceOf } from "../../src/lab/episode_gradients.ts";
import { createLabContext } from "../../src/lab/experiment.ts";
import { dot } from "../../src/core/vectors.ts";
import { ZERO_ADVANTAGE } from "../../src/lab/zero_advantage.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { initialValues } from "../../src/model/parameters.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { randomArray } from "../reference/central_difference.ts";
import { handBatch } from "./hand_batch.ts";

/** A gradient of a small batch in f32: some hundred roundings of 6e-8 in a row. */
const TOLERANCE = 1e-5;

/** Statistics of vectors, from their definition. */
function statisticsOf(vectors: readonly Float64Array[], rewards: readonly number[]) {
  const sum = (weight: (b: number) => number) =>
    vectors[0].map((_, w) => vectors.reduce((total, g, b) => total + weight(b) * g[w], 0));
  const squares = (weight: (b: number) => number) =>
    vectors.reduce((total, g, b) => total + weight(b) * dot(g, g), 0);
  const g = sum(() => 1), rg = sum((b) => rewards[b]);
  return {
    squares: [squares(() => 1), squares((b) => rewards[b]), squares((b) => rewards[b] ** 2)],
    sums: [dot(g, g), dot(g, rg), dot(rg, rg)],
    episodeCount: vectors.length,
  } satisfies ScoreStatistics;
}

Deno.test("varianceAt() is the trace of the covariance of (R - b) g, and smallest near b*", () => {
  const vectors = [1, 2, 3, 4, 5].map((seed) => randomArray(7, { seed, offset: 0.2 }));
  const rewards = [1, 0, 0.5, 0, 1];
  const statistics = statisticsOf(vectors, rewards);
  for (const b of [-1, 0, 0.4, 1]) {
    const weighted = vectors.map((g, i) => g.map((x) => (rewards[i] - b) * x));
    const expected = weighted[0].reduce((total, _, w) => {
      const column = weighted.map((x) => x[w]);
      const center = column.reduce((a, c) => a + c, 0) / column.length;
      return total + column.reduce((a, c) => a + (c - center) ** 2, 0) / (column.length - 1);
    }, 0);
    assertAlmostEquals(varianceAt(statistics, b), expected, 1e-12);
  }
  const best = optimalBaseline(statistics);
  assert(best > 0 && best < 1);
  assert(varianceAt(statistics, best) < varianceAt(statistics, 1));
});

Deno.test("varianceOf() refuses a single gradient", () => {
  assertThrows(() => varianceOf([1], 1), RangeError, "variance of 1 gradients");
});

gpuTest("EpisodeGradients agree with each other: norms, sums and variance", async () => {
  const commands = new Commands(await testGpu());
  const batch = handBatch();
  const gradients = new EpisodeGradients(commands, initialValues(TINY_AGENT, 1), batch);
  const scale = [0.7, -0.4, 2];
  const weight_BC = scaledMask(batch, scale);
  const norms = await gradients.squaredNorms(weight_BC);
  const singles: Weights[] = [];
  for (const b of [0, 1, 2]) singles.push(await gradients.sum(weight_BC, [b]));
  norms.forEach((square, b) => {
    const expected = dot(singles[b], singles[b]);
    assert(expected > 1);
    assert(Math.abs(square - expected) <= TOLERANCE * expected, `${square} and ${expected}`);
  });
  const whole = await gradients.sum(weight_BC);
  const added = whole.map((_, w) => singles.reduce((total, single) => total + single[w], 0));
  const difference = added.map((x, w) => x - whole[w]);
  assert(dot(difference, difference) <= (TOLERANCE ** 2) * dot(whole, whole));
  // A gradient is linear in its weights.
  const mask_W = await gradients.sum(batch.policyMask_BC, [2]);
  const ratio = dot(mask_W, singles[2]) / dot(mask_W, mask_W);
  assert(Math.abs(ratio - scale[2]) <= TOLERANCE * scale[2]);
  const variance = await gradients.totalVariance(weight_BC);
  const expected = varianceOf(norms, dot(whole, whole));
  assertEquals(variance, expected);
  gradients.destroy();
});

/** A lab whose probe is three hand-written episodes of an untrained agent: nothing is cloned. */
async function handLab() {
  const commands = new Commands(await testGpu());
  const context = createLabContext(commands, { seed: 0, quick: true });
  const probe: Probe = { weights_W: initialValues(TINY_AGENT, 1), batch: handBatch() };
  await context.shared("probe", () => Promise.resolve(probe));
  return context;
}

gpuTest("BASELINES_AGENT draws a curve that direct gradients confirm", async () => {
  const { checks, figures: [figure] } = await BASELINES_AGENT.run(await handLab());
  const direct = checks.find(({ requirement }) => requirement.startsWith("curve within"));
  assertEquals(direct?.holds, true);
  const [curve, marks] = figure.series;
  assertEquals([curve.points.length, marks.points.length], [200, 5]);
  assert(curve.points.every(([, variance]) => variance > 0));
});

gpuTest("ZERO_ADVANTAGE moves the weights by momentum, and not with the skip option", async () => {
  const { checks, data } = await ZERO_ADVANTAGE.run(await handLab());
  assertEquals(checks.map(({ holds }) => holds), [true, true, true]);
  assert(JSON.stringify(data).includes("movement"));
});
