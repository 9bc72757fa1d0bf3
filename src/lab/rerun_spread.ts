/** Experiment `rerun_spread`: how far an exact rerun, a rerun from nudged weights and another seed move the first steps. */
import { largest } from "../core/statistics.ts";
import { randomSequence, STREAM } from "../core/rng.ts";
import { catalogueConfig } from "../faults/catalogue.ts";
import { faultyStages } from "../faults/faults.ts";
import type { MetricName, MetricsRow } from "../rl/metrics.ts";
import type { Weights } from "./agents.ts";
import { catalogueRun, debugBaseAgent, QUICK_STEPS, trainRun } from "./debug_runs.ts";
import { DRAW, type Experiment, type LabContext } from "./experiment.ts";

const TUTORIAL = {
  identicalSteps: 6,
  nudged: { equalRewards: 6, gradNormDifference: 8.3e-6 },
  otherSeed: { equalRewards: 0, gradNormDifference: 0.17 },
} as const;

/** Steps that are compared. */
const STEPS = 6;
/** Relative size of the noise on the weights: a stand-in for sums whose order is left to chance. */
const NOISE = 1e-5;
/** What the noise may change in a gradient norm (the text that is reproduced has 8e-6). */
const NORM_BOUND = 1e-4;

/** Metrics that only an evaluated step has; evaluations draw from a stream of their own. */
const EVALUATION: readonly MetricName[] = ["eval_pass", "eval_pass_low", "eval_pass_high"];

/** Weights times (1 + noise). */
function nudge(weights_W: Weights, seed: number): Weights {
  const random = randomSequence({ seed, stream: STREAM.experiment, step: DRAW.rerunNoise });
  return weights_W.map((weight) => weight * (1 + NOISE * random.normal()));
}

/**
 * Steps of two runs whose metrics have the same bits.
 * @returns Their number; metrics of the held-out evaluation, which one run may have left out, do not count.
 */
export function identicalSteps(a: readonly MetricsRow[], b: readonly MetricsRow[]): number {
  return a.filter((row, i) => {
    const keys = (Object.keys(row) as MetricName[]).filter((key) => !EVALUATION.includes(key));
    return keys.every((key) => Object.is(row[key], b[i]?.[key]));
  }).length;
}

/** How far a rerun is from a run. */
export function rerunDistance(run: readonly MetricsRow[], rerun: readonly MetricsRow[]) {
  const differences = run.map(({ grad_norm }, i) =>
    Math.abs(grad_norm - (rerun[i]?.grad_norm ?? NaN))
  );
  return {
    identicalSteps: identicalSteps(run, rerun),
    equalRewards: run.filter(({ reward }, i) => reward === rerun[i]?.reward).length,
    gradNormDifference: largest(differences),
  };
}

async function measure(context: LabContext) {
  const { seed, quick } = context;
  const base_W = await debugBaseAgent(context);
  const healthy = await catalogueRun(context, "healthy", quick ? { steps: QUICK_STEPS } : {});
  const run = healthy.slice(0, STEPS);
  const rerun = async (note: string, options: { seed: number; weights_W: Weights }) => {
    const config = { ...catalogueConfig("healthy", options.seed), steps: STEPS, evalEvery: 0 };
    const { weights_W } = options;
    const request = { config, stages: faultyStages(undefined), weights_W };
    return rerunDistance(run, await trainRun(context, request, { note, share: () => 0.7 }));
  };
  return {
    again: await rerun("same seed", { seed, weights_W: base_W }),
    nudged: await rerun("nudged weights", { seed, weights_W: nudge(base_W, seed) }),
    otherSeed: await rerun("another seed", { seed: seed + 1, weights_W: base_W }),
  };
}

/** How far three kinds of reruns move the first steps. */
export const RERUN_SPREAD: Experiment = {
  name: "rerun_spread",
  title: "What a rerun changes: nothing, the last digits, or everything",
  shows:
    "The same seed gives the same bits, although the first run was evaluated in between and the rerun was not. " +
    "Weights that are off by 1e-5 move no reward and barely move a gradient norm; another seed moves all of them.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 16, // Most of it cloning the base agent, which those that follow share.
  run: async (context) => {
    const ours = await measure(context);
    const { again, nudged, otherSeed } = ours;
    return {
      tables: [{
        title: `the first ${STEPS} steps of a healthy run against a rerun`,
        columns: ["rerun", "tutorial", "ours"],
        rows: [
          ["same seed: identical steps", TUTORIAL.identicalSteps, again.identicalSteps],
          ["nudged weights: equal rewards", TUTORIAL.nudged.equalRewards, nudged.equalRewards],
          [
            "largest difference of grad_norm",
            TUTORIAL.nudged.gradNormDifference,
            nudged.gradNormDifference,
          ],
          ["another seed: equal rewards", TUTORIAL.otherSeed.equalRewards, otherSeed.equalRewards],
          [
            "largest difference of grad_norm",
            TUTORIAL.otherSeed.gradNormDifference,
            otherSeed.gradNormDifference,
          ],
        ],
      }],
      figures: [],
      checks: [
        {
          requirement: "same seed: every metric of every step has the same bits",
          value: `${again.identicalSteps} of ${STEPS}`,
          holds: again.identicalSteps === STEPS,
        },
        {
          requirement: "nudged weights: the same rewards",
          value: `${nudged.equalRewards} of ${STEPS}`,
          holds: nudged.equalRewards === STEPS,
        },
        {
          requirement: `nudged weights: gradient norms within ${NORM_BOUND}`,
          value: nudged.gradNormDifference,
          holds: nudged.gradNormDifference <= NORM_BOUND,
        },
        {
          requirement: "another seed: no step is the same",
          value: `${otherSeed.identicalSteps} of ${STEPS}`,
          holds: otherSeed.identicalSteps === 0 && otherSeed.gradNormDifference > NORM_BOUND,
        },
      ],
      data: ours,
    };
  },
};
