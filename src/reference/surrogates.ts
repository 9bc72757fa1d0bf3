/** Surrogate terms that the product does not train with, in float64 with their derivatives: clamps, dual clip, GSPO, CISPO. */
import { clippedTerm, type ValueAndDerivative } from "../equations/policy_loss.ts";

/** The clip of a ratio, as far as a term needs it. */
export interface ClipOptions {
  /** A. */
  readonly advantage: number;
  /** Distance of the lower clip from 1. */
  readonly clipLow: number;
  /** Distance of the upper clip from 1. */
  readonly clipHigh: number;
}

/**
 * A term of exp(clamp(x, −limit, limit)) with x = log π − log π_old. Where x is clamped, nothing depends on log π.
 *
 * @param logRatio x, in nats.
 * @param options.limit At least 0; Infinity clamps nothing.
 * @param options.term The term as a function of the ratio, with its derivative for log π.
 */
export function clampedRatioTerm(
  logRatio: number,
  options: { readonly limit: number; readonly term: (ratio: number) => ValueAndDerivative },
): ValueAndDerivative {
  const { limit, term } = options;
  const clamped = Math.min(Math.max(logRatio, -limit), limit);
  const { value, derivative } = term(Math.exp(clamped));
  return { value, derivative: clamped === logRatio ? derivative : 0 };
}

/** The term −ρA, which nothing clips. */
export function ratioTerm(ratio: number, advantage: number): ValueAndDerivative {
  return { value: -ratio * advantage, derivative: -ratio * advantage };
}

/**
 * The dual clip (Ye et al. 2020, arXiv:1912.09729, equation 5): where A < 0, the loss of {@link clippedTerm} is at most −cA, so that
 * a huge ratio cannot push a bad token down without bound.
 *
 * @param ratio ρ, above 0.
 * @param options.dualClip c, above 1.
 */
export function dualClippedTerm(
  ratio: number,
  options: ClipOptions & { readonly dualClip: number },
): ValueAndDerivative {
  const { advantage, dualClip } = options;
  const term = clippedTerm(ratio, options);
  const most = -dualClip * advantage;
  return advantage < 0 && term.value > most ? { value: most, derivative: 0 } : term;
}

/**
 * CISPO's term −stop(clip(ρ)) A log π (MiniMax 2025, arXiv:2506.13585, equation 4): the clipped ratio is a constant weight, so a
 * clipped token still has a gradient.
 *
 * @param logp log π of the token.
 * @param options.weight The clipped ratio.
 */
export function stoppedWeightTerm(
  logp: number,
  options: { readonly weight: number; readonly advantage: number },
): ValueAndDerivative {
  const { weight, advantage } = options;
  return { value: -weight * advantage * logp, derivative: -weight * advantage };
}

/**
 * GSPO's log-ratio of a sequence (Zheng et al. 2025, arXiv:2507.18071, equation 7): the mean of the tokens' log-ratios under the mask,
 * so its exponential is the |y|-th root of the sequences' ratio.
 *
 * @param logRatio_T log π − log π_old of the row's tokens; not looked at where the mask is 0.
 * @param mask_T 1 where the token counts.
 * @returns 0 for a row without a token.
 */
export function sequenceLogRatio(
  logRatio_T: readonly number[],
  mask_T: readonly number[],
): number {
  let sum = 0;
  let count = 0;
  for (const [t, mask] of mask_T.entries()) {
    if (mask === 0) continue;
    sum += logRatio_T[t] ?? 0;
    count += 1;
  }
  return sum / Math.max(count, 1);
}
