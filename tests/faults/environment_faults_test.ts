/** The faults of the catalogue that make sense in any environment are caught before step 1 in Three Doors, too. */
import { assertEquals } from "@std/assert";
import threeDoors from "../../docs/examples/three_doors.ts";
import { invariantKey } from "../../src/diagnose/invariant_list.ts";
import { violated } from "../../src/diagnose/invariants.ts";
import {
  FAULT_NAMES,
  faultConfig,
  type FaultName,
  FAULTS,
  faultyStages,
  isOfAnyEnvironment,
} from "../../src/faults/faults.ts";
import { runChecks } from "../../src/faults/trainer_checks.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { createParameters, initialValues, readParameters } from "../../src/model/parameters.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { environmentModel, openForTraining } from "../../src/rl/environment_agent.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

/** Which checks see each of them. In its first step a late sampler is on time, so that only later steps show it. */
const CAUGHT_BY: Readonly<Partial<Record<FaultName, readonly string[]>>> = {
  mask_shift: [
    "policy_mask",
    "sampler_is_trainer",
    "padding_invariant",
    "update_follows_advantage",
  ],
  stale_old_logp: ["old_logp_frozen", "ratio_and_clip"],
  entropy_sign: ["no_signal_no_change", "term_directions"],
  sign_flip: ["update_follows_advantage", "advantage_of_episode"],
  accum_local: ["accumulated_is_one_pass", "term_directions"],
  sampler_temp: ["sampler_is_trainer", "ratio_one_before_step", "sampled_as_said"],
  ref_is_policy: ["reference_stays_behind", "term_directions"],
  group_shuffle: ["own_group_advantages", "sampled_as_said", "advantage_of_episode"],
  stale_sampler: [],
  mask_end_call: ["policy_mask"],
  sampler_logp_temp: ["sampler_is_trainer"],
  denominator: ["padding_invariant", "accumulated_is_one_pass", "term_directions"],
};

// About 7 s of CPU: three steps so that groups differ in their rewards, then 13 trainers that share one learner.
gpuTest(
  "the checks name every fault of the catalogue in Three Doors, and nothing without one",
  async () => {
    const commands = new Commands(await testGpu());
    const { source } = await openForTraining(threeDoors);
    const model = environmentModel(threeDoors);
    const parameters = createParameters(commands, model, initialValues(model, 0));
    const flags = { algorithm: "reinforce", lr: 0.003 };
    const config = resolveConfig({ flags, environment: source });
    const trained = new Trainer(trainingSetup(commands, { config, source }), { parameters });
    for (let step = 0; step < 3; step++) await trained.step();
    const { learner } = trained;
    learner.clearMoments();
    const weights_W = await readParameters(commands, parameters);

    const caughtBy = async (fault?: FaultName) => {
      const setup = trainingSetup(commands, {
        config: resolveConfig({
          flags: { klCoef: 0.1, ...faultConfig(fault), algorithm: "grpo" },
          sets: ["groupSize=4"],
          environment: source,
        }),
        stages: faultyStages(fault),
        source,
      });
      const checks = await runChecks(setup, { model, weights_W, learner });
      return violated(checks).map(({ id }) => invariantKey(id));
    };
    assertEquals(await caughtBy(), []);
    const faults = FAULT_NAMES.filter((name) =>
      FAULTS[name].kind === "code" && isOfAnyEnvironment(name)
    );
    const found: Partial<Record<FaultName, readonly string[]>> = {};
    for (const fault of faults) found[fault] = await caughtBy(fault);
    assertEquals(found, CAUGHT_BY);
    trained.destroy();
  },
);
