/** The end of a run whose numbers overflow: which step, which tensor, and where its batch lies. */
import { UserError } from "../core/errors.ts";
import { parameterLayout } from "../model/config.ts";
import { readParameters } from "../model/parameters.ts";
import type { StepReport, Trainer } from "../rl/trainer.ts";
import { type MinibatchReport, nonFiniteMinibatch } from "../rl/update_report.ts";
import { asUserError } from "../files/file_error.ts";
import { writeCheckpoint } from "./checkpoint.ts";
import { type RunDirectory, stepPath } from "./run_directory.ts";
import { writeTrainBatch } from "./train_batch_file.ts";

/** The first entry of a minibatch's gradient that is not finite, as a part of a sentence. */
async function describeGradient(
  { learner }: Trainer,
  { gradNorm }: MinibatchReport,
): Promise<string> {
  if (Number.isFinite(gradNorm)) return "every entry of its gradient is finite";
  const found = await learner.takeRefused();
  if (found === undefined) return "every entry of its gradient is finite, but not their squares";
  const { index, value } = found;
  const { ranges } = parameterLayout(learner.parameters.config);
  const range = ranges.find(({ offset, length }) => index >= offset && index < offset + length);
  return `the gradient of ${range?.name} is the first that is not finite (${value} at entry ${
    index - (range?.offset ?? 0)
  })`;
}

/**
 * Ends a run at a step whose loss or gradient is not finite: saves the step's batch and the weights, which that minibatch left
 * alone, in the run's `steps/N`.
 *
 * @param trainer The trainer after the step.
 * @param report What it says about the step.
 * @param directory The run's folder.
 * @throws {UserError} With exit code 1 when a number of the step is not finite.
 */
export async function requireFiniteStep(
  trainer: Trainer,
  report: StepReport,
  directory: RunDirectory,
): Promise<void> {
  const bad = nonFiniteMinibatch(report.update);
  if (bad === undefined) return;
  const { step, batch, update } = report;
  const { commands, parameters } = trainer.learner;
  const folder = stepPath(directory.path, step);
  try {
    Deno.mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw asUserError(error, `Cannot write to ${folder}`);
  }
  writeTrainBatch(`${folder}/batch.safetensors`, batch, update);
  writeCheckpoint(`${folder}/weights.safetensors`, {
    config: parameters.config,
    weights_W: await readParameters(commands, parameters),
    step,
  });
  const minibatch = update.minibatches[bad];
  const { statistics, gradNorm } = minibatch;
  throw new UserError(
    `Step ${step} is not finite: in minibatch ${
      bad + 1
    } of ${update.minibatches.length} the loss is ` +
      `${statistics.loss} and the gradient norm ${gradNorm}; ${await describeGradient(
        trainer,
        minibatch,
      )}. ` +
      `${
        Number.isFinite(gradNorm) ? "" : "That minibatch moved no weight; "
      }${folder} holds the batch and the weights`,
    1,
  );
}
