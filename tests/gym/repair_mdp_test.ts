/** Holds the repair MDP's exact numbers to hand values, central differences and its own sampler. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  evaluatePolicy,
  makeRepairMdp,
  policyGradient,
  REPAIR_ACTIONS,
  REPAIR_STATES,
  sampleEpisodes,
  softmaxPolicy,
} from "../../src/gym/repair_mdp.ts";
import { seededUniform } from "./seeded_uniform.ts";

const mdp = makeRepairMdp();
const SA = REPAIR_STATES.length * REPAIR_ACTIONS.length;

/** Logits 0.5 N(0, 1), by Box and Muller. */
function randomLogits(seed: number): Float64Array {
  const uniform = seededUniform(seed);
  return Float64Array.from(
    { length: SA },
    () => 0.5 * Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  );
}

/** The policy that always takes one action in each state, in the order of REPAIR_STATES. */
function always(actions: readonly (typeof REPAIR_ACTIONS[number])[]): Float64Array {
  return Float64Array.from(
    actions.flatMap((action) => REPAIR_ACTIONS.map((other) => Number(other === action))),
  );
}

const norm = (x: Float64Array) => Math.sqrt(x.reduce((sum, v) => sum + v * v, 0));

Deno.test("makeRepairMdp() is a Markov chain whose last state is absorbing and pays nothing", () => {
  const S = REPAIR_STATES.length;
  for (let row = 0; row < SA; row++) {
    const next = mdp.transition_SAS.subarray(row * S, (row + 1) * S);
    assert(next.every((p) => p >= 0 && p <= 1));
    assertAlmostEquals(next.reduce((a, b) => a + b, 0), 1, 1e-15);
  }
  assertEquals([...mdp.transition_SAS.subarray(24 * S, 25 * S)], [0, 0, 0, 0, 0, 0, 1]);
  assertEquals(mdp.reward_SA.reduce((a, b) => a + b, 0), 2);
});

Deno.test("evaluatePolicy() gives the hand values of three plain policies", () => {
  const submits = always(["submit", "submit", "submit", "submit", "submit", "submit", "submit"]);
  assertEquals(evaluatePolicy(mdp, submits).j, 0);
  // Edit blindly, then submit: 7/8 survives, 0.2 hits.
  const blind = always(["edit", "submit", "submit", "submit", "submit", "submit", "submit"]);
  assertAlmostEquals(evaluatePolicy(mdp, blind).j, 7 / 8 * 0.2, 1e-15);
  // Read, edit, submit: 7/8 twice, 0.8 hits.
  const reads = always(["read", "edit", "submit", "submit", "submit", "submit", "submit"]);
  const { j, value_S, q_SA, visits_S } = evaluatePolicy(mdp, reads);
  assertAlmostEquals(j, (7 / 8) ** 2 * 0.8, 1e-15);
  assertAlmostEquals(value_S[1], 7 / 8 * 0.8, 1e-15);
  assertEquals([value_S[4], value_S[6], q_SA[3], q_SA[19]], [1, 0, 0, 1]);
  assertAlmostEquals(visits_S[1], 7 / 8, 1e-15);
});

Deno.test("evaluatePolicy() gives J of 0.08 to 0.20 for most random softmax policies, 0.13 on average", () => {
  const values = Array.from(
    { length: 200 },
    (_, seed) => evaluatePolicy(mdp, softmaxPolicy(randomLogits(seed))).j,
  );
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  assert(Math.abs(mean - 0.1323) < 0.02, `${mean}`);
  assert(values.filter((j) => j >= 0.08 && j <= 0.2).length >= 150);
});

Deno.test("policyGradient() matches central differences of J", () => {
  const logits = randomLogits(3);
  const gradient = policyGradient(mdp, logits);
  const h = 1e-5;
  for (let i = 0; i < SA; i++) {
    const at = (step: number) =>
      evaluatePolicy(mdp, softmaxPolicy(logits.map((x, k) => k === i ? x + step : x))).j;
    const difference = (at(h) - at(-h)) / (2 * h);
    // Truncation h² times a third derivative below 1, and rounding 1e-16 / h.
    assert(Math.abs(gradient[i] - difference) <= h * h + 1e-10, `${i}`);
  }
  assert(norm(gradient) > 0.01);
});

Deno.test("sampleEpisodes() agrees with the exact J, visits and gradient within its noise", () => {
  const logits_SA = randomLogits(0);
  const policy_SA = softmaxPolicy(logits_SA);
  const { j, visits_S } = evaluatePolicy(mdp, policy_SA);
  const episodeCount = 20_000;
  const { visits_BSA, returns_B } = sampleEpisodes(mdp, {
    policy_SA,
    episodeCount,
    uniform: seededUniform(11),
  });
  const mean = returns_B.reduce((a, b) => a + b, 0) / episodeCount;
  assert(Math.abs(mean - j) <= 4 * Math.sqrt(j * (1 - j) / episodeCount), `${mean} ${j}`);
  const estimate = new Float64Array(SA);
  const visited = new Float64Array(REPAIR_STATES.length);
  visits_BSA.forEach((count, i) => {
    const row = i % SA, state = Math.floor(row / 4), episode = Math.floor(i / SA);
    visited[state] += count / episodeCount;
    // The score of an episode: each visit to (s, a) adds e_a - π(s) to row s.
    estimate[row] += returns_B[episode] * count / episodeCount;
    for (let other = 0; other < 4; other++) {
      const column = state * 4 + other;
      estimate[column] -= returns_B[episode] * count * policy_SA[column] / episodeCount;
    }
  });
  // A state is visited about once an episode with a deviation near 1: six standard errors.
  visited.forEach((count, s) =>
    assert(Math.abs(count - visits_S[s]) <= 6 / Math.sqrt(episodeCount))
  );
  const exact = policyGradient(mdp, logits_SA);
  const cosine = exact.reduce((sum, g, i) => sum + g * estimate[i], 0) /
    (norm(exact) * norm(estimate));
  const error = norm(exact.map((g, i) => estimate[i] - g)) / norm(exact);
  assert(cosine >= 0.995, `cosine ${cosine}`);
  assert(error <= 0.12, `error ${error}`);
});

Deno.test("sampleEpisodes() gives the same episodes for the same stream and others for another", () => {
  const policy_SA = softmaxPolicy(randomLogits(1));
  const sample = (seed: number) =>
    sampleEpisodes(mdp, { policy_SA, episodeCount: 50, uniform: seededUniform(seed) });
  assertEquals(sample(5), sample(5));
  assert(sample(5).visits_BSA.some((count, i) => count !== sample(6).visits_BSA[i]));
});

Deno.test("softmaxPolicy() stays finite for large logits and refuses what is not 28 finite numbers", () => {
  const logits = new Float64Array(SA);
  logits[0] = 1000;
  assertEquals([...softmaxPolicy(logits).subarray(0, 4)], [1, 0, 0, 0]);
  assertThrows(() => softmaxPolicy(new Float64Array(27)), RangeError, "27 logits: 28 finite ones");
  logits[5] = NaN;
  assertThrows(() => softmaxPolicy(logits), RangeError);
});
