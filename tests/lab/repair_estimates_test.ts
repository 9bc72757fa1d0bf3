/** Holds the score-function estimates to the exact gradient, and the experiments on the repair MDP to their requirements. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { REPAIR_ACTIONS, REPAIR_STATES } from "../../src/gym/repair_mdp.ts";
import { measureBaseline, repairBaselines } from "../../src/lab/baselines_mdp.ts";
import { measureEstimator } from "../../src/lab/estimator.ts";
import { DRAW } from "../../src/lab/experiment.ts";
import {
  repairProblem,
  sampleRepair,
  scoreEstimate,
  surrogateValue,
} from "../../src/lab/repair_estimates.ts";
import { measureSurrogate } from "../../src/lab/surrogate.ts";

const A = REPAIR_ACTIONS.length;
const SA = REPAIR_STATES.length * A;

Deno.test("scoreEstimate() is the exact gradient when it is given expected visits and Q(s, a)", () => {
  for (const seed of [0, 1, 2]) {
    const { policy_SA, gradient_SA, exact: { visits_S, q_SA } } = repairProblem(seed);
    const visits_BSA = policy_SA.map((p, row) => visits_S[Math.floor(row / A)] * p);
    const expected = { visits_BSA, returns_B: new Float64Array(1) };
    const estimate = scoreEstimate(expected, { policy_SA, weight: ({ row }) => q_SA[row] });
    estimate.forEach((value, row) => assertAlmostEquals(value, gradient_SA[row], 1e-14));
    assert(gradient_SA.some((value) => Math.abs(value) > 0.01));
  }
});

Deno.test("scoreEstimate() is the derivative of surrogateValue()", () => {
  const problem = repairProblem(3);
  const sample = sampleRepair(problem, { draw: 1, episodeCount: 50 });
  const shift = 0.3;
  const estimate = scoreEstimate(sample, {
    policy_SA: problem.policy_SA,
    weight: ({ episode }) => sample.returns_B[episode] + shift,
  });
  const h = 1e-5;
  for (let i = 0; i < SA; i++) {
    // Moving one logit by ±h multiplies π of its row and normalizes it again.
    const at = (step: number) => {
      const first = i - i % A;
      const moved = problem.policy_SA.map((p, row) => row === i ? p * Math.exp(step) : p);
      const sum = moved.subarray(first, first + A).reduce((a, b) => a + b, 0);
      for (let row = first; row < first + A; row++) moved[row] /= sum;
      return surrogateValue(sample, { policy_SA: moved, shift });
    };
    const difference = (at(h) - at(-h)) / (2 * h);
    // Truncation h² times a third derivative below 10, and rounding 1e-15 / h.
    assert(Math.abs(difference - estimate[i]) <= 10 * h * h + 1e-10, `${i}: ${difference}`);
  }
});

Deno.test("sampleRepair() gives the same episodes for a draw and others for the next", () => {
  const problem = repairProblem(0);
  const sample = (draw: number) => sampleRepair(problem, { draw, episodeCount: 20 });
  assertEquals(sample(1), sample(1));
  assert(sample(1).visits_BSA.some((visits, i) => visits !== sample(2).visits_BSA[i]));
});

Deno.test("measureEstimator() meets the requirements for three seeds", () => {
  for (const seed of [0, 1, 2]) {
    const { j, cosine, relativeError } = measureEstimator(seed);
    assert(j >= 0.08 && j <= 0.2, `J of seed ${seed} is ${j}`);
    assert(cosine >= 0.995 && relativeError <= 0.12, `seed ${seed}: ${cosine}, ${relativeError}`);
  }
});

Deno.test("measureSurrogate() has values that shift with the returns and one direction", () => {
  const problem = repairProblem(0);
  const [none, exactJ, five] = measureSurrogate(problem, {
    draw: DRAW.repairEpisodes,
    episodeCount: 5000,
  });
  // The mean of Σ log π is some −3, so a shift of 5 takes some 15 off.
  assert(five.value < none.value - 10 && exactJ.value > none.value);
  assert(five.cosine < none.cosine && none.cosine > 0.95 && exactJ.cosine > 0.95);
});

Deno.test("measureBaseline() finds V(s) unbiased and quieter, and Q(s, a) wrong", () => {
  const problem = repairProblem(0);
  const sample = sampleRepair(problem, { draw: DRAW.repairBatches, episodeCount: 200 * 64 });
  const baselines = repairBaselines(problem);
  const exactJ = measureBaseline(problem, sample, baselines["exact J"]);
  const value = measureBaseline(problem, sample, baselines["V(s)"]);
  const q = measureBaseline(problem, sample, baselines["Q(s, a)"]);
  assert(value.error <= 2 * value.noise && value.variance < exactJ.variance);
  // E[R − Q(s, a) | s, a] = 0: nothing is left of the gradient.
  assert(q.error > 5 * q.noise && Math.abs(q.error - 1) <= 3 * q.noise);
});
