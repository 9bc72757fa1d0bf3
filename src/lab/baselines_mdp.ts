/** Experiment `baselines_mdp`: baselines leave the estimate unbiased and change its variance, held to the exact gradient. */
import { mean, sampleVariance } from "../core/statistics.ts";
import { DRAW, type Experiment, type LabCheck } from "./experiment.ts";
import {
  type RepairProblem,
  repairProblem,
  type RepairSample,
  sampleRepair,
  scoreEstimate,
  sliceSample,
} from "./repair_estimates.ts";
import { norm, relativeError } from "../core/vectors.ts";

const BATCHES = 400;
const BATCH_SIZE = 64;

const TUTORIAL = {
  "none": { error: 0.033, noise: 0.034, variance: 0.0071 },
  "exact J": { error: 0.028, noise: 0.03, variance: 0.0057 },
  "batch mean": { error: 0.038, noise: 0.03, variance: 0.0056 },
  "constant 1": { error: 0.08, noise: 0.056, variance: 0.0191 },
} as const;

/** What is subtracted from the return at a step. */
type Baseline = (
  batch: RepairSample,
  step: { readonly state: number; readonly row: number },
) => number;

/** The four of the tutorial, and the two of the variants. */
export function repairBaselines({ exact: { j, value_S, q_SA } }: RepairProblem) {
  return {
    "none": () => 0,
    "exact J": () => j,
    "batch mean": ({ returns_B }) => mean(returns_B),
    "constant 1": () => 1,
    "V(s)": (_, { state }) => value_S[state],
    "Q(s, a)": (_, { row }) => q_SA[row],
  } satisfies Record<string, Baseline>;
}

/** How an estimator with a baseline behaves over many batches. */
export interface BaselineQuality {
  /** Relative error of the mean of all batches. */
  readonly error: number;
  /** Standard error of that mean, relative to the exact gradient: the error that chance explains. */
  readonly noise: number;
  /** Total variance of the estimate of one batch. */
  readonly variance: number;
}

/** Measures a baseline on batches of 64 episodes. */
export function measureBaseline(
  problem: RepairProblem,
  sample: RepairSample,
  baseline: Baseline,
): BaselineQuality {
  const { policy_SA, gradient_SA } = problem;
  const count = Math.floor(sample.returns_B.length / BATCH_SIZE);
  const estimates = Array.from({ length: count }, (_, i) => {
    const batch = sliceSample(sample, i * BATCH_SIZE, (i + 1) * BATCH_SIZE);
    return scoreEstimate(batch, {
      policy_SA,
      weight: (step) => batch.returns_B[step.episode] - baseline(batch, step),
    });
  });
  const columns = Array.from(gradient_SA, (_, row) => estimates.map((estimate) => estimate[row]));
  const variance = columns.map(sampleVariance).reduce((a, b) => a + b, 0);
  return {
    error: relativeError(columns.map(mean), gradient_SA),
    noise: Math.sqrt(variance / count) / norm(gradient_SA),
    variance,
  };
}

type Measured = Readonly<Record<string, BaselineQuality>>;

function unbiased(measured: Measured, names: readonly string[]): LabCheck[] {
  return names.map((name) => ({
    requirement: `${name}: mean within 2 noise levels of exact`,
    value: measured[name].error / measured[name].noise,
    holds: measured[name].error <= 2 * measured[name].noise,
  }));
}

function smaller(measured: Measured, a: string, b: string): LabCheck {
  const ratio = measured[a].variance / measured[b].variance;
  return { requirement: `variance of ${a} below ${b}`, value: ratio, holds: ratio < 1 };
}

function checksOf(measured: Measured, variant: string | undefined): LabCheck[] {
  if (variant === "value") {
    return [...unbiased(measured, ["V(s)"]), smaller(measured, "V(s)", "exact J")];
  }
  if (variant === "q") {
    const { error, noise } = measured["Q(s, a)"];
    return [{
      requirement: "Q(s, a): mean at least 5 noise levels off",
      value: error / noise,
      holds: error >= 5 * noise,
    }];
  }
  return [
    ...unbiased(measured, Object.keys(TUTORIAL)),
    smaller(measured, "exact J", "none"),
    smaller(measured, "batch mean", "none"),
    smaller(measured, "none", "constant 1"),
  ];
}

function rowsOf(name: string, source: string, quality: BaselineQuality | undefined) {
  return quality === undefined
    ? []
    : [[name, source, quality.error, quality.noise, quality.variance]];
}

/** Bias and variance of the estimate under each baseline, where the exact gradient is known. */
export const BASELINES_MDP: Experiment = {
  name: "baselines_mdp",
  title: "Baselines do not bias the gradient, and they can quiet it",
  shows:
    `The mean of ${BATCHES} batches of ${BATCH_SIZE} episodes agrees with the exact gradient whatever constant is ` +
    "subtracted from the returns; the variance of one batch does not stay the same.",
  tutorial: TUTORIAL,
  variants: {
    value: "the baseline V(s), applied at every step",
    q: "Q(s, a), which depends on the action: no baseline, the mean goes wrong",
  },
  costSeconds: 1,
  run: ({ seed, variant }) => {
    const problem = repairProblem(seed);
    const sample = sampleRepair(problem, {
      draw: DRAW.repairBatches,
      episodeCount: BATCHES * BATCH_SIZE,
    });
    const baselines: Record<string, Baseline> = repairBaselines(problem);
    const extra = variant === "value" ? ["V(s)"] : variant === "q" ? ["Q(s, a)"] : [];
    const names = [...Object.keys(TUTORIAL), ...extra];
    const measured = Object.fromEntries(
      names.map((name) => [name, measureBaseline(problem, sample, baselines[name])]),
    );
    const tutorial: Readonly<Record<string, BaselineQuality>> = TUTORIAL;
    return Promise.resolve({
      tables: [{
        title: "relative error of the mean, its noise level, variance of a batch",
        columns: ["baseline", "source", "error", "noise", "variance"],
        rows: names.flatMap((name) => [
          ...rowsOf(name, "tutorial", tutorial[name]),
          ...rowsOf(name, "ours", measured[name]),
        ]),
      }],
      figures: [],
      checks: checksOf(measured, variant),
      data: { j: problem.exact.j, measured },
    });
  },
};
