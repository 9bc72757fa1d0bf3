/** Log-prob of a chosen token, entropy and log-sum-exp of softmax(logits / temperature), from logits or from hidden states. */
import { linearBackward, linearForward } from "./linear.ts";
import { at } from "../core/element.ts";
import { requireIndices, requireSizes } from "../core/shape.ts";

/** N rows of logits over V tokens, with the token whose log-prob is asked for in each row. */
export interface LogprobOptions {
  /** N, packed rows. */
  readonly rowCount: number;
  /** V. */
  readonly vocabularySize: number;
  /** Token ids in [0, V). */
  readonly target_N: ArrayLike<number>;
  /** Above 0; the logits are divided by it. */
  readonly temperature: number;
}

/** The head that turns hidden states of width D into logits: logits = h Wᵀ + b. */
export interface HeadOptions {
  /** D, columns of the hidden states. */
  readonly width: number;
  /** Weight of the head. */
  readonly weight_VD: ArrayLike<number>;
  /** Bias of the head. */
  readonly bias_V: ArrayLike<number>;
}

/** Per row, in nats. */
export interface LogprobResult {
  /** log π(target) = z[target] − lse, with z = logits / temperature. */
  readonly logp_N: Float64Array;
  /** −Σ_v p[v] log p[v], in [0, log V]. */
  readonly entropy_N: Float64Array;
  /** log Σ_v exp(z[v]). */
  readonly lse_N: Float64Array;
}

/** Gradients that arrive at the two outputs of a log-prob. */
export interface LogprobOutputGradient {
  /** Gradient of the log-prob of each row. */
  readonly dlogp_N: ArrayLike<number>;
  /** Gradient of the entropy of each row. */
  readonly dentropy_N: ArrayLike<number>;
}

/**
 * Log-probs and entropies from logits.
 *
 * @param logits_NV Logits before the temperature.
 * @throws {RangeError} When an array does not fit, a target is not in [0, V) or the temperature is not above 0.
 */
export function logprobFromLogits(
  logits_NV: ArrayLike<number>,
  options: LogprobOptions,
): LogprobResult {
  const { rowCount: N, vocabularySize: V, target_N, temperature } = options;
  requireLogits("logprobFromLogits", { ...options, logits_NV });
  const logp_N = new Float64Array(N);
  const entropy_N = new Float64Array(N);
  const lse_N = new Float64Array(N);
  for (let n = 0; n < N; n++) {
    let max = -Infinity;
    for (let v = 0; v < V; v++) max = Math.max(max, at(logits_NV, n * V + v) / temperature);
    let sum = 0;
    for (let v = 0; v < V; v++) sum += Math.exp(at(logits_NV, n * V + v) / temperature - max);
    const lse = max + Math.log(sum);
    let entropy = 0;
    for (let v = 0; v < V; v++) {
      const logp = at(logits_NV, n * V + v) / temperature - lse;
      // p log p tends to 0 with p: a logit of −Infinity adds nothing.
      if (logp > -Infinity) entropy -= Math.exp(logp) * logp;
    }
    entropy_N[n] = entropy;
    logp_N[n] = at(logits_NV, n * V + at(target_N, n)) / temperature - lse;
    lse_N[n] = lse;
  }
  return { logp_N, entropy_N, lse_N };
}

/**
 * Gradient of {@link logprobFromLogits} with respect to the logits.
 *
 * @param logits_NV The forward's input.
 * @param options The forward's options and the gradients of its log-probs and entropies.
 * @returns dlogits_NV; each row sums to 0.
 * @throws {RangeError} When an array does not fit, a target is not in [0, V) or the temperature is not above 0.
 */
export function logprobFromLogitsBackward(
  logits_NV: ArrayLike<number>,
  options: LogprobOptions & LogprobOutputGradient,
): Float64Array {
  const { rowCount: N, vocabularySize: V, target_N, temperature } = options;
  const { dlogp_N, dentropy_N } = options;
  requireSizes("logprobFromLogitsBackward", {
    dlogp_N: [dlogp_N, { N }],
    dentropy_N: [dentropy_N, { N }],
  });
  const { entropy_N, lse_N } = logprobFromLogits(logits_NV, options);
  const dlogits_NV = new Float64Array(N * V);
  for (let n = 0; n < N; n++) {
    for (let v = 0; v < V; v++) {
      const logp = at(logits_NV, n * V + v) / temperature - at(lse_N, n);
      const p = Math.exp(logp);
      // Forward: logp[target] = z[target] − lse(z)
      let dz = at(dlogp_N, n) * ((v === target_N[n] ? 1 : 0) - p);
      // Forward: entropy = −Σ_v p[v] log p[v]
      if (p > 0) dz -= at(dentropy_N, n) * p * (logp + at(entropy_N, n));
      // Forward: z[v] = logits[v] / temperature
      dlogits_NV[n * V + v] = dz / temperature;
    }
  }
  return dlogits_NV;
}

/**
 * Log-probs and entropies from hidden states: the head's product followed by {@link logprobFromLogits}.
 *
 * @param h_ND Hidden states after the final layer normalization.
 * @throws {RangeError} When an array does not fit, a target is not in [0, V) or the temperature is not above 0.
 */
export function logprobForward(
  h_ND: ArrayLike<number>,
  options: LogprobOptions & HeadOptions,
): LogprobResult {
  return logprobFromLogits(headLogits(h_ND, options), options);
}

/** The gradients of {@link logprobForward}. */
export interface LogprobGradient {
  /** Gradient of the hidden states. */
  readonly dh_ND: Float64Array;
  /** Gradient of the head's weight. */
  readonly dweight_VD: Float64Array;
  /** Gradient of the head's bias. */
  readonly dbias_V: Float64Array;
}

/**
 * Gradients of {@link logprobForward}; the logits are computed again.
 *
 * @param h_ND The forward's input.
 * @param options The forward's options and the gradients of its log-probs and entropies.
 * @throws {RangeError} When an array does not fit, a target is not in [0, V) or the temperature is not above 0.
 */
export function logprobBackward(
  h_ND: ArrayLike<number>,
  options: LogprobOptions & HeadOptions & LogprobOutputGradient,
): LogprobGradient {
  // Forward: logp, entropy = logprobFromLogits(logits)
  const dlogits_NV = logprobFromLogitsBackward(headLogits(h_ND, options), options);
  // Forward: logits = h Wᵀ + b
  const { dx_NI, dweight_OI, dbias_O } = linearBackward(dlogits_NV, {
    rowCount: options.rowCount,
    inputWidth: options.width,
    outputWidth: options.vocabularySize,
    x_NI: h_ND,
    weight_OI: options.weight_VD,
  });
  return { dh_ND: dx_NI, dweight_VD: dweight_OI, dbias_V: dbias_O };
}

function headLogits(h_ND: ArrayLike<number>, options: LogprobOptions & HeadOptions): Float64Array {
  return linearForward(h_ND, {
    rowCount: options.rowCount,
    inputWidth: options.width,
    outputWidth: options.vocabularySize,
    weight_OI: options.weight_VD,
    bias_O: options.bias_V,
  }).y_NO;
}

function requireLogits(
  operation: string,
  input: LogprobOptions & { readonly logits_NV: ArrayLike<number> },
): void {
  const { rowCount: N, vocabularySize: V, logits_NV, target_N, temperature } = input;
  requireSizes(operation, { logits_NV: [logits_NV, { N, V }], target_N: [target_N, { N }] });
  requireIndices(operation, { name: "target_N", indices: target_N, limit: V });
  if (!(temperature > 0)) {
    throw new RangeError(
      `Cannot compute ${operation}: the temperature is ${temperature} but must be above 0`,
    );
  }
}
