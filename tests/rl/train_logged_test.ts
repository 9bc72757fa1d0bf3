/** Tests of src/rl/train_logged.ts and src/faults/faults.ts: a harness without a fault is the trainer it claims to be. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { faultyStages } from "../../src/faults/faults.ts";
import { type MetricsRow, metricsRow } from "../../src/rl/metrics.ts";
import { isEvaluated, trainLogged } from "../../src/rl/train_logged.ts";
import { hashWeights, readParameters } from "../../src/model/parameters.ts";
import type { Trainer } from "../../src/rl/trainer.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { openBench, smallConfig, withTrainer } from "../faults/small_runs.ts";

function hashOf({ learner }: Trainer): Promise<string> {
  return readParameters(learner.commands, learner.parameters).then(hashWeights);
}

function withoutEvaluation(
  { eval_pass: _, eval_pass_low: _low, eval_pass_high: _high, ...row }: MetricsRow,
) {
  return row;
}

gpuTest(
  "trainLogged() without a fault is the trainer: five steps, all weights and statistics",
  async () => {
    const bench = await openBench();
    const config = smallConfig({ steps: 5, problems: 8, evalEvery: 2 });
    const plain = await withTrainer(bench, { config }, async (trainer) => {
      const rows: MetricsRow[] = [];
      for (let step = 0; step < config.steps; step++) rows.push(metricsRow(await trainer.step()));
      return { rows, hash: await hashOf(trainer) };
    });
    const stages = faultyStages(undefined);
    const logged = await withTrainer(bench, { config, stages }, async (trainer) => ({
      rows: await trainLogged(trainer),
      hash: await hashOf(trainer),
    }));
    assertEquals(logged.rows.map(withoutEvaluation), plain.rows);
    assertEquals(logged.hash, plain.hash);
    assertNotEquals(logged.hash, await hashWeights(bench.agent.weights_W), "it trained");
    assertEquals(
      logged.rows.map(({ eval_pass }) => eval_pass !== undefined),
      [true, false, true, false, true],
    );
    assert(plain.rows.every(({ kl_ref }) => kl_ref !== undefined));
    assert(plain.rows.some(({ reward }) => reward > 0), "some episodes pass");
  },
);

Deno.test("isEvaluated() is true at every evalEvery-th step and the last, and never for 0", () => {
  const steps = [0, 1, 2, 3, 4, 5];
  const evaluated = (evalEvery: number) =>
    steps.filter((step) => isEvaluated(step, { steps: 6, evalEvery }));
  assertEquals(evaluated(2), [0, 2, 4, 5]);
  assertEquals(evaluated(0), []);
});
