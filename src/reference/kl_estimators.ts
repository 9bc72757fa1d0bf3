/** Estimators of the KL divergence that the product does not train with, in float64 with the derivatives that they are given. */
import { type KlKind, klTerm, type ValueAndDerivative } from "../equations/policy_loss.ts";

/** |d|, whose derivative is the sign of d (0 where d is 0, as PyTorch has it). */
export function absoluteKlTerm(difference: number): ValueAndDerivative {
  return { value: Math.abs(difference), derivative: Math.sign(difference) };
}

/**
 * {@link klTerm} with the difference clamped before and the value clamped after, as trainers do against overflow. Where either clamp
 * holds, the derivative is 0.
 *
 * @param difference d = log π − log π_ref, in nats.
 * @param options.differenceLimit d is clamped to ± this; Infinity leaves it.
 * @param options.valueLimit The value is clamped to ± this; Infinity leaves it.
 */
export function clampedKlTerm(
  difference: number,
  options: {
    readonly kind: KlKind;
    readonly differenceLimit: number;
    readonly valueLimit: number;
  },
): ValueAndDerivative {
  const { kind, differenceLimit, valueLimit } = options;
  const clamped = Math.min(Math.max(difference, -differenceLimit), differenceLimit);
  const { value, derivative } = klTerm(kind, clamped);
  const bounded = Math.min(Math.max(value, -valueLimit), valueLimit);
  return {
    value: bounded,
    derivative: clamped === difference && bounded === value ? derivative : 0,
  };
}

/**
 * The value of one estimator with the derivative of k2, which is d: under the policy's own samples its expectation is the gradient of
 * the divergence, where those of k1 and k3 are not.
 */
export function withK2Derivative(
  term: ValueAndDerivative,
  difference: number,
): ValueAndDerivative {
  return { value: term.value, derivative: klTerm("k2", difference).derivative };
}
