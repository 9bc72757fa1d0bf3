/** Layer normalization: y = (x − mean) · rstd · gain + bias over the D columns of each row (Ba et al. 2016, arXiv:1607.06450). */
import { requireSizes } from "../core/shape.ts";

/** Added to the variance before the square root; PyTorch's default. */
export const LAYERNORM_EPS = 1e-5;

/** Sizes of a layer normalization. */
export interface LayernormShape {
  /** N, packed rows. */
  readonly rowCount: number;
  /** D, columns that are normalized together. */
  readonly width: number;
}

/** What {@link layernormForward} returns; mean and rstd are what the backward reads. */
export interface LayernormResult {
  /** The normalized rows. */
  readonly y_ND: Float64Array;
  /** Mean of each row. */
  readonly mean_N: Float64Array;
  /** 1 / sqrt(variance + eps) of each row, the variance being the biased one (divided by D). */
  readonly rstd_N: Float64Array;
}

/**
 * y[n, d] = (x[n, d] − mean[n]) · rstd[n] · gain[d] + bias[d].
 *
 * The variance is summed from the centred values, not as E[x²] − mean², which cancels when a row has a large offset.
 *
 * @param x_ND Rows to normalize.
 * @throws {RangeError} When an array does not fit the shape.
 */
export function layernormForward(
  x_ND: ArrayLike<number>,
  options: LayernormShape & {
    readonly gain_D: ArrayLike<number>;
    readonly bias_D: ArrayLike<number>;
  },
): LayernormResult {
  const { rowCount: N, width: D, gain_D, bias_D } = options;
  requireSizes("layernormForward", {
    x_ND: [x_ND, { N, D }],
    gain_D: [gain_D, { D }],
    bias_D: [bias_D, { D }],
  });
  const y_ND = new Float64Array(N * D);
  const mean_N = new Float64Array(N);
  const rstd_N = new Float64Array(N);
  for (let n = 0; n < N; n++) {
    let sum = 0;
    for (let d = 0; d < D; d++) sum += x_ND[n * D + d];
    const mean = sum / D;
    let squares = 0;
    for (let d = 0; d < D; d++) squares += (x_ND[n * D + d] - mean) ** 2;
    const rstd = 1 / Math.sqrt(squares / D + LAYERNORM_EPS);
    for (let d = 0; d < D; d++) {
      y_ND[n * D + d] = (x_ND[n * D + d] - mean) * rstd * gain_D[d] + bias_D[d];
    }
    mean_N[n] = mean;
    rstd_N[n] = rstd;
  }
  return { y_ND, mean_N, rstd_N };
}

/** The three gradients of a layer normalization. */
export interface LayernormGradient {
  /** Gradient of the input. */
  readonly dx_ND: Float64Array;
  /** Gradient of the gain. */
  readonly dgain_D: Float64Array;
  /** Gradient of the bias. */
  readonly dbias_D: Float64Array;
}

/**
 * Gradients of {@link layernormForward}; the rows' contributions to dgain and dbias are added in ascending n.
 *
 * @param dy_ND Gradient of y_ND.
 * @throws {RangeError} When an array does not fit the shape.
 */
export function layernormBackward(
  dy_ND: ArrayLike<number>,
  options: LayernormShape & {
    readonly x_ND: ArrayLike<number>;
    readonly gain_D: ArrayLike<number>;
    readonly mean_N: ArrayLike<number>;
    readonly rstd_N: ArrayLike<number>;
  },
): LayernormGradient {
  const { rowCount: N, width: D, x_ND, gain_D, mean_N, rstd_N } = options;
  requireSizes("layernormBackward", {
    dy_ND: [dy_ND, { N, D }],
    x_ND: [x_ND, { N, D }],
    gain_D: [gain_D, { D }],
    mean_N: [mean_N, { N }],
    rstd_N: [rstd_N, { N }],
  });
  const dx_ND = new Float64Array(N * D);
  const dgain_D = new Float64Array(D);
  const dbias_D = new Float64Array(D);
  for (let n = 0; n < N; n++) {
    // Forward: y = xhat · gain + bias, with xhat = (x − mean) · rstd
    let meanOfDxhat = 0;
    let meanOfDxhatTimesXhat = 0;
    for (let d = 0; d < D; d++) {
      const xhat = (x_ND[n * D + d] - mean_N[n]) * rstd_N[n];
      const dxhat = dy_ND[n * D + d] * gain_D[d];
      dgain_D[d] += dy_ND[n * D + d] * xhat;
      dbias_D[d] += dy_ND[n * D + d];
      meanOfDxhat += dxhat / D;
      meanOfDxhatTimesXhat += dxhat * xhat / D;
    }
    // Forward: xhat = (x − mean(x)) · rstd(x); mean and rstd each carry one of the two subtracted terms.
    for (let d = 0; d < D; d++) {
      const xhat = (x_ND[n * D + d] - mean_N[n]) * rstd_N[n];
      const dxhat = dy_ND[n * D + d] * gain_D[d];
      dx_ND[n * D + d] = rstd_N[n] * (dxhat - meanOfDxhat - xhat * meanOfDxhatTimesXhat);
    }
  }
  return { dx_ND, dgain_D, dbias_D };
}
