/** Experiment `detach`: a baseline that stays attached to the policy adds a term that nothing justifies. */
import { randomSequence, STREAM } from "../core/rng.ts";
import { DRAW, type Experiment } from "./experiment.ts";
import { relativeError } from "../core/vectors.ts";

/** Logits and rewards of a bandit with five calls, of which two pass. */
const LOGITS = [0.5, -0.2, 0.1, 0, 0.3];
const REWARDS = [1, 0, 0, 1, 0];
const DRAWS = 200_000;

const TUTORIAL = { detached: 0.001, attached: 1.538 } as const;

function softmax(logits_A: readonly number[]): number[] {
  const weights_A = logits_A.map(Math.exp);
  const sum = weights_A.reduce((a, b) => a + b, 0);
  return weights_A.map((weight) => weight / sum);
}

/** The policy of the bandit. */
export const BANDIT_POLICY: readonly number[] = softmax(LOGITS);

/**
 * Relative errors of the gradient estimate of mean((r − b) log π), b = π(first call), with b as a constant (detached) and
 * with b as a function of the logits (attached), which adds −∇b · mean(log π); its expectation is H(π) ∇b.
 *
 * @param frequency_A How often each call was drawn, as shares; the policy itself gives the errors of infinitely many draws.
 */
export function banditErrors(frequency_A: readonly number[]): {
  readonly detached: number;
  readonly attached: number;
} {
  const policy_A = BANDIT_POLICY;
  const sumOver = (term: (a: number) => number) => policy_A.reduce((sum, _, a) => sum + term(a), 0);
  const passRate = sumOver((a) => policy_A[a] * REWARDS[a]);
  const exact_A = policy_A.map((p, j) => p * (REWARDS[j] - passRate));
  const baseline = policy_A[0];
  const detached_A = policy_A.map((p, j) =>
    sumOver((a) => frequency_A[a] * (REWARDS[a] - baseline) * (Number(a === j) - p))
  );
  const meanLogp = sumOver((a) => frequency_A[a] * Math.log(policy_A[a]));
  const attached_A = detached_A.map((estimate, j) =>
    estimate - baseline * (Number(j === 0) - policy_A[j]) * meanLogp
  );
  return {
    detached: relativeError(detached_A, exact_A),
    attached: relativeError(attached_A, exact_A),
  };
}

/** Shares of the calls among many draws. */
function drawFrequencies(seed: number): number[] {
  const { uniform } = randomSequence({ seed, stream: STREAM.experiment, step: DRAW.bandit });
  const counts_A = BANDIT_POLICY.map(() => 0);
  for (let i = 0; i < DRAWS; i++) {
    let rest = uniform();
    let action = 0;
    while (action < counts_A.length - 1 && rest >= BANDIT_POLICY[action]) {
      rest -= BANDIT_POLICY[action++];
    }
    counts_A[action]++;
  }
  return counts_A.map((count) => count / DRAWS);
}

/** Gradients with the baseline as a constant and with it left attached, each held to the exact one. */
export const DETACH: Experiment = {
  name: "detach",
  title: "A baseline must be a constant of the loss",
  shows:
    "A bandit with five calls whose baseline is read off the policy. As a constant it changes nothing; left attached " +
    "it adds H(π) ∇b, an error as large as the gradient itself, while the loss looks as before.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 1,
  run: ({ seed }) => {
    const ours = banditErrors(drawFrequencies(seed));
    const limit = banditErrors(BANDIT_POLICY);
    return Promise.resolve({
      tables: [{
        title: `relative error to the exact gradient, ${DRAWS} draws`,
        columns: ["baseline", "tutorial", "ours", "infinitely many"],
        rows: [
          ["detached", TUTORIAL.detached, ours.detached, Number(limit.detached.toFixed(12))],
          ["attached", TUTORIAL.attached, ours.attached, limit.attached],
        ],
      }],
      figures: [],
      checks: [
        { requirement: "detached below 0.01", value: ours.detached, holds: ours.detached < 0.01 },
        {
          requirement: "attached 1.538 ± 0.02",
          value: ours.attached,
          holds: Math.abs(ours.attached - TUTORIAL.attached) <= 0.02,
        },
      ],
      data: { ...ours, limit },
    });
  },
};
