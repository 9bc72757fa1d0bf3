/** Policy gradients of the repair MDP from samples, beside the exact one: what the first experiments share. */
import { randomSequence, STREAM } from "../core/rng.ts";
import {
  evaluatePolicy,
  makeRepairMdp,
  type PolicyEvaluation,
  policyGradient,
  REPAIR_ACTIONS,
  REPAIR_STATES,
  type RepairMdp,
  sampleEpisodes,
  softmaxPolicy,
} from "../gym/repair_mdp.ts";
import { DRAW } from "./experiment.ts";

const S = REPAIR_STATES.length;
const A = REPAIR_ACTIONS.length;

/** A random policy in the repair MDP with everything that is known exactly of it. */
export interface RepairProblem {
  readonly seed: number;
  readonly mdp: RepairMdp;
  /** [S, A]. */
  readonly policy_SA: Float64Array;
  /** J, V, Q and the expected visits. */
  readonly exact: PolicyEvaluation;
  /** The exact gradient of J with respect to the logits, [S, A]. */
  readonly gradient_SA: Float64Array;
}

/** Episodes of a policy in the repair MDP. */
export interface RepairSample {
  /** [B, S, A]: how often each action was taken in each state. */
  readonly visits_BSA: Float64Array;
  /** [B]: 0 or 1. */
  readonly returns_B: Float64Array;
}

/** A softmax policy over logits 0.5 · N(0, 1): neither uniform nor deterministic. */
export function repairProblem(seed: number): RepairProblem {
  const mdp = makeRepairMdp();
  const random = randomSequence({ seed, stream: STREAM.experiment, step: DRAW.repairLogits });
  const logits_SA = Float64Array.from({ length: S * A }, () => 0.5 * random.normal());
  const policy_SA = softmaxPolicy(logits_SA);
  return {
    seed,
    mdp,
    policy_SA,
    exact: evaluatePolicy(mdp, policy_SA),
    gradient_SA: policyGradient(mdp, logits_SA),
  };
}

/** Samples episodes. @param options.draw The step of STREAM.experiment. */
export function sampleRepair(
  { mdp, policy_SA, seed }: RepairProblem,
  options: { readonly draw: number; readonly episodeCount: number },
): RepairSample {
  const { draw, episodeCount } = options;
  const { uniform } = randomSequence({ seed, stream: STREAM.experiment, step: draw });
  return sampleEpisodes(mdp, { policy_SA, episodeCount, uniform });
}

/** Some of the episodes, from `begin` to before `end`. */
export function sliceSample(sample: RepairSample, begin: number, end: number): RepairSample {
  return {
    visits_BSA: sample.visits_BSA.subarray(begin * S * A, end * S * A),
    returns_B: sample.returns_B.subarray(begin, end),
  };
}

/**
 * The score-function estimate of the gradient, (1/B) Σ_b Σ_t w(b, s_t, a_t) ∇ log π(a_t | s_t). For a softmax table each
 * visit of (s, a) adds e_a − π(· | s) to row s, so P is needed for nothing (Williams 1992).
 *
 * @param options.weight The return, less a baseline: of the episode, the state and the place of (state, action) in [S, A].
 * @returns estimate_SA
 */
export function scoreEstimate(
  { visits_BSA, returns_B }: RepairSample,
  options: {
    readonly policy_SA: Float64Array;
    readonly weight: (
      step: { readonly episode: number; readonly state: number; readonly row: number },
    ) => number;
  },
): Float64Array {
  const { policy_SA, weight } = options;
  const weighted_SA = new Float64Array(S * A);
  for (let episode = 0; episode < returns_B.length; episode++) {
    for (let row = 0; row < S * A; row++) {
      const visits = visits_BSA[episode * S * A + row];
      if (visits === 0) continue;
      const state = Math.floor(row / A);
      weighted_SA[row] += visits * weight({ episode, state, row }) / returns_B.length;
    }
  }
  return weighted_SA.map((own, row) => {
    const first = row - row % A;
    const sum = weighted_SA.subarray(first, first + A).reduce((a, b) => a + b, 0);
    return own - policy_SA[row] * sum;
  });
}

/** The surrogate (1/B) Σ_b w_b Σ_t log π(a_t | s_t), whose gradient is the estimate and whose value means nothing. */
export function surrogateValue(
  { visits_BSA, returns_B }: RepairSample,
  options: { readonly policy_SA: Float64Array; readonly shift: number },
): number {
  const logp_SA = options.policy_SA.map(Math.log);
  let sum = 0;
  visits_BSA.forEach((visits, i) => {
    if (visits === 0) return;
    sum += (returns_B[Math.floor(i / (S * A))] + options.shift) * visits * logp_SA[i % (S * A)];
  });
  return sum / returns_B.length;
}
