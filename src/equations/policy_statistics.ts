/** Optimizer metrics of one minibatch from its per-token log-probs, in float64 on the host. */
import { at } from "../core/element.ts";
import {
  clipRatio,
  klTerm,
  policyLoss,
  type PolicyLossOptions,
  type PolicyLossTokens,
  requirePolicyLossTokens,
} from "./policy_loss.ts";

/** Means are taken with meanWeight (mask / Σ mask), extremes over the tokens where it is above 0. */
export interface PolicyStatistics {
  /** The value of {@link policyLoss}. */
  readonly loss: number;
  /** Mean entropy, in nats. */
  readonly entropy: number;
  /** Mean of exp(d) − 1 − d with d = log π − log π_old, in nats: k3 of the old policy against the new one. */
  readonly approxKl: number;
  /** Largest exp(d) − 1 − d of a single token, in nats. */
  readonly approxKlMax: number;
  /** Share of the tokens with ρA > clip(ρ)A, in [0, 1]: those whose surrogate has no gradient. */
  readonly clipFraction: number;
  /** Smallest ratio ρ = π / π_old. */
  readonly ratioMin: number;
  /** Largest ratio ρ = π / π_old. */
  readonly ratioMax: number;
  /** Mean k3 estimate of KL(π ‖ π_ref), in nats. */
  readonly klRef: number;
}

/**
 * The statistics of a minibatch, over the tokens that its loss trains on.
 *
 * Without a trained token there is nothing to measure: means are 0 and both ratios 1, as after an update that did nothing.
 *
 * @param tokens Per-token arrays; oldLogp_N and refLogp_N are read whatever the surrogate.
 * @throws {RangeError} When the arrays differ in length.
 */
export function policyStatistics(
  tokens: PolicyLossTokens,
  options: PolicyLossOptions,
): PolicyStatistics {
  const { logp_N, entropy_N, oldLogp_N, refLogp_N, advantage_N, meanWeight_N } = tokens;
  requirePolicyLossTokens("policyStatistics", tokens);
  let entropy = 0, approxKl = 0, approxKlMax = 0, clipFraction = 0, klRef = 0;
  let ratioMin = Infinity, ratioMax = -Infinity;
  for (let n = 0; n < logp_N.length; n++) {
    const weight = at(meanWeight_N, n);
    if (weight === 0) continue;
    const logp = at(logp_N, n);
    const advantage = at(advantage_N, n);
    const difference = logp - at(oldLogp_N, n);
    const ratio = Math.exp(difference);
    // The samples are the old policy's, so the estimate's own d is log π_old − log π.
    const tokenKl = klTerm("k3", -difference).value;
    entropy += weight * at(entropy_N, n);
    approxKl += weight * tokenKl;
    approxKlMax = Math.max(approxKlMax, tokenKl);
    if (ratio * advantage > clipRatio(ratio, options) * advantage) clipFraction += weight;
    ratioMin = Math.min(ratioMin, ratio);
    ratioMax = Math.max(ratioMax, ratio);
    klRef += weight * klTerm("k3", logp - at(refLogp_N, n)).value;
  }
  if (ratioMin === Infinity) ratioMin = ratioMax = 1;
  const { loss } = policyLoss(tokens, options);
  return { loss, entropy, approxKl, approxKlMax, clipFraction, ratioMin, ratioMax, klRef };
}
