/** Rotary positions with a base and a scaling of a checkpoint's own, and Qwen3's norm of each head before it. */
import { requireSizes } from "../core/shape.ts";
import { rmsnormForward } from "./rmsnorm.ts";

/** How the turns of pairs are slowed for contexts that are longer than those of the first training. */
export type RotaryScaling =
  | { readonly kind: "none" }
  /** Positions divided by a factor (Chen et al. 2023, arXiv:2306.15595). */
  | { readonly kind: "linear"; readonly factor: number }
  /** Slow pairs divided by the factor, fast ones as they are, a blend between (Llama 3.1). */
  | {
    readonly kind: "llama3";
    readonly factor: number;
    readonly lowFactor: number;
    readonly highFactor: number;
    /** Positions of the first training. */
    readonly originalPositions: number;
  };

/** The angles' parameters. */
export interface RotaryOptions {
  /** K, even. */
  readonly headWidth: number;
  readonly theta: number;
  readonly scaling: RotaryScaling;
}

/** Radians that pair p of a head turns by from one position to the next. */
export function rotaryFrequency(pair: number, options: RotaryOptions): number {
  const { headWidth, theta, scaling } = options;
  const plain = 1 / theta ** (2 * pair / headWidth);
  if (scaling.kind === "none") return plain;
  if (scaling.kind === "linear") return plain / scaling.factor;
  // Turns that a pair makes over the first training's positions decide how much of it is kept.
  const turns = scaling.originalPositions * plain / (2 * Math.PI);
  const share = (turns - scaling.lowFactor) / (scaling.highFactor - scaling.lowFactor);
  const kept = Math.min(1, Math.max(0, share));
  return kept * plain + (1 - kept) * plain / scaling.factor;
}

/**
 * Heads, normalized if gains are given, then turned: the pair (x[i], x[i + K/2]) by position · frequency.
 *
 * @param x_NHK Rows of heads.
 * @param options.position_N Index of each row's token in its sequence.
 * @returns Heads of the same shape.
 * @throws {RangeError} When an array does not fit the shape.
 */
export function headRotaryForward(
  x_NHK: ArrayLike<number>,
  options: RotaryOptions & {
    readonly rowCount: number;
    readonly headCount: number;
    readonly position_N: ArrayLike<number>;
    readonly norm: { readonly gain_K: ArrayLike<number>; readonly epsilon: number } | undefined;
  },
): Float64Array {
  const { rowCount: N, headCount: H, headWidth: K, position_N, norm } = options;
  requireSizes("headRotaryForward", {
    x_NHK: [x_NHK, { N, H, K }],
    position_N: [position_N, { N }],
  });
  const heads = norm === undefined ? Float64Array.from(x_NHK) : rmsnormForward(x_NHK, {
    rowCount: N * H,
    width: K,
    gain_D: norm.gain_K,
    epsilon: norm.epsilon,
  });
  const y_NHK = new Float64Array(N * H * K);
  for (let i = 0; i < N * H; i++) {
    for (let pair = 0; pair < K / 2; pair++) {
      const angle = position_N[Math.floor(i / H)] * rotaryFrequency(pair, options);
      const a = heads[i * K + pair], b = heads[i * K + K / 2 + pair];
      y_NHK[i * K + pair] = a * Math.cos(angle) - b * Math.sin(angle);
      y_NHK[i * K + K / 2 + pair] = b * Math.cos(angle) + a * Math.sin(angle);
    }
  }
  return y_NHK;
}
