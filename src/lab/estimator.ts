/** Experiment `estimator`: the score-function estimator against the exact gradient, where that is known. */
import { mean } from "../core/statistics.ts";
import { DRAW, type Experiment } from "./experiment.ts";
import { repairProblem, sampleRepair, scoreEstimate } from "./repair_estimates.ts";
import { cosine, relativeError } from "../core/vectors.ts";

/** Episodes that one estimate takes. */
export const ESTIMATOR_EPISODES = 20_000;

const TUTORIAL = { j: 0.1323, meanReturn: 0.1264, relativeError: 0.068, cosine: 0.9988 } as const;

/** The estimate of a seed beside the exact gradient. */
export function measureEstimator(seed: number) {
  const problem = repairProblem(seed);
  const { policy_SA, gradient_SA, exact: { j } } = problem;
  const sample = sampleRepair(problem, {
    draw: DRAW.repairEpisodes,
    episodeCount: ESTIMATOR_EPISODES,
  });
  const { returns_B } = sample;
  const estimate_SA = scoreEstimate(sample, {
    policy_SA,
    weight: ({ episode }) => returns_B[episode],
  });
  return {
    j,
    meanReturn: mean(returns_B),
    relativeError: relativeError(estimate_SA, gradient_SA),
    cosine: cosine(estimate_SA, gradient_SA),
  };
}

/** The score-function estimate beside the exact gradient: its value, error and cosine. */
export const ESTIMATOR: Experiment = {
  name: "estimator",
  title: "The score-function estimator against an exact gradient",
  shows:
    "Sampled episodes alone give the gradient of the pass rate: the environment's probabilities are never " +
    "differentiated, nor looked at. In the repair MDP the exact gradient is known, so the error can be measured.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 1,
  run: ({ seed }) => {
    const ours = measureEstimator(seed);
    return Promise.resolve({
      tables: [{
        title: `${ESTIMATOR_EPISODES} episodes in the repair MDP`,
        columns: ["quantity", "tutorial", "ours"],
        rows: [
          ["exact J", TUTORIAL.j, ours.j],
          ["mean return", TUTORIAL.meanReturn, ours.meanReturn],
          ["relative error of the estimate", TUTORIAL.relativeError, ours.relativeError],
          ["cosine to the exact gradient", TUTORIAL.cosine, ours.cosine],
        ],
      }],
      figures: [],
      checks: [
        {
          requirement: "J from 0.08 to 0.20",
          value: ours.j,
          holds: ours.j >= 0.08 && ours.j <= 0.2,
        },
        { requirement: "cosine at least 0.995", value: ours.cosine, holds: ours.cosine >= 0.995 },
        {
          requirement: "relative error at most 0.12",
          value: ours.relativeError,
          holds: ours.relativeError <= 0.12,
        },
      ],
      data: ours,
    });
  },
};
