/** Tests of src/run/non_finite.ts. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { createParameters, readParameters } from "../../src/model/parameters.ts";
import { HEALTHY_STAGES, type Stages } from "../../src/rl/stages.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import { readBatchFile } from "../../src/run/batch_file.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { requireFiniteStep } from "../../src/run/non_finite.ts";
import { openRunDirectory } from "../../src/run/run_directory.ts";
import { golden } from "../e2e/command_line.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { smallSettings } from "./small_run.ts";
import { withFolder } from "../files/with_folder.ts";

/** Advantages that overflow f32 in the second update. */
function overflowingStages(): Stages {
  let updates = 0;
  return {
    ...HEALTHY_STAGES,
    advantages: (batch, context) => {
      const { advantage_B, baseline } = HEALTHY_STAGES.advantages(batch, context);
      return { advantage_B: updates++ < 1 ? advantage_B : advantage_B.fill(1e39), baseline };
    },
  };
}

gpuTest(
  "requireFiniteStep() names step and tensor and saves the batch when a gradient is not finite",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const { config: model, weights_W } = readCheckpoint(golden("model.safetensors"));
      const parameters = createParameters(commands, model, weights_W);
      const { config } = smallSettings(2);
      const setup = trainingSetup(commands, { config, stages: overflowingStages() });
      const trainer = new Trainer(setup, { parameters });
      using directory = openRunDirectory(folder, { resume: false });

      await requireFiniteStep(trainer, await trainer.step(), directory);
      const before_W = await readParameters(commands, parameters);
      const report = await trainer.step();
      const error = await assertRejects(
        () => requireFiniteStep(trainer, report, directory),
        UserError,
        "Step 1 is not finite: in minibatch 1 of 2 the loss is ",
      );
      assertEquals(error.exitCode, 1);
      assertStringIncludes(
        error.message,
        "the gradient of tok_emb.weight is the first that is not",
      );
      assertStringIncludes(error.message, `${folder}/steps/1 holds the batch and the weights`);
      assertEquals(await readParameters(commands, parameters), before_W, "no weight moved");

      const batch = readBatchFile(`${folder}/steps/1/batch.safetensors`, model);
      assertEquals(batch.ids_B, report.batch.trajectories.map(({ ids }) => Int32Array.from(ids)));
      assertEquals(batch.advantages_B, undefined, "1e39 is not an f32");
      assertEquals(batch.sampleLogp_BC, report.batch.sampleLogp_BC);
      assert(batch.actionMask_BC.some((weight) => weight > 0));
      assertEquals(readCheckpoint(`${folder}/steps/1/weights.safetensors`).weights_W, before_W);
      trainer.destroy();
    }),
);

/** Weights of the loss that overflow in the first minibatch of an update, and not in those after it. */
function overflowingFirst(): Stages {
  let minibatches = 0;
  return {
    ...HEALTHY_STAGES,
    accumulate: (episodes, context) => {
      const parts = HEALTHY_STAGES.accumulate(episodes, context);
      if (minibatches++ > 0) return parts;
      return parts.map((part) => ({
        ...part,
        weight_BC: Float32Array.from(part.weight_BC, (weight) => weight && Infinity),
      }));
    },
  };
}

gpuTest(
  "requireFiniteStep() names the tensor of the first bad minibatch, not of the last one",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const { config: model, weights_W } = readCheckpoint(golden("model.safetensors"));
      const { config } = smallSettings(1);
      const setup = trainingSetup(commands, { config, stages: overflowingFirst() });
      const trainer = new Trainer(setup, {
        parameters: createParameters(commands, model, weights_W),
      });
      using directory = openRunDirectory(folder, { resume: false });
      const report = await trainer.step();
      const { minibatches } = report.update;
      assertEquals(minibatches.map(({ gradNorm }) => Number.isFinite(gradNorm)), [false, true]);
      const { message } = await assertRejects(
        () => requireFiniteStep(trainer, report, directory),
        UserError,
        "in minibatch 1 of 2",
      );
      assertStringIncludes(
        message,
        "the gradient of tok_emb.weight is the first that is not finite",
      );
      assertStringIncludes(message, "That minibatch moved no weight");
      assertEquals(await trainer.learner.takeRefused(), undefined, "it is told once");
      trainer.destroy();
    }),
);
