/**
 * Experiment `gradient_noise`: how far two independent batches agree about the direction of the gradient. The tutorial takes
 * 20 pairs of each size; 20 cosines of small batches have a standard error of 0.05, which hides the difference between 8
 * and 32 episodes. Here 20 random orders of the probe give 20 pairs of the largest size and as many of the others as fit.
 */
import { randomSequence, STREAM } from "../core/rng.ts";
import { mean, sampleVariance } from "../core/statistics.ts";
import { probeEpisodes, type Weights } from "./agents.ts";
import { EpisodeGradients, scaledMask } from "./episode_gradients.ts";
import { DRAW, type Experiment, type LabContext, sizeOf } from "./experiment.ts";
import { cosine } from "../core/vectors.ts";

const TUTORIAL = { 8: -0.092, 32: 0.165, 120: 0.418 } as const;

/** Episodes whose gradients are added up first; every batch is made of such blocks. */
const BLOCK = 8;
/** Sizes of the batches, multiples of the block; the largest takes half of the probe. */
const SIZES = { full: [8, 32, 120], quick: [8, 16, 40] } as const;

/**
 * Cosines of disjoint pairs of batches, from one random order of all episodes: batches of a size are runs of blocks, and the
 * first is compared with the second, the third against the fourth, and so on.
 *
 * @param block_KW Gradients of blocks of episodes, [K, W].
 * @param blocksPerBatch Blocks in a batch.
 * @returns One cosine a pair, ⌊K / (2 · blocksPerBatch)⌋ of them.
 */
export function pairCosines(
  block_KW: readonly ArrayLike<number>[],
  blocksPerBatch: number,
): number[] {
  const batchOf = (index: number) => {
    const [first, ...rest] = block_KW.slice(index * blocksPerBatch, (index + 1) * blocksPerBatch);
    const sum_W = Float64Array.from(first);
    for (const block_W of rest) sum_W.forEach((sum, w) => sum_W[w] = sum + block_W[w]);
    return sum_W;
  };
  const pairCount = Math.floor(block_KW.length / (2 * blocksPerBatch));
  return Array.from(
    { length: pairCount },
    (_, pair) => cosine(batchOf(2 * pair), batchOf(2 * pair + 1)),
  );
}

/** Gradients Σ (R − mean R) ∇ log p(τ) of blocks of episodes, in a random order of all episodes. */
async function blockGradients(
  gradients: EpisodeGradients,
  centered_BC: Float64Array,
  order: readonly number[],
): Promise<Weights[]> {
  const block_KW: Weights[] = [];
  for (let first = 0; first + BLOCK <= order.length; first += BLOCK) {
    block_KW.push(await gradients.sum(centered_BC, order.slice(first, first + BLOCK)));
  }
  return block_KW;
}

/** Cosines of every size, over several random orders of the probe. */
async function measure(context: LabContext, sizes: readonly number[]) {
  const { weights_W, batch } = await probeEpisodes(context);
  const { episodeCount } = batch.packed;
  const meanReward = mean(batch.rewards_B);
  const centered_BC = scaledMask(batch, batch.rewards_B.map((reward) => reward - meanReward));
  const gradients = new EpisodeGradients(context.commands, weights_W, batch);
  const orders = sizeOf(context, { full: 20, quick: 10 });
  const { permutation } = randomSequence({
    seed: context.seed,
    stream: STREAM.experiment,
    step: DRAW.pairs,
  });
  const cosines: number[][] = sizes.map(() => []);
  for (let i = 0; i < orders; i++) {
    context.progress(`order ${i + 1} of ${orders}`, i / orders);
    const block_KW = await blockGradients(gradients, centered_BC, permutation(episodeCount));
    sizes.forEach((size, k) => cosines[k].push(...pairCosines(block_KW, size / BLOCK)));
  }
  gradients.destroy();
  return sizes.map((size, k) => ({
    size,
    pairs: cosines[k].length,
    cosine: mean(cosines[k]),
    noise: Math.sqrt(sampleVariance(cosines[k]) / cosines[k].length),
  }));
}

/** Cosines between the gradients of independent batches, by their size. */
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
    const measured = await measure(context, context.quick ? SIZES.quick : SIZES.full);
    const tutorial: Readonly<Record<number, number>> = TUTORIAL;
    const means = measured.map(({ cosine }) => cosine);
    const largest = measured[measured.length - 1];
    return {
      tables: [{
        title: "mean cosine between the gradients of two disjoint batches",
        columns: ["episodes per batch", "tutorial", "ours", "standard error", "pairs"],
        rows: measured.map(({ size, cosine, noise, pairs }) => [
          size,
          tutorial[size] ?? null,
          cosine,
          noise,
          pairs,
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
