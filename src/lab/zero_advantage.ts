/** Experiment `zero_advantage`: a step without a signal still moves the weights, by the optimizer's momentum. */
import { mean } from "../core/statistics.ts";
import { TINY_AGENT } from "../model/config.ts";
import { createParameters, destroyParameters, readParameters } from "../model/parameters.ts";
import { resolveConfig } from "../rl/config.ts";
import type { TrainBatch } from "../rl/train_batch.ts";
import { trainingSetup } from "../rl/setup.ts";
import { Trainer } from "../rl/trainer.ts";
import { collateEpisodes, probeEpisodes } from "./agents.ts";
import type { Experiment, LabContext } from "./experiment.ts";
import { norm } from "../core/vectors.ts";

const TUTORIAL = { loss: 0, gradNorm: 0, movement: 0.4903 } as const;

/** Two steps: an ordinary one, and one whose advantages are all 0. Returns what the second one did. */
async function measure(context: LabContext, skipZeroSignal: boolean) {
  const { commands, seed } = context;
  const { weights_W, batch } = await probeEpisodes(context);
  const parameters = createParameters(commands, TINY_AGENT, weights_W);
  const config = resolveConfig({
    flags: { algorithm: "reinforce", seed, skipZeroSignal, episodes: batch.packed.episodeCount },
  });
  const trainer = new Trainer(trainingSetup(commands, { config }), { parameters });
  trainer.setBaseline(mean(batch.rewards_B));
  await trainer.update(batch);
  const before_W = await readParameters(commands, parameters);
  // Where every episode fails and the baseline is 0, every advantage is exactly 0.
  const failures: TrainBatch = collateEpisodes(
    batch.trajectories.filter(({ reward }) => reward === 0),
  );
  trainer.setBaseline(0);
  const { minibatches: [minibatch] } = await trainer.update(failures);
  const after_W = await readParameters(commands, parameters);
  trainer.destroy();
  destroyParameters(parameters);
  return {
    loss: Math.abs(minibatch.statistics.loss), // The sign of a zero means nothing.
    gradNorm: minibatch.gradNorm,
    movement: norm(after_W.map((weight, w) => weight - before_W[w])),
  };
}

/** How far a step without a signal moves the weights, and why. */
export const ZERO_ADVANTAGE: Experiment = {
  name: "zero_advantage",
  title: "A step without a signal is not a step without effect",
  shows:
    "Loss and gradient are exactly 0 where every advantage is, and Adam moves the weights anyway, by the momentum of the step before. With skipZeroSignal nothing moves.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 2,
  run: async (context) => {
    const stepped = await measure(context, false);
    const skipped = await measure(context, true);
    return {
      tables: [{
        title: "an update with all advantages 0, after an ordinary one",
        columns: ["quantity", "tutorial", "ours", "skipped"],
        rows: [
          ["loss", TUTORIAL.loss, stepped.loss, skipped.loss],
          ["gradient norm", TUTORIAL.gradNorm, stepped.gradNorm, skipped.gradNorm],
          ["movement of the weights", TUTORIAL.movement, stepped.movement, skipped.movement],
        ],
      }],
      figures: [],
      checks: [
        {
          requirement: "loss and gradient exactly 0",
          value: `${stepped.loss} and ${stepped.gradNorm}`,
          holds: stepped.loss === 0 && stepped.gradNorm === 0,
        },
        { requirement: "the weights move", value: stepped.movement, holds: stepped.movement > 0 },
        {
          requirement: "with the skip option they do not",
          value: skipped.movement,
          holds: skipped.movement === 0,
        },
      ],
      data: { stepped, skipped },
    };
  },
};
