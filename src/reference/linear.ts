/** Linear layer: y = x Wᵀ + b, with GELU or a residual as its optional epilogue. */
import { gelu, geluDerivative } from "./gelu.ts";
import { at } from "../core/element.ts";
import { requireSizes } from "../core/shape.ts";

/** Sizes of a linear layer; the weight is stored as O rows of I. */
export interface LinearShape {
  /** N. */
  readonly rowCount: number;
  /** I, columns of the input and of the weight. */
  readonly inputWidth: number;
  /** O, columns of the output and rows of the weight. */
  readonly outputWidth: number;
}

/** The weight of a layer and what its epilogue needs. GELU and residual exclude each other. */
export type LinearOptions =
  & LinearShape
  & {
    readonly weight_OI: ArrayLike<number>;
    /** Left out: no bias. */
    readonly bias_O?: ArrayLike<number>;
  }
  & ({ readonly epilogue?: "none" | "gelu" } | {
    readonly epilogue: "residual";
    /** Added to the product. */
    readonly residual_NO: ArrayLike<number>;
  });

/** What {@link linearForward} returns. */
export interface LinearResult {
  /** The output after the epilogue. */
  readonly y_NO: Float64Array;
  /** x Wᵀ + b before the epilogue, which the backward of the GELU reads. */
  readonly preActivation_NO: Float64Array;
}

/**
 * pre = x Wᵀ + b, then y = pre, y = gelu(pre) or y = residual + pre.
 *
 * Each output is one sum over ascending input columns; the bias is added after the sum.
 *
 * @param x_NI Input rows.
 * @throws {RangeError} When an array does not fit the shape.
 */
export function linearForward(x_NI: ArrayLike<number>, options: LinearOptions): LinearResult {
  const { rowCount: N, inputWidth: I, outputWidth: O, weight_OI, bias_O } = options;
  requireSizes("linearForward", {
    x_NI: [x_NI, { N, I }],
    weight_OI: [weight_OI, { O, I }],
    ...(bias_O && { bias_O: [bias_O, { O }] }),
    ...(options.epilogue === "residual" && { residual_NO: [options.residual_NO, { N, O }] }),
  });
  const preActivation_NO = new Float64Array(N * O);
  for (let n = 0; n < N; n++) {
    for (let o = 0; o < O; o++) {
      let sum = 0;
      for (let i = 0; i < I; i++) sum += at(x_NI, n * I + i) * at(weight_OI, o * I + i);
      preActivation_NO[n * O + o] = bias_O ? sum + at(bias_O, o) : sum;
    }
  }
  switch (options.epilogue) {
    case undefined:
    case "none":
      return { y_NO: preActivation_NO, preActivation_NO };
    case "gelu":
      return { y_NO: preActivation_NO.map(gelu), preActivation_NO };
    case "residual": {
      const { residual_NO } = options;
      return { y_NO: preActivation_NO.map((pre, i) => at(residual_NO, i) + pre), preActivation_NO };
    }
    default:
      return options satisfies never;
  }
}

/** The gradients of a linear layer. A residual's own gradient is dy_NO itself. */
export interface LinearGradient {
  /** Gradient of the input. */
  readonly dx_NI: Float64Array;
  /** Gradient of the weight. */
  readonly dweight_OI: Float64Array;
  /** Gradient of the bias, whether the forward had one or not. */
  readonly dbias_O: Float64Array;
}

/**
 * Gradients of {@link linearForward}; rows are added in ascending n.
 *
 * @param dy_NO Gradient of the output.
 * @param options The forward's input and weight; for a GELU epilogue also its pre-activation.
 * @throws {RangeError} When an array does not fit the shape.
 */
export function linearBackward(
  dy_NO: ArrayLike<number>,
  options: LinearShape & {
    readonly x_NI: ArrayLike<number>;
    readonly weight_OI: ArrayLike<number>;
    /** Given exactly when the forward ended in a GELU. */
    readonly geluPreActivation_NO?: ArrayLike<number>;
  },
): LinearGradient {
  const { rowCount: N, inputWidth: I, outputWidth: O, x_NI, weight_OI } = options;
  const { geluPreActivation_NO } = options;
  requireSizes("linearBackward", {
    dy_NO: [dy_NO, { N, O }],
    x_NI: [x_NI, { N, I }],
    weight_OI: [weight_OI, { O, I }],
    ...(geluPreActivation_NO && { geluPreActivation_NO: [geluPreActivation_NO, { N, O }] }),
  });
  const dx_NI = new Float64Array(N * I);
  const dweight_OI = new Float64Array(O * I);
  const dbias_O = new Float64Array(O);
  for (let n = 0; n < N; n++) {
    for (let o = 0; o < O; o++) {
      let dpre = at(dy_NO, n * O + o);
      // Forward: y[n, o] = gelu(pre[n, o])
      if (geluPreActivation_NO) dpre *= geluDerivative(at(geluPreActivation_NO, n * O + o));
      // Forward: pre[n, o] = Σ_i x[n, i] · weight[o, i] + bias[o]
      dbias_O[o] = at(dbias_O, o) + dpre;
      for (let i = 0; i < I; i++) {
        dx_NI[n * I + i] = at(dx_NI, n * I + i) + dpre * at(weight_OI, o * I + i);
        dweight_OI[o * I + i] = at(dweight_OI, o * I + i) + dpre * at(x_NI, n * I + i);
      }
    }
  }
  return { dx_NI, dweight_OI, dbias_O };
}
