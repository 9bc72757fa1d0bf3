/** Experiment `baselines_agent`: what a baseline does to the variance of the real agent's gradient, over all parameters. */
import { mean } from "../core/statistics.ts";
import { type Probe, probeEpisodes, sampleSplit } from "./agents.ts";
import { EpisodeGradients, scaledMask, varianceOf } from "./episode_gradients.ts";
import { DRAW, type Experiment, type LabCheck, type LabContext, sizeOf } from "./experiment.ts";
import { dot } from "../core/vectors.ts";

const TUTORIAL = {
  "none": { b: 0, variance: 44.7 },
  "mean reward": { b: 0.188, variance: 40.9 },
  "b* (optimal constant)": { b: 0.123, variance: 39.3 },
  "per-task mean": { b: null, variance: 40.8 },
  "constant 0.5": { b: 0.5, variance: 91.9 },
  "constant 1.0": { b: 1, variance: 322.9 },
} as const;

type BaselineName = keyof typeof TUTORIAL;

/** Points of the curve, from b = 0 to b = 1. */
const CURVE_POINTS = 200;
/** Where the curve is held to gradients that were computed with that very baseline. */
const DIRECT_CHECKS = [0, 0.1, 0.3, 0.6, 1];
/** Rounding of f32 gradients and norms: about a thousand sums of relative error 6e-8 each. */
const DIRECT_TOLERANCE = 1e-4;

/**
 * What the variance under every constant baseline follows from. With g the score of an episode and R its reward, the
 * total variance of (R − b) g is (Σ (R − b)² ‖g‖² − ‖Σ R g − b Σ g‖² / B) / (B − 1): a parabola in b.
 */
export interface ScoreStatistics {
  /** Σ ‖g‖², Σ R ‖g‖², Σ R² ‖g‖². */
  readonly squares: readonly [number, number, number];
  /** ‖Σ g‖², (Σ g)·(Σ R g), ‖Σ R g‖². */
  readonly sums: readonly [number, number, number];
  /** B. */
  readonly episodeCount: number;
}

/** Total variance of (R − b) g. */
export function varianceAt({ squares, sums, episodeCount }: ScoreStatistics, b: number): number {
  const of = ([zero, one, two]: readonly [number, number, number]) =>
    two - 2 * b * one + b * b * zero;
  return (of(squares) - of(sums) / episodeCount) / (episodeCount - 1);
}

/** E[R ‖g‖²] / E[‖g‖²]: the constant that makes E ‖(R − b) g‖² smallest. */
export function optimalBaseline({ squares: [zero, one] }: ScoreStatistics): number {
  return one / zero;
}

/** ‖g‖² of every episode of the probe, g its score. */
export function probeNorms(context: LabContext): Promise<Float64Array> {
  return context.shared("probe norms", async () => {
    const { weights_W, batch } = await probeEpisodes(context);
    const gradients = new EpisodeGradients(context.commands, weights_W, batch);
    const norms = await gradients.squaredNorms(
      batch.policyMask_BC,
      (done) => context.progress(`scores: episode ${done} of ${batch.packed.episodeCount}`),
    );
    gradients.destroy();
    return norms;
  });
}

async function scoreStatistics(
  gradients: EpisodeGradients,
  { batch }: Probe,
  squaredNorms_B: Float64Array,
): Promise<ScoreStatistics> {
  const { rewards_B } = batch;
  const sum_W = await gradients.sum(batch.policyMask_BC);
  const rewarded_W = await gradients.sum(scaledMask(batch, rewards_B));
  const weighted = (power: number) =>
    squaredNorms_B.reduce((sum, square, b) => sum + rewards_B[b] ** power * square, 0);
  return {
    squares: [weighted(0), weighted(1), weighted(2)],
    sums: [dot(sum_W, sum_W), dot(sum_W, rewarded_W), dot(rewarded_W, rewarded_W)],
    episodeCount: rewards_B.length,
  };
}

/** Each episode's baseline: the mean reward of its task in another sample, which is fixed before the probe is drawn. */
async function taskBaselines(context: LabContext, { weights_W, batch }: Probe): Promise<number[]> {
  const episodesPerTask = sizeOf(context, { full: 12, quick: 4 });
  const others = await sampleSplit(context, weights_W, {
    split: "train",
    episodesPerTask,
    draw: DRAW.taskMeans,
  });
  const rewardsOf = Map.groupBy(others, ({ info }) => info.task);
  return batch.trajectories.map(({ info }) =>
    mean((rewardsOf.get(info.task) ?? []).map(({ reward }) => reward))
  );
}

/** The largest relative difference between the parabola and gradients computed with R − b as their weights. */
async function checkDirectly(
  context: LabContext,
  options: {
    readonly gradients: EpisodeGradients;
    readonly probe: Probe;
    readonly statistics: ScoreStatistics;
  },
): Promise<number> {
  const { gradients, probe: { batch }, statistics } = options;
  let largest = 0;
  for (const [i, b] of DIRECT_CHECKS.entries()) {
    const direct = await gradients.totalVariance(
      scaledMask(batch, batch.rewards_B.map((reward) => reward - b)),
      {
        onProgress: (done) =>
          context.progress(
            `direct check ${i + 1} of ${DIRECT_CHECKS.length}: episode ${done}`,
            (1 + i + done / batch.packed.episodeCount) / (1 + DIRECT_CHECKS.length),
          ),
      },
    );
    largest = Math.max(largest, Math.abs(varianceAt(statistics, b) / direct - 1));
  }
  return largest;
}

function checksOf(variance: Readonly<Record<BaselineName, number>>, direct: number): LabCheck[] {
  const { "none": none, "mean reward": meanReward, "constant 0.5": half, "constant 1.0": one } =
    variance;
  const best = variance["b* (optimal constant)"];
  return [
    {
      requirement: "b* the smallest of the constants",
      value: best / Math.min(none, meanReward, half, one),
      holds: best <= Math.min(none, meanReward, half, one),
    },
    {
      requirement: "mean reward within 15 % of b*",
      value: meanReward / best,
      holds: meanReward <= 1.15 * best,
    },
    { requirement: "none < 0.5 < 1.0", value: half / none, holds: none < half && half < one },
    { requirement: "1.0 at least 3 × none", value: one / none, holds: one >= 3 * none },
    {
      requirement: `curve within ${DIRECT_TOLERANCE} of direct gradients`,
      value: direct,
      holds: direct <= DIRECT_TOLERANCE,
    },
  ];
}

/** The variance under every named baseline, and the direct check of the curve. */
async function measure(context: LabContext) {
  const probe = await probeEpisodes(context);
  const { weights_W, batch } = probe;
  const squaredNorms_B = await probeNorms(context);
  const gradients = new EpisodeGradients(context.commands, weights_W, batch);
  const statistics = await scoreStatistics(gradients, probe, squaredNorms_B);
  const centered_B = (await taskBaselines(context, probe)).map((b, i) => batch.rewards_B[i] - b);
  const sum_W = await gradients.sum(scaledMask(batch, centered_B));
  const perTask = varianceOf(
    squaredNorms_B.map((square, b) => centered_B[b] ** 2 * square),
    dot(sum_W, sum_W),
  );
  const direct = await checkDirectly(context, { gradients, probe, statistics });
  gradients.destroy();
  const constants = {
    "none": 0,
    "mean reward": mean(batch.rewards_B),
    "b* (optimal constant)": optimalBaseline(statistics),
    "constant 0.5": 0.5,
    "constant 1.0": 1,
  };
  const at = (name: keyof typeof constants) => varianceAt(statistics, constants[name]);
  const variance: Record<BaselineName, number> = {
    "none": at("none"),
    "mean reward": at("mean reward"),
    "b* (optimal constant)": at("b* (optimal constant)"),
    "per-task mean": perTask,
    "constant 0.5": at("constant 0.5"),
    "constant 1.0": at("constant 1.0"),
  };
  return { statistics, constants, variance, direct };
}

/** The variance of the real agent's gradient as a function of the baseline. */
export const BASELINES_AGENT: Experiment = {
  name: "baselines_agent",
  title: "The variance of TinyAgent's gradient under a baseline (Figure 6.1)",
  shows:
    "Total variance of (R − b) ∇ log p(τ) over all 157,244 parameters. The mean reward is close to the best constant; " +
    "a baseline of 1 pushes every failure with full weight, at several times the variance.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 20,
  run: async (context) => {
    const { statistics, constants, variance, direct } = await measure(context);
    const bOf = (name: BaselineName) => name === "per-task mean" ? null : constants[name];
    const names = Object.keys(TUTORIAL) as BaselineName[];
    const curve = Array.from({ length: CURVE_POINTS }, (_, i) => {
      const b = i / (CURVE_POINTS - 1);
      return [b, varianceAt(statistics, b)] as const;
    });
    const marks = names.flatMap((name) => {
      const b = bOf(name);
      return b === null ? [] : [[b, variance[name]] as const];
    });
    return {
      tables: [{
        title: `${statistics.episodeCount} episodes of the base agent`,
        columns: ["baseline", "tutorial b", "ours", "tutorial variance", "ours"],
        rows: names.map((name) => [
          name,
          TUTORIAL[name].b,
          bOf(name),
          TUTORIAL[name].variance,
          variance[name],
        ]),
      }],
      figures: [{
        title: "Total variance of the estimator under a constant baseline",
        xLabel: "baseline b",
        yLabel: "total variance",
        series: [
          { name: "from sufficient statistics", style: "line", points: curve },
          { name: "named constants", style: "points", points: marks },
        ],
      }],
      checks: checksOf(variance, direct),
      data: { constants, variance, statistics, directCheck: direct },
    };
  },
};
