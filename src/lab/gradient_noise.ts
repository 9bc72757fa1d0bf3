/** Experiment `gradient_noise`: how far two independent batches agree about the direction of the gradient. */
import { randomSequence, STREAM } from "../core/rng.ts";
import { mean, sampleVariance } from "../core/statistics.ts";
import { probeEpisodes } from "./agents.ts";
import { EpisodeGradients, scaledMask } from "./episode_gradients.ts";
import { DRAW, type Experiment, type LabContext, sizeOf } from "./experiment.ts";
import { cosine } from "./vectors.ts";

const TUTORIAL = { 8: -0.092, 32: 0.165, 120: 0.418 } as const;

/** Sizes of the batches; the largest takes half of the probe. */
const SIZES = { full: [8, 32, 120], quick: [8, 20, 40] } as const;

/** Cosines of pairs of disjoint random batches of a size. */
async function pairCosines(
  context: LabContext,
  options: {
    readonly gradients: EpisodeGradients;
    readonly centered_BC: Float64Array;
    readonly size: number;
    readonly episodeCount: number;
    /** Of the experiment, done before. */
    readonly share: number;
  },
): Promise<number[]> {
  const { gradients, centered_BC, size, episodeCount } = options;
  const pairs = sizeOf(context, { full: 20, quick: 10 });
  const random = randomSequence({
    seed: context.seed,
    stream: STREAM.experiment,
    step: DRAW.pairs + 1000 * size,
  });
  const cosines: number[] = [];
  for (let pair = 1; pair <= pairs; pair++) {
    context.progress(`batches of ${size}: pair ${pair} of ${pairs}`, options.share);
    const order = random.permutation(episodeCount);
    const first_W = await gradients.sum(centered_BC, order.slice(0, size));
    const second_W = await gradients.sum(centered_BC, order.slice(size, 2 * size));
    cosines.push(cosine(first_W, second_W));
  }
  return cosines;
}

/** See the file's head. */
export const GRADIENT_NOISE: Experiment = {
  name: "gradient_noise",
  title: "Gradient noise: the cosine between independent batches",
  shows:
    "Two batches of 8 episodes point in almost unrelated directions, and even large ones agree only in part. A single " +
    "step is mostly noise; learning works because noise averages out over steps.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 10,
  run: async (context) => {
    const { weights_W, batch } = await probeEpisodes(context);
    const { episodeCount } = batch.packed;
    const meanReward = mean(batch.rewards_B);
    const centered_BC = scaledMask(batch, batch.rewards_B.map((reward) => reward - meanReward));
    const gradients = new EpisodeGradients(context.commands, weights_W, batch);
    const sizes = context.quick ? SIZES.quick : SIZES.full;
    const measured: { size: number; cosine: number; noise: number }[] = [];
    for (const [i, size] of sizes.entries()) {
      const share = i / sizes.length;
      const cosines = await pairCosines(context, {
        gradients,
        centered_BC,
        size,
        episodeCount,
        share,
      });
      measured.push({
        size,
        cosine: mean(cosines),
        noise: Math.sqrt(sampleVariance(cosines) / cosines.length),
      });
    }
    gradients.destroy();
    const tutorial: Readonly<Record<number, number>> = TUTORIAL;
    const means = measured.map(({ cosine }) => cosine);
    const largest = measured[measured.length - 1];
    return {
      tables: [{
        title: "mean cosine between the gradients of two disjoint batches",
        columns: ["episodes a batch", "tutorial", "ours", "standard error"],
        rows: measured.map(({ size, cosine, noise }) => [
          size,
          tutorial[size] ?? null,
          cosine,
          noise,
        ]),
      }],
      figures: [],
      checks: [
        {
          requirement: "the cosine grows with the batch",
          value: means.map((cosine) => cosine.toFixed(2)).join(" "),
          holds: means.every((cosine, i) => i === 0 || cosine > means[i - 1]),
        },
        {
          requirement: `batches of ${largest.size}: above 0.2`,
          value: largest.cosine,
          holds: largest.cosine > 0.2,
        },
      ],
      data: { measured },
    };
  },
};
