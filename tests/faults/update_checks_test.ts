/** Tests of the checks of an update on this project's own trainer: a wrong term, a wrong clip, and a wrong optimizer step. */
import { assertEquals } from "@std/assert";
import { invariantKey } from "../../src/diagnose/invariant_list.ts";
import { violated } from "../../src/diagnose/invariants.ts";
import { runChecks } from "../../src/faults/trainer_checks.ts";
import { resolveConfig, type TrainConfig } from "../../src/rl/config.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { HEALTHY_STAGES, type Stages } from "../../src/rl/stages.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { type Bench, openBench } from "./small_runs.ts";

const FEW = { steps: 2, evalEvery: 0, maxTurns: 3, klCoef: 0.1, entropyCoef: 0.01 } as const;
const GROUPS = { problems: 2, groupSize: 4 } as const;

async function brokenBy(
  { commands, agent: { config: model, weights_W } }: Bench,
  faults: Partial<Stages>,
  values: Partial<TrainConfig> = {},
): Promise<string[]> {
  const config = resolveConfig({
    flags: { ...FEW, ...values.episodes === undefined && GROUPS, ...values },
  });
  const setup = trainingSetup(commands, { config, stages: { ...HEALTHY_STAGES, ...faults } });
  const results = await runChecks(setup, { model, weights_W });
  return violated(results).map(({ id }) => invariantKey(id));
}

gpuTest("runChecks() tells a wrong term from a wrong clip and a wrong ratio", async () => {
  const bench = await openBench();
  const { lossTerms } = HEALTHY_STAGES;
  const doubled: Partial<Stages> = {
    lossTerms: (config) => ({ ...lossTerms(config), klCoef: 2 * config.klCoef }),
  };
  assertEquals(await brokenBy(bench, doubled), ["term_directions"]);
  const narrow: Partial<Stages> = {
    lossTerms: (config) => ({ ...lossTerms(config), clipHigh: 0.1 }),
  };
  assertEquals(await brokenBy(bench, narrow), ["ratio_and_clip"]);
  // Old log-probs that are taken afresh in the second of two passes: one pass alone shows nothing.
  let minibatches = 0;
  const afresh: Partial<Stages> = {
    lossMask: (...args) => {
      minibatches = 0; // An update begins.
      return HEALTHY_STAGES.lossMask(...args);
    },
    minibatchOldLogp: (oldLogp_BC, { batch, recompute }) =>
      minibatches++ < 2 ? oldLogp_BC : recompute(batch),
  };
  assertEquals(await brokenBy(bench, afresh, { epochs: 2 }), ["ratio_and_clip"]);
});

gpuTest("runChecks() sees an optimizer that steps twice, and none in other settings", async () => {
  const bench = await openBench();
  const settings: readonly Partial<TrainConfig>[] = [
    { betas: [0.5, 0.99], eps: 1e-3, lr: 1e-6, aggregation: "constant", klKind: "k1" },
    { algorithm: "reinforce", preset: "rl", episodes: 5, klKind: "k2", temperature: 0.7 },
    { algorithm: "rloo", minibatches: 3, microbatches: 2, epochs: 2 },
  ];
  for (const values of settings) {
    assertEquals(await brokenBy(bench, {}, values), [], JSON.stringify(values));
  }
  const { update } = Trainer.prototype;
  try {
    Trainer.prototype.update = async function (batch, prepared) {
      await update.call(this, batch, prepared);
      return await update.call(this, batch, prepared);
    };
    const found = await brokenBy(bench, {});
    assertEquals(found.includes("optimizer_step"), true, String(found));
  } finally {
    Trainer.prototype.update = update;
  }
});
