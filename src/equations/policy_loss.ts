/** The policy loss over packed tokens: surrogate + KL to a reference − entropy, and its gradient for log-probs and entropies. */
import { at } from "../core/element.ts";
import { requireSizes } from "../core/shape.ts";

/** Every surrogate term. */
export const SURROGATE_KINDS = ["reinforce", "clipped"] as const;

/** `reinforce`: −A log π. `clipped`: PPO's pessimistic clipped ratio. */
export type SurrogateKind = typeof SURROGATE_KINDS[number];

/** Every estimator of the KL divergence; see {@link klTerm}. */
export const KL_KINDS = ["k1", "k2", "k3"] as const;

/** Schulman's three estimators of the KL divergence from samples of the policy. */
export type KlKind = typeof KL_KINDS[number];

/** One entry per packed token. Rows whose two weights are 0 are not looked at. */
export interface PolicyLossTokens {
  /** Log-prob of the token under the policy that is being trained, in nats. */
  readonly logp_N: ArrayLike<number>;
  /** Entropy of the policy at the token, in nats. */
  readonly entropy_N: ArrayLike<number>;
  /** Log-prob under the policy before the update; read by `clipped` only. */
  readonly oldLogp_N: ArrayLike<number>;
  /** Log-prob under the reference policy; read when `klCoef` is not 0. */
  readonly refLogp_N: ArrayLike<number>;
  /** Advantage of the token, a constant of the loss. */
  readonly advantage_N: ArrayLike<number>;
  /** Weight of the token's surrogate term under the chosen aggregation; 0 where masked. */
  readonly weight_N: ArrayLike<number>;
  /** mask / Σ mask: weight of the token's KL and entropy terms, whatever the aggregation. */
  readonly meanWeight_N: ArrayLike<number>;
}

/** What the loss is made of. */
export interface PolicyLossOptions {
  /** Which term every token contributes. */
  readonly surrogate: SurrogateKind;
  /** Distance of the lower clip from 1: the ratio is clipped to [1 − clipLow, 1 + clipHigh]. */
  readonly clipLow: number;
  /** Distance of the upper clip from 1; at least 0. */
  readonly clipHigh: number;
  /** Estimator of the KL divergence to the reference. */
  readonly klKind: KlKind;
  /** 0 leaves the KL term out. */
  readonly klCoef: number;
  /** Above 0 rewards entropy, below 0 penalizes it. */
  readonly entropyCoef: number;
}

/** The loss and its gradient for the two per-token quantities that depend on the weights. */
export interface PolicyLossResult {
  /** Value of the loss; not a measure of progress. */
  readonly loss: number;
  /** dloss/dlogp of each token. */
  readonly dlogp_N: Float64Array;
  /** dloss/dentropy of each token. */
  readonly dentropy_N: Float64Array;
}

/** A value and its derivative with respect to the log-prob of the policy. */
export interface ValueAndDerivative {
  /** The value. */
  readonly value: number;
  /** Derivative of the value for log π. */
  readonly derivative: number;
}

/**
 * The surrogate term −A log π (REINFORCE, Williams 1992), in which the ratio plays no role.
 *
 * @param logp log π of the token.
 * @param advantage A.
 */
export function reinforceTerm(logp: number, advantage: number): ValueAndDerivative {
  return { value: -advantage * logp, derivative: -advantage };
}

/**
 * The surrogate term −min(ρA, clip(ρ, 1 − low, 1 + high) A) of PPO (Schulman et al. 2017, arXiv:1707.06347, equation 7),
 * with separate clips below and above (DAPO, Yu et al. 2025, arXiv:2503.14476).
 *
 * Where the two branches tie, the unclipped one gives the derivative. PyTorch halves a tie, but inside the clip range both
 * halves are equal, and outside it a tie needs A = 0; so the numbers are PyTorch's.
 *
 * @param ratio ρ = π / π_old of the token, above 0; dρ/dlog π = ρ.
 * @param options The advantage A and the clip.
 */
export function clippedTerm(
  ratio: number,
  options: { readonly advantage: number; readonly clipLow: number; readonly clipHigh: number },
): ValueAndDerivative {
  const { advantage } = options;
  const unclipped = ratio * advantage;
  const clipped = clipRatio(ratio, options) * advantage;
  return unclipped <= clipped
    ? { value: -unclipped, derivative: -unclipped }
    : { value: -clipped, derivative: 0 };
}

/**
 * clip(ρ, 1 − clipLow, 1 + clipHigh).
 *
 * @param ratio ρ, above 0.
 */
export function clipRatio(
  ratio: number,
  clip: { readonly clipLow: number; readonly clipHigh: number },
): number {
  return Math.min(Math.max(ratio, 1 - clip.clipLow), 1 + clip.clipHigh);
}

/**
 * One-sample estimate of KL(π ‖ π_ref) and its derivative for log π, with d = log π − log π_ref (J. Schulman,
 * "Approximating KL Divergence", 2020): k1 = d, k2 = ½ d², k3 = exp(−d) − 1 + d.
 *
 * k1 is unbiased and may be negative; k2 is biased and never negative; k3 is both unbiased and never negative. That is
 * about their values: under the policy's own samples the expected derivative of k1 is 0, whatever the reference.
 *
 * @param kind Which estimator.
 * @param difference d, in nats.
 */
export function klTerm(kind: KlKind, difference: number): ValueAndDerivative {
  switch (kind) {
    case "k1":
      return { value: difference, derivative: 1 };
    case "k2":
      return { value: 0.5 * difference ** 2, derivative: difference };
    case "k3": {
      // exp(−d) − 1 without the cancellation near d = 0.
      const expm1 = Math.expm1(-difference);
      return { value: expm1 + difference, derivative: -expm1 };
    }
    default:
      return kind satisfies never;
  }
}

/**
 * loss = Σ weight · surrogate + klCoef · Σ meanWeight · kl − entropyCoef · Σ meanWeight · entropy.
 *
 * @param tokens Per-token arrays of equal length N.
 * @returns The loss, dloss/dlogp and dloss/dentropy; both are 0 at tokens without weight.
 * @throws {RangeError} When the arrays differ in length.
 */
export function policyLoss(
  tokens: PolicyLossTokens,
  options: PolicyLossOptions,
): PolicyLossResult {
  const { logp_N, entropy_N, oldLogp_N, refLogp_N, advantage_N, weight_N, meanWeight_N } = tokens;
  requirePolicyLossTokens("policyLoss", tokens);
  const { surrogate, klKind, klCoef, entropyCoef } = options;
  const N = logp_N.length;
  const dlogp_N = new Float64Array(N);
  const dentropy_N = new Float64Array(N);
  let loss = 0;
  for (let n = 0; n < N; n++) {
    const logp = at(logp_N, n);
    const weight = at(weight_N, n);
    const meanWeight = at(meanWeight_N, n);
    let dlogp = 0;
    if (weight !== 0) {
      const advantage = at(advantage_N, n);
      const term = surrogate === "reinforce"
        ? reinforceTerm(logp, advantage)
        : clippedTerm(Math.exp(logp - at(oldLogp_N, n)), { ...options, advantage });
      loss += weight * term.value;
      dlogp += weight * term.derivative;
    }
    if (meanWeight !== 0) {
      if (klCoef !== 0) {
        const kl = klTerm(klKind, logp - at(refLogp_N, n));
        loss += klCoef * meanWeight * kl.value;
        dlogp += klCoef * meanWeight * kl.derivative;
      }
      if (entropyCoef !== 0) {
        loss -= entropyCoef * meanWeight * at(entropy_N, n);
        dentropy_N[n] = -entropyCoef * meanWeight;
      }
    }
    dlogp_N[n] = dlogp;
  }
  return { loss, dlogp_N, dentropy_N };
}

/**
 * Checks that the per-token arrays of a policy loss have one length.
 *
 * @throws {RangeError} When they differ.
 */
export function requirePolicyLossTokens(operation: string, tokens: PolicyLossTokens): void {
  const axes = { N: tokens.logp_N.length };
  requireSizes(operation, {
    entropy_N: [tokens.entropy_N, axes],
    oldLogp_N: [tokens.oldLogp_N, axes],
    refLogp_N: [tokens.refLogp_N, axes],
    advantage_N: [tokens.advantage_N, axes],
    weight_N: [tokens.weight_N, axes],
    meanWeight_N: [tokens.meanWeight_N, axes],
  });
}
