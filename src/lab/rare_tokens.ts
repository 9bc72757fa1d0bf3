/** Experiment `rare_tokens`: a sampler that is cooler than the trainer believes takes the gradient from rare good tokens. */
import { catalogueConfig } from "../faults/catalogue.ts";
import { SAMPLER_TEMPERATURE } from "../faults/faults.ts";
import { coolSampler, debugBaseAgent, withTrainer } from "./debug_runs.ts";
import { type Experiment, type LabContext, sizeOf } from "./experiment.ts";

/** Of one batch of 64 episodes. */
const TUTORIAL = {
  rare: { tokens: 17, meanRatio: 1.17, clippedShare: 0.12 },
  common: { tokens: 91, meanRatio: 0.95, clippedShare: 0 },
} as const;

/**
 * A token is rare where the sampler gave it less than this probability. One with at least half of it is the likeliest of
 * its distribution, and cooling makes the likeliest likelier: its ratio cannot exceed 1.
 */
const RARE = 0.5;

const VARIANTS = {
  "sampler_0.9": "the sampler runs at temperature 0.9",
  "sampler_0.5": "the sampler runs at temperature 0.5",
} as const;

/** Tokens with a positive advantage, before any update. */
export interface PositiveTokens {
  /** What the sampler drew from, one a token. */
  readonly samplerProbability: readonly number[];
  /** Trainer's probability over the sampler's, one a token. */
  readonly ratio: readonly number[];
}

/** The table's row of the tokens that `isChosen` takes by the sampler's probability. */
export function clippedTokens(
  { samplerProbability, ratio }: PositiveTokens,
  options: {
    readonly isChosen: (probability: number) => boolean;
    readonly clipHigh: number;
  },
) {
  const chosen = ratio.filter((_, i) => options.isChosen(samplerProbability[i] ?? NaN));
  const meanOf = (value: (ratio: number) => number) =>
    chosen.reduce((sum, one) => sum + value(one), 0) / chosen.length;
  return {
    tokens: chosen.length,
    meanRatio: meanOf((one) => one),
    clippedShare: meanOf((one) => one > 1 + options.clipHigh ? 1 : 0),
  };
}

function temperatureOf({ variant }: LabContext): number {
  return variant === undefined ? SAMPLER_TEMPERATURE : Number(variant.replace("sampler_", ""));
}

/** The tokens of one batch of the base agent, sampled and prepared as the faulty trainer does it. */
function positiveTokens(context: LabContext, batch: number): Promise<PositiveTokens> {
  const config = catalogueConfig("sampler_temp", context.seed);
  const stages = coolSampler(temperatureOf(context));
  return withTrainer(context, { config, stages, step: batch }, async (trainer) => {
    const episodes = await trainer.sampleBatch();
    const { mask_BC, oldLogp_BC, advantage_B } = await trainer.prepare(episodes);
    const logp_BC = await trainer.recompute(episodes);
    const { columnCount } = episodes.packed;
    const cells = Array.from(mask_BC.keys()).filter((cell) =>
      mask_BC[cell] > 0 && advantage_B[Math.floor(cell / columnCount)] > 0
    );
    return {
      samplerProbability: cells.map((cell) => Math.exp(oldLogp_BC[cell])),
      ratio: cells.map((cell) => Math.exp(logp_BC[cell] - oldLogp_BC[cell])),
    };
  });
}

async function measure(context: LabContext) {
  await debugBaseAgent(context);
  const batchCount = sizeOf(context, { full: 20, quick: 4 });
  const batches: PositiveTokens[] = [];
  for (let batch = 0; batch < batchCount; batch++) {
    context.progress(`batch ${batch + 1} of ${batchCount}`, batch / batchCount);
    batches.push(await positiveTokens(context, batch));
  }
  const { clipHigh } = catalogueConfig("sampler_temp", context.seed);
  const split = (tokens: PositiveTokens) => ({
    rare: clippedTokens(tokens, { isChosen: (p) => p < RARE, clipHigh }),
    common: clippedTokens(tokens, { isChosen: (p) => p >= RARE, clipHigh }),
  });
  const [one] = batches;
  const all = {
    samplerProbability: batches.flatMap(({ samplerProbability }) => samplerProbability),
    ratio: batches.flatMap(({ ratio }) => ratio),
  };
  return { batchCount, oneBatch: split(one), allBatches: split(all) };
}

/** What a cooler sampler than the trainer believes does to rare and common tokens of good episodes. */
export const RARE_TOKENS: Experiment = {
  name: "rare_tokens",
  title: "A cooler sampler, and what pays for it: the rare good tokens",
  shows:
    "Among the tokens that an update should make likelier, those that the cooler sampler rarely draws begin with a " +
    "ratio above 1, and some are clipped before any step; none of the common ones is, nor can be.",
  tutorial: TUTORIAL,
  variants: VARIANTS,
  costSeconds: 6,
  run: async (context) => {
    const ours = await measure(context);
    const { oneBatch, allBatches, batchCount } = ours;
    const rows = (["rare", "common"] as const).flatMap((kind) =>
      ([
        ["tokens", "tokens with A > 0"],
        ["meanRatio", "mean ratio"],
        ["clippedShare", "share clipped"],
      ] as const).map(([key, quantity]) => [
        kind === "rare" ? `rare (below ${RARE})` : "common",
        quantity,
        TUTORIAL[kind][key],
        oneBatch[kind][key],
        allBatches[kind][key],
      ])
    );
    return {
      tables: [{
        title: `sampled at temperature ${temperatureOf(context)}, trained at 1, before any update`,
        columns: ["tokens", "quantity", "tutorial", "ours", `${batchCount} batches`],
        rows,
      }],
      figures: [],
      checks: context.variant === undefined
        ? [
          {
            requirement: `rare tokens are clipped before any update (${batchCount} batches)`,
            value: allBatches.rare.clippedShare,
            holds: allBatches.rare.clippedShare > 0,
          },
          {
            requirement: "common ones are not",
            value: allBatches.common.clippedShare,
            holds: allBatches.common.clippedShare === 0,
          },
          {
            requirement: "the mean ratio of rare tokens is above that of common ones",
            value: allBatches.rare.meanRatio - allBatches.common.meanRatio,
            holds: allBatches.rare.meanRatio > allBatches.common.meanRatio,
          },
        ]
        : [],
      data: ours,
    };
  },
};
