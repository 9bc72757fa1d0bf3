/** Tests of src/faults/trainer_checks.ts: the matrix of invariants, on 64 episodes of the golden agent, others on 16. */
import { assert, assertEquals } from "@std/assert";
import {
  faultConfig,
  type FaultName,
  faultyStages,
  FURTHER_FAULTS,
  MATRIX_FAULTS,
} from "../../src/faults/faults.ts";
import type { CheckResult } from "../../src/diagnose/invariant.ts";
import { invariantKey } from "../../src/diagnose/invariant_list.ts";
import { violated } from "../../src/diagnose/invariants.ts";
import { CAUSES } from "../../src/faults/triage_causes.ts";
import { runChecks } from "../../src/faults/trainer_checks.ts";
import { readParameters } from "../../src/model/parameters.ts";
import { resolveConfig, type TrainConfig } from "../../src/rl/config.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { HEALTHY_STAGES } from "../../src/rl/stages.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { type Bench, openBench, smallConfig, withTrainer } from "./small_runs.ts";

/** What single tokens and groups show, 16 episodes show; that an update goes the wrong way takes 64. */
const SIXTEEN = { problems: 4, groupSize: 4 } as const;

function check(
  { commands, agent: { config: model, weights_W } }: Bench,
  name: FaultName | undefined,
  values: Partial<TrainConfig> = {},
): Promise<CheckResult[]> {
  const setup = trainingSetup(commands, {
    config: resolveConfig({ flags: { klCoef: 0.1, ...faultConfig(name), ...values } }),
    stages: name === undefined ? HEALTHY_STAGES : faultyStages(name),
  });
  return runChecks(setup, { model, weights_W });
}

/** Of the eleven that the published matrices begin with. */
const idsOf = (results: readonly CheckResult[]) =>
  violated(results).map(({ id }) => id).filter((id) => id <= 11);

/** Of the further ones. */
const furtherOf = (results: readonly CheckResult[]) =>
  violated(results).map(({ id }) => invariantKey(id)).slice(idsOf(results).length);

/** Checks that a fault violates and that its cause in triage does not explain: then it could not be named. */
function unexplained(name: FaultName, results: readonly CheckResult[]): string[] {
  const { ruledOutBy, explains = [] } = CAUSES[name];
  const own = ruledOutBy.map((clearing) =>
    typeof clearing === "string" ? clearing : clearing.check
  );
  return violated(results).map(({ id }) => invariantKey(id))
    .filter((key) => ![...own, ...explains].includes(key));
}

gpuTest(
  "runChecks() shows the tutorial's matrix exactly, and check 10 for entropy_sign alone",
  async () => {
    const bench = await openBench();
    const expected: Record<"none" | typeof MATRIX_FAULTS[number], number[]> = {
      none: [],
      mask_shift: [1, 2, 5],
      stale_old_logp: [7],
      entropy_sign: [10],
      sign_flip: [8],
      accum_local: [6],
      sampler_temp: [2, 3],
      ref_is_policy: [9],
    };
    const found: Record<string, number[]> = {};
    const further: Record<string, string[]> = {};
    for (const name of [undefined, ...MATRIX_FAULTS]) {
      const results = await check(bench, name);
      assert(results.slice(0, 11).every(({ verdict }) => verdict !== "not-applicable"), name);
      if (name !== undefined) assertEquals(unexplained(name, results), [], name);
      found[name ?? "none"] = idsOf(results);
      further[name ?? "none"] = furtherOf(results);
    }
    assertEquals(found, expected);
    assertEquals(further, {
      ...Object.fromEntries(Object.keys(expected).map((name) => [name, []])),
      stale_old_logp: ["ratio_and_clip"],
      entropy_sign: ["term_directions"],
      sign_flip: ["advantage_of_episode", "term_directions"],
      accum_local: ["term_directions"],
      sampler_temp: ["sampled_as_said"],
      ref_is_policy: ["term_directions"],
    });
  },
);

gpuTest(
  "runChecks() tells which check catches each further fault, and that none sees a late sampler",
  async () => {
    const bench = await openBench();
    const expected: Partial<Record<FaultName, number[]>> = {
      group_shuffle: [11],
      stale_sampler: [], // Before the first step there are no older weights.
      mask_end_call: [1],
      sampler_logp_temp: [2],
      denominator: [5, 6],
    };
    const found: Record<string, number[]> = {};
    for (const name of FURTHER_FAULTS) {
      const results = await check(bench, name, SIXTEEN);
      assertEquals(unexplained(name, results), [], name);
      found[name] = idsOf(results);
    }
    assertEquals(found, expected);
  },
);

gpuTest(
  "runChecks() passes a trainer with microbatches, exactly where nothing rounds",
  async () => {
    const results = await check(await openBench(), undefined, { ...SIXTEEN, microbatches: 4 });
    assertEquals(idsOf(results), []);
    assertEquals(results.slice(0, 3).map(({ value }) => value), [0, 0, 0]);
    assert(results[5].value! > 0, "four sums are rounded otherwise than one");
  },
);

gpuTest("runChecks() leaves out what an algorithm has not", async () => {
  const bench = await openBench();
  const results = await check(bench, undefined, {
    algorithm: "reinforce",
    klCoef: 0,
    preset: "rl",
  });
  assertEquals(idsOf(results), []);
  assertEquals(furtherOf(results), []);
  const apart = results.filter(({ verdict }) => verdict === "not-applicable");
  assertEquals(apart.map(({ id }) => id), [4, 7, 9, 11]);
});

gpuTest("runChecks() finds the same with a borrowed learner, and leaves it as it was", async () => {
  const bench = await openBench();
  const { commands, agent: { config: model, weights_W } } = bench;
  const config = smallConfig();
  const setup = trainingSetup(commands, { config });
  const request = { model, weights_W };
  const expected = await runChecks(setup, request);
  await withTrainer(bench, { config }, async ({ learner }) => {
    assertEquals(await runChecks(setup, { ...request, learner }), expected);
    assertEquals(await readParameters(commands, learner.parameters), weights_W);
    const moments = await learner.readMoments();
    assert(moments.every((moment_W) => moment_W.every((value) => value === 0)));
  });
  assert(expected[7].value! > 0, "an update moved the weights");
});

gpuTest("runChecks() violates nothing where the first batch has no signal", async () => {
  const bench = await openBench();
  const flat: readonly (readonly [Partial<TrainConfig>, readonly number[]])[] = [
    // One call cannot pass a test: every reward is 0.
    [{ maxTurns: 1, problems: 2, groupSize: 2 }, [5, 6, 7, 8, 9, 11]],
    [{ maxTurns: 1, problems: 1, groupSize: 2, algorithm: "rloo", klCoef: 0 }, [5, 6, 7, 8, 11]],
    [{ maxTurns: 1, algorithm: "ppo", preset: "rl", episodes: 2 }, [5, 6, 7, 8, 9]],
    [{ maxTurns: 1, algorithm: "reinforce", preset: "rl", episodes: 1 }, [5, 6, 8, 9]],
    // The entropy bonus moves the policy without any advantage.
    [{ maxTurns: 1, problems: 2, groupSize: 2, entropyCoef: 0.1 }, [8, 11]],
    // The reward comes in the second minibatch only.
    [{ maxTurns: 3, algorithm: "ppo", preset: "rl", episodes: 8, seed: 0 }, [7]],
  ];
  for (const [values, lacking] of flat) {
    const results = await check(bench, undefined, values);
    const what = JSON.stringify(values);
    assertEquals(violated(results), [], what);
    const ids = results.slice(0, 11).flatMap(({ id, lack }) => lack === "batch" ? [id] : []);
    assertEquals(ids, lacking, what);
  }
});

gpuTest("runChecks() sees padding where the loss is 0 because advantages cancel", async () => {
  const bench = await openBench();
  // A mean within each episode first: the loss is the mean of advantages that sum to 0.
  const values = { ...SIXTEEN, aggregation: "seq_mean_token_mean", klCoef: 0 } as const;
  const five = (results: readonly CheckResult[]) => results.find(({ id }) => id === 5)!;
  const healthy = five(await check(bench, undefined, values));
  assertEquals([healthy.verdict, healthy.value], ["holds", 0]);
  assert(healthy.reason.startsWith("change of the gradient"), healthy.reason);
  assertEquals(five(await check(bench, "denominator", values)).verdict, "violated");
});
