/** What stored weights are worth, and the operations that read them: rows of a table, products with an optional bias, log-probs. */
import { requireIndices, requireSizes } from "../core/shape.ts";
import { linearForward } from "./linear.ts";
import { logprobFromLogits, type LogprobResult } from "./logprob.ts";

/** The value of 16 bits as bfloat16: sign, 8 bits of exponent, 7 of mantissa. */
export function bf16Value(bits: number): number {
  return floatValue(bits, { exponentBits: 8, mantissaBits: 7 });
}

/** The value of 16 bits as IEEE 754 binary16: sign, 5 bits of exponent, 10 of mantissa. */
export function f16Value(bits: number): number {
  return floatValue(bits, { exponentBits: 5, mantissaBits: 10 });
}

function floatValue(
  bits: number,
  { exponentBits, mantissaBits }: { readonly exponentBits: number; readonly mantissaBits: number },
): number {
  const bias = 2 ** (exponentBits - 1) - 1;
  const exponent = (bits >> mantissaBits) & (2 ** exponentBits - 1);
  const fraction = (bits & (2 ** mantissaBits - 1)) / 2 ** mantissaBits;
  const sign = bits >> 15 ? -1 : 1;
  if (exponent === 2 ** exponentBits - 1) return fraction > 0 ? NaN : sign * Infinity;
  return exponent === 0
    ? sign * fraction * 2 ** (1 - bias)
    : sign * (1 + fraction) * 2 ** (exponent - bias);
}

/** Rows of a table [V, D] by token. @throws {RangeError} When an id is outside. */
export function storedEmbeddingForward(
  id_N: ArrayLike<number>,
  options: {
    readonly width: number;
    readonly vocabularySize: number;
    readonly weight_VD: ArrayLike<number>;
  },
): Float64Array {
  const { width: D, vocabularySize: V, weight_VD } = options;
  requireSizes("storedEmbeddingForward", { weight_VD: [weight_VD, { V, D }] });
  requireIndices("storedEmbeddingForward", { name: "id_N", indices: id_N, limit: V });
  return Float64Array.from(
    { length: id_N.length * D },
    (_, i) => weight_VD[id_N[Math.floor(i / D)] * D + i % D],
  );
}

/** Sizes and weights of a product with an optional bias. */
export interface StoredLinearOptions {
  /** N. */
  readonly rowCount: number;
  /** K. */
  readonly inputWidth: number;
  /** M. */
  readonly outputWidth: number;
  readonly weight_MK: ArrayLike<number>;
  readonly bias_M: ArrayLike<number> | undefined;
}

/** y = x Wᵀ + b. @returns y_NM. @throws {RangeError} When an array does not fit the shape. */
export function storedLinearForward(
  x_NK: ArrayLike<number>,
  options: StoredLinearOptions,
): Float64Array {
  const { weight_MK, bias_M, ...shape } = options;
  return linearForward(x_NK, {
    ...shape,
    weight_OI: weight_MK,
    bias_O: bias_M ?? new Float64Array(options.outputWidth),
  }).y_NO;
}

/** Log-probs and entropies from hidden states and a head without bias; as `logprobFromLogits`. */
export function storedLogprobForward(
  h_ND: ArrayLike<number>,
  options: {
    readonly rowCount: number;
    readonly width: number;
    readonly vocabularySize: number;
    readonly weight_VD: ArrayLike<number>;
    readonly target_N: ArrayLike<number>;
    readonly temperature: number;
  },
): LogprobResult {
  const { width, weight_VD, ...rest } = options;
  const logits_NV = storedLinearForward(h_ND, {
    rowCount: rest.rowCount,
    inputWidth: width,
    outputWidth: rest.vocabularySize,
    weight_MK: weight_VD,
    bias_M: undefined,
  });
  return logprobFromLogits(logits_NV, rest);
}
