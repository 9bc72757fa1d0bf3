/** Tests of src/rl/gradient.ts on the golden batch, where the command line's tests already hold the numbers to PyTorch. */
import { assert, assertEquals } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { Learner } from "../../src/model/learner.ts";
import { createParameters, initialValues, readParameters } from "../../src/model/parameters.ts";
import { globalNorm } from "../../src/reference/clip_adam.ts";
import { accumulateGradient, type GradientTask, takeAdamSteps } from "../../src/rl/gradient.ts";
import { NAMED_LOSSES, namedLossTask } from "../../src/rl/named_losses.ts";
import { packBatchFile, readBatchFile } from "../../src/run/batch_file.ts";
import { golden } from "../e2e/command_line.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

async function learnerFor(capacity: number): Promise<Learner> {
  const commands = new Commands(await testGpu());
  const parameters = createParameters(commands, TINY_AGENT, initialValues(TINY_AGENT, 3));
  return new Learner(commands, parameters, { capacity, maxPositions: 41 });
}

function goldenTask(): GradientTask {
  const grids = readBatchFile(golden("batch.safetensors"), TINY_AGENT);
  const batch = packBatchFile(grids, TINY_AGENT);
  return namedLossTask(batch, { loss: NAMED_LOSSES.ppo_k3_entropy, grids });
}

gpuTest(
  "accumulateGradient() gives the gradient of the whole batch when it is cut into pieces",
  async () => {
    const task = goldenTask();
    const whole = await learnerFor(task.batch.rowCount);
    const cut = await learnerFor(100);
    const expected = await accumulateGradient(whole, task);
    const found = await accumulateGradient(cut, task);
    const expected_W = await whole.readGradient();
    const found_W = await cut.readGradient();
    const scale = globalNorm(expected_W);
    assert(scale > 0.01 && task.batch.rowCount === 668);
    const error = globalNorm(expected_W.map((value, w) => value - found_W[w]));
    // Seven pieces add seven roundings of f32 to sums of 668 rows, whose own rounding is larger.
    assert(error <= 1e-6 * scale, `${error} of ${scale}`);
    assert(Math.abs(found.loss - expected.loss) <= 1e-9, "the same log-probs, added in float64");
    assert(Math.abs(found.gradNorm - expected.gradNorm) <= 1e-6 * scale);
    assert(Math.abs(expected.gradNorm - scale) <= 1e-6 * scale, "the norm is the gradient's");
    whole.destroy();
    cut.destroy();
  },
);

gpuTest("takeAdamSteps() starts with fresh moments and gives the same bits twice", async () => {
  const task = goldenTask();
  const steps = { stepCount: 2, learningRate: 1e-3, maxNorm: 0.5 };
  const values = [];
  const learner = await learnerFor(task.batch.rowCount);
  for (let i = 0; i < 2; i++) {
    const { commands, parameters } = learner;
    commands.write(parameters.flat, initialValues(TINY_AGENT, 3));
    commands.refreshOperand(parameters.operand, parameters.flat);
    const results = await takeAdamSteps(learner, task, steps);
    assertEquals(results.length, 2);
    assert(results[1].loss < results[0].loss, "two steps lower the loss");
    values.push(await readParameters(commands, parameters));
  }
  assertEquals(values[0], values[1]);
  learner.destroy();
});
