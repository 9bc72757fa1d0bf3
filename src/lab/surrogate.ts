/** Experiment `surrogate`: shifted returns change the loss at will, and its expected gradient not at all. */
import { mean } from "../core/statistics.ts";
import { ESTIMATOR_EPISODES } from "./estimator.ts";
import { DRAW, type Experiment, sizeOf } from "./experiment.ts";
import {
  type RepairProblem,
  repairProblem,
  sampleRepair,
  scoreEstimate,
  surrogateValue,
} from "./repair_estimates.ts";
import { cosine } from "../core/vectors.ts";

/** Independent samples over which the cosines are averaged. */
const STREAMS = 20;

const TUTORIAL = {
  shift: ["0", "-J", "+5"],
  value: [-0.8342, -0.4056, -17.0281],
  cosine: [0.9988, 0.9992, 0.7833],
} as const;

/** Value and cosine of the surrogate for returns shifted by 0, −J and +5, on one stream of episodes. */
export function measureSurrogate(
  problem: RepairProblem,
  options: { readonly draw: number; readonly episodeCount: number },
) {
  const { policy_SA, gradient_SA, exact: { j } } = problem;
  const sample = sampleRepair(problem, options);
  return [0, -j, 5].map((shift) => ({
    value: surrogateValue(sample, { policy_SA, shift }),
    cosine: cosine(
      scoreEstimate(sample, {
        policy_SA,
        weight: ({ episode }) => sample.returns_B[episode] + shift,
      }),
      gradient_SA,
    ),
  }));
}

/** The value and the gradient of the surrogate loss at three shifts of the returns. */
export const SURROGATE: Experiment = {
  name: "surrogate",
  title: "The value of the surrogate loss means nothing",
  shows:
    "Returns shifted by a constant give losses that have nothing to do with each other, but estimates of the same gradient. The shift decides the noise: −J is a good baseline, +5 a bad one.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 3,
  run: (context) => {
    const problem = repairProblem(context.seed);
    const episodeCount = sizeOf(context, { full: ESTIMATOR_EPISODES, quick: 4000 });
    const streams = Array.from(
      { length: STREAMS },
      (_, stream) =>
        measureSurrogate(problem, { draw: DRAW.repairEpisodes + stream, episodeCount }),
    );
    const [none, exactJ, five] = [0, 1, 2].map((i) => mean(streams.map((s) => 1 - s[i].cosine)));
    return Promise.resolve({
      tables: [{
        title: `${episodeCount} episodes per stream; the first stream, and the mean of ${STREAMS}`,
        columns: [
          "shift",
          "tutorial value",
          "ours",
          "tutorial cosine",
          "ours",
          "mean of 1 - cosine",
        ],
        rows: streams[0].map(({ value, cosine }, i) => [
          TUTORIAL.shift[i],
          TUTORIAL.value[i],
          value,
          TUTORIAL.cosine[i],
          cosine,
          [none, exactJ, five][i],
        ]),
      }],
      figures: [],
      checks: [
        {
          requirement: "1 - cosine smaller at -J than at 0",
          value: exactJ / none,
          holds: exactJ < none,
        },
        {
          requirement: "1 - cosine largest at +5",
          value: five / none,
          holds: five > none && five > exactJ,
        },
      ],
      data: { j: problem.exact.j, streams },
    });
  },
};
