/** Tests of the intervals over seeds: known answers by hand, and how often they hold the truth. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { normalQuantile, normalShare, studentQuantile } from "../../src/compare/distributions.ts";
import {
  interquartileMean,
  interquartileMeanInterval,
} from "../../src/compare/interquartile_mean.ts";
import { meanInterval } from "../../src/compare/mean_interval.ts";
import { pairedDifference } from "../../src/compare/paired_difference.ts";
import { performanceProfile, profileThresholds } from "../../src/compare/performance_profile.ts";
import { probabilityOfImprovement } from "../../src/compare/probability_of_improvement.ts";
import { sampleEfficiency } from "../../src/compare/sample_efficiency.ts";
import { Resamples } from "../../src/compare/strata.ts";
import { coverageOf, RARE_FAILURE, SHAPES } from "./coverage.ts";

Deno.test("studentQuantile() and normalQuantile() give the values of printed tables", () => {
  const printed = [[1, 12.706], [2, 4.303], [4, 2.776], [9, 2.262], [30, 2.042]] as const;
  for (const [degrees, t] of printed) assertAlmostEquals(studentQuantile(0.95, degrees), t, 5e-4);
  assertAlmostEquals(studentQuantile(0.99, 9), 3.25, 5e-4);
  assertAlmostEquals(normalQuantile(0.975), 1.959964, 1e-5);
  assertAlmostEquals(normalShare(-1) + normalShare(1), 1, 1e-12);
});

Deno.test("interquartileMean() is the middle half, with shares of scores on the border and equal strata", () => {
  assertEquals(interquartileMean([[8, 1, 7, 2, 6, 3, 5, 4]]), 4.5);
  // Of five scores the second and the fourth are inside by three quarters: (0.75·1 + 2 + 0.75·3) / 2.5.
  assertAlmostEquals(interquartileMean([[0, 1, 2, 3, 1000]]), 2, 1e-12);
  // Two strata weigh the same, however many seeds they have.
  assertAlmostEquals(interquartileMean([[0, 0], [1, 1, 1, 1]]), 0.5, 1e-12);
  assertEquals(interquartileMean([[3]]), 3);
});

Deno.test("meanInterval() is Student's where scores are symmetric, and longer towards their tail", () => {
  const symmetric = meanInterval([[1, 2, 3, 4, 5]]);
  // s²/n = 2.5/5, t = 2.776.
  assertAlmostEquals(symmetric?.low ?? NaN, 3 - 2.7764 * Math.sqrt(0.5), 1e-3);
  assertAlmostEquals(symmetric?.high ?? NaN, 3 + 2.7764 * Math.sqrt(0.5), 1e-3);
  const skewed = meanInterval([[1, 1.1, 1.2, 1.3, 1.5, 1.8, 2.5, 6]]);
  assert(skewed && skewed.high - skewed.estimate > 1.5 * (skewed.estimate - skewed.low));
});

Deno.test("meanInterval() adds the variances of strata, with Welch's degrees of freedom", () => {
  const strata = [[1, 2, 3, 4, 5], [101, 102, 103, 104, 105]];
  const { estimate, low = NaN } = meanInterval(strata) ?? {};
  assertEquals(estimate, 53);
  // Each adds (2.5/5)/4; of two equal ones the degrees are 8, of which t is 2.306. The distance of the strata does not count.
  assertAlmostEquals(low, 53 - 2.306 * Math.sqrt(0.25), 1e-3);
});

Deno.test("meanInterval() and interquartileMeanInterval() say nothing of one seed or of equal scores", () => {
  const resamples = new Resamples();
  for (const strata of [[], [[1]], [[1, 1, 1, 1, 1]], [[1, 2, 3], [1]]]) {
    assertEquals(meanInterval(strata), undefined);
    assertEquals(interquartileMeanInterval(strata, { resamples }), undefined);
  }
});

Deno.test("interquartileMeanInterval() holds the estimate, ignores an outlier, and always says the same", () => {
  const scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
  const of = (last: number, seed = 0) =>
    interquartileMeanInterval([[...scores.slice(0, -1), last]], {
      resamples: new Resamples({ seed }),
    });
  const first = of(1);
  assert(first && first.low < first.estimate && first.estimate < first.high);
  assertEquals(of(1), first);
  assertEquals(of(50)?.estimate, first.estimate);
  const ofMean = meanInterval([[...scores.slice(0, -1), 50]]);
  assert((of(50)?.high ?? NaN) < (ofMean?.high ?? NaN));
  assert(of(1, 1)?.low !== first.low);
});

Deno.test("Resamples draws n of n in every row, and others in another stratum", () => {
  const resamples = new Resamples({ count: 50 });
  const counts = resamples.countsOf(0, 7);
  for (let row = 0; row < 50; row++) {
    assertEquals(counts.subarray(7 * row, 7 * row + 7).reduce((sum, count) => sum + count, 0), 7);
  }
  assert(resamples.countsOf(1, 7).some((count, i) => count !== counts[i]));
});

Deno.test("probabilityOfImprovement() counts pairs, ties by half, and is mirrored where sides change", () => {
  const ours = [[1, 2, 4, 5, 6]];
  const theirs = [[1, 0, 3, 3, 2]];
  const there = probabilityOfImprovement(ours, theirs);
  // 1.5 + 2.5 + 5 + 5 + 5 of 25.
  assertAlmostEquals(there?.estimate ?? NaN, 19 / 25, 1e-12);
  const back = probabilityOfImprovement(theirs, ours);
  assertAlmostEquals((there?.low ?? NaN) + (back?.high ?? NaN), 1, 1e-9);
  assertAlmostEquals((there?.high ?? NaN) + (back?.low ?? NaN), 1, 1e-9);
  assertEquals(probabilityOfImprovement([], []), undefined);
  assertEquals(probabilityOfImprovement([[1]], [[]]), undefined);
});

Deno.test("probabilityOfImprovement() of total separation ends at 1 and begins well below it", () => {
  const { estimate, low = NaN, high } = probabilityOfImprovement(
    [[6, 7, 8, 9, 10]],
    [[1, 2, 3, 4, 5]],
  ) ?? {};
  assertEquals([estimate, high], [1, 1]);
  // At the low end p + z·√V(p) = 1 with V of m = n = 5.
  const variance = low * (1 - low) / 25 * (1 + 4 * ((1 - low) / (2 - low) + low / (1 + low)));
  assertAlmostEquals(low + 1.96 * Math.sqrt(variance), 1, 1e-3);
  assert(low > 0.5 && low < 0.8);
});

Deno.test("performanceProfile() is the share above each score, with Wilson's interval", () => {
  const methods = [[[0.2, 0.4, 0.6, 0.8]], [[0.1, 0.4]]];
  const thresholds = profileThresholds(methods);
  assertEquals(thresholds, [0.1, 0.2, 0.4, 0.6, 0.8]);
  const [profile] = methods.map((strata) => performanceProfile(strata, thresholds));
  assertEquals(profile.map(({ share }) => share), [1, 0.75, 0.5, 0.25, 0]);
  assertAlmostEquals(profile[2].low, 0.15, 1e-3);
  assertAlmostEquals(profile[2].high, 0.85, 1e-3);
  assertEquals(performanceProfile([], thresholds), []);
});

Deno.test("sampleEfficiency() is the median first step, runs that never get there behind all others", () => {
  const curve = (...values: number[]) => ({ steps: [0, 10, 20], values });
  const curves = [curve(0.1, 0.5, 0.6), curve(0.6, 0.1, 0.1), curve(0.1, 0.2, NaN)];
  const options = { threshold: 0.5, lowerIsBetter: false };
  assertEquals(sampleEfficiency(curves, options), {
    threshold: 0.5,
    reached: 2,
    runs: 3,
    medianSteps: 10,
    leastSteps: 0,
  });
  assertEquals(sampleEfficiency(curves.slice(2), options).medianSteps, null);
  const down = sampleEfficiency([curve(3, 2, 1)], { threshold: 1.5, lowerIsBetter: true });
  assertEquals(down.medianSteps, 20);
});

Deno.test("pairedDifference() pairs by seed and stratum, and leaves out what has no partner", () => {
  const of = (scores: readonly number[], stratum = "rl") =>
    scores.map((score, seed) => ({ stratum, seed, score }));
  const base = [0.1, 0.5, 0.3, 0.9, 0.7];
  const found = pairedDifference(
    [...of(base.map((score, i) => score + [0.1, 0.12, 0.08, 0.11, 0.09][i])), ...of([9], "other")],
    of([...base, 77]),
  );
  assertEquals([found?.pairs, found?.higher, found?.lower], [5, 5, 0]);
  assertAlmostEquals(found?.mean ?? NaN, 0.1, 1e-12);
  // What the seeds decide, 0.1 to 0.9, is gone.
  assert(found?.interval && found.interval.low > 0.07 && found.interval.high < 0.13);
  assertEquals(pairedDifference(of([1]), of([1], "other")), undefined);
});

Deno.test("intervals of ten seeds hold the truth in 93 to 97 % of 2,000 experiments, whatever the scores are like", () => {
  const resamples = new Resamples({ count: 400 });
  const shapes = [
    "skewed: exponential",
    "pass rate of 40 tasks, 0.95",
    "half of the seeds fail (0.2, 0.8)",
  ] as const;
  for (const shape of shapes) {
    const { mean, middle, plain, improvement } = coverageOf(SHAPES[shape], {
      seeds: 10,
      experiments: 2000,
      resamples,
      truthDraws: 100_000,
      hasPlain: shape === "skewed: exponential",
    });
    for (const coverage of [mean, middle]) {
      assert(coverage >= 0.93 && coverage <= 0.97, `${shape}: ${coverage}`);
    }
    // Of two heaps the share has eleven values, and covering one more of them covers 8 % more.
    assert(improvement >= 0.93 && improvement <= 0.98, `${shape}: ${improvement}`);
    if (shape === "skewed: exponential") assert(plain < 0.87, `the plain bootstrap: ${plain}`);
  }
});

Deno.test("what no interval of ten seeds can hold is not hidden: a failure that one seed in ten has", () => {
  const options = {
    seeds: 10,
    experiments: 300,
    resamples: new Resamples({ count: 200 }),
    truthDraws: 50_000,
    hasPlain: false,
  };
  const { mean, middle } = coverageOf(RARE_FAILURE, options);
  assert(mean < 0.8 && middle > 0.9, `${mean}, ${middle}`);
});
