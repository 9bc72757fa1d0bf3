/** One optimizer step: clip the gradient by its global norm, then Adam (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1). */
import { at } from "../core/element.ts";
import { requireSizes } from "../core/shape.ts";
import { ADAM_BETA1, ADAM_BETA2, ADAM_EPS } from "../equations/adam.ts";

/** Keeps the clip factor finite at a gradient of 0; PyTorch's `clip_grad_norm_`. */
export const CLIP_EPS = 1e-6;

/**
 * Euclidean norm of the whole gradient: sqrt(Σ g²).
 *
 * @param gradient_W All gradients as one flat array.
 */
export function globalNorm(gradient_W: ArrayLike<number>): number {
  let squares = 0;
  for (let w = 0; w < gradient_W.length; w++) squares += at(gradient_W, w) ** 2;
  return Math.sqrt(squares);
}

/**
 * min(1, maxNorm / (norm + 1e-6)): what the gradient is multiplied by, so that its norm stays at or below maxNorm.
 *
 * @param norm The gradient's norm.
 * @param maxNorm Infinity never clips.
 */
export function clipFactor(norm: number, maxNorm: number): number {
  return Math.min(1, maxNorm / (norm + CLIP_EPS));
}

/** Weights and both moments as flat arrays of one length. */
export interface AdamState {
  /** All parameters. */
  readonly weight_W: ArrayLike<number>;
  /** Exponential mean of the clipped gradients; 0 before the first step. */
  readonly m_W: ArrayLike<number>;
  /** Exponential mean of the squared clipped gradients; 0 before the first step. */
  readonly v_W: ArrayLike<number>;
}

/** What {@link clipAdam} returns. */
export interface ClipAdamResult {
  /** Weights after the step. */
  readonly weight_W: Float64Array;
  /** First moment after the step. */
  readonly m_W: Float64Array;
  /** Second moment after the step. */
  readonly v_W: Float64Array;
  /** Norm of the gradient before the clip. */
  readonly gradNorm: number;
}

/**
 * g = clipFactor · gradient; m ← β1 m + (1 − β1) g; v ← β2 v + (1 − β2) g²;
 * weight ← weight − lr / (1 − β1^t) · m / (sqrt(v) / sqrt(1 − β2^t) + eps).
 *
 * A step with gradient 0 still moves the weights as long as m is not 0.
 *
 * @param state Weights and moments before the step; not changed.
 * @param options `stepNumber` t counts from 1.
 * @throws {RangeError} When the arrays differ in length or the step number is not an integer from 1.
 */
export function clipAdam(
  state: AdamState,
  options: {
    readonly gradient_W: ArrayLike<number>;
    readonly stepNumber: number;
    readonly learningRate: number;
    readonly maxNorm: number;
    /** Decays of the moments (default 0.9 and 0.999). */
    readonly betas?: readonly [number, number];
    /** Added to the root of the second moment (default 1e-8). */
    readonly eps?: number;
  },
): ClipAdamResult {
  const { gradient_W, stepNumber, learningRate, maxNorm, eps = ADAM_EPS } = options;
  const { betas: [beta1, beta2] = [ADAM_BETA1, ADAM_BETA2] } = options;
  const W = state.weight_W.length;
  requireSizes("clipAdam", {
    gradient_W: [gradient_W, { W }],
    m_W: [state.m_W, { W }],
    v_W: [state.v_W, { W }],
  });
  if (!(Number.isInteger(stepNumber) && stepNumber >= 1)) {
    throw new RangeError(
      `Cannot compute clipAdam: the step number is ${stepNumber} but must be an integer from 1`,
    );
  }
  const gradNorm = globalNorm(gradient_W);
  const factor = clipFactor(gradNorm, maxNorm);
  const stepSize = learningRate / (1 - beta1 ** stepNumber);
  const rootOfCorrection2 = Math.sqrt(1 - beta2 ** stepNumber);
  const weight_W = new Float64Array(W);
  const m_W = new Float64Array(W);
  const v_W = new Float64Array(W);
  for (let w = 0; w < W; w++) {
    const g = factor * at(gradient_W, w);
    const m = beta1 * at(state.m_W, w) + (1 - beta1) * g;
    const v = beta2 * at(state.v_W, w) + (1 - beta2) * g ** 2;
    m_W[w] = m;
    v_W[w] = v;
    const denominator = Math.sqrt(v) / rootOfCorrection2 + eps;
    weight_W[w] = at(state.weight_W, w) - stepSize * m / denominator;
  }
  return { weight_W, m_W, v_W, gradNorm };
}
