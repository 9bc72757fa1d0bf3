/** Causal attention with rotary positions over packed episodes: o[n] = Σ_m softmax_m(q[n]·k[m] / sqrt(K)) v[m]. */
import { rotaryForward, rotaryInverse } from "./rotary.ts";
import { requireIndices, requireSizes } from "../core/shape.ts";

/** Where each packed row stands, and the sizes of the heads (D = H · K). */
export interface AttentionOptions {
  /** N, packed rows. */
  readonly rowCount: number;
  /** H. */
  readonly headCount: number;
  /** K, even. */
  readonly headWidth: number;
  /** Row at which the episode of each row begins; row n sees the rows startOfEpisode[n] … n. */
  readonly startOfEpisode_N: ArrayLike<number>;
  /** Index of each row's token in its episode, which sets the angle of its query and key. */
  readonly position_N: ArrayLike<number>;
}

/**
 * Attention of every row over the rows of its own episode up to itself.
 *
 * @param qkv_N3D Rows [q | k | v], each laid out as [head][K], before the rotary turn.
 * @returns o_ND, laid out as [head][K].
 * @throws {RangeError} When an array does not fit the shape, or an episode begins after its row.
 */
export function attentionForward(
  qkv_N3D: ArrayLike<number>,
  options: AttentionOptions,
): Float64Array {
  const { rowCount: N, headCount: H, headWidth: K, startOfEpisode_N } = options;
  requireAttention("attentionForward", { ...options, qkv_N3D });
  const { q_NHK, k_NHK, v_NHK } = splitAndTurn(qkv_N3D, options);
  const o_NHK = new Float64Array(N * H * K);
  for (let n = 0; n < N; n++) {
    for (let h = 0; h < H; h++) {
      const p_M = attentionRow({ q_NHK, k_NHK, n, h, options });
      for (let m = startOfEpisode_N[n]; m <= n; m++) {
        const p = p_M[m - startOfEpisode_N[n]];
        for (let i = 0; i < K; i++) o_NHK[(n * H + h) * K + i] += p * v_NHK[(m * H + h) * K + i];
      }
    }
  }
  return o_NHK;
}

/**
 * Gradient of {@link attentionForward}; the probabilities are computed again instead of being stored.
 *
 * @param do_ND Gradient of o_ND.
 * @param options The forward's options and its input.
 * @returns dqkv_N3D in the layout of qkv_N3D, the rotary turn undone.
 * @throws {RangeError} When an array does not fit the shape, or an episode begins after its row.
 */
export function attentionBackward(
  do_ND: ArrayLike<number>,
  options: AttentionOptions & { readonly qkv_N3D: ArrayLike<number> },
): Float64Array {
  const { rowCount: N, headCount: H, headWidth: K, startOfEpisode_N } = options;
  requireAttention("attentionBackward", options);
  requireSizes("attentionBackward", { do_ND: [do_ND, { N, D: H * K }] });
  const { q_NHK, k_NHK, v_NHK } = splitAndTurn(options.qkv_N3D, options);
  const scale = 1 / Math.sqrt(K);
  const dq_NHK = new Float64Array(N * H * K);
  const dk_NHK = new Float64Array(N * H * K);
  const dv_NHK = new Float64Array(N * H * K);
  for (let n = 0; n < N; n++) {
    const start = startOfEpisode_N[n];
    for (let h = 0; h < H; h++) {
      const p_M = attentionRow({ q_NHK, k_NHK, n, h, options });
      const query = (n * H + h) * K;
      const dp_M = new Float64Array(p_M.length);
      let meanOfDp = 0;
      for (let m = start; m <= n; m++) {
        const key = (m * H + h) * K;
        // Forward: o[n] = Σ_m p[m] v[m]
        for (let i = 0; i < K; i++) {
          dp_M[m - start] += do_ND[query + i] * v_NHK[key + i];
          dv_NHK[key + i] += p_M[m - start] * do_ND[query + i];
        }
        meanOfDp += p_M[m - start] * dp_M[m - start];
      }
      for (let m = start; m <= n; m++) {
        const key = (m * H + h) * K;
        // Forward: p = softmax(score)
        const dscore = p_M[m - start] * (dp_M[m - start] - meanOfDp);
        // Forward: score[m] = scale · q[n]·k[m]
        for (let i = 0; i < K; i++) {
          dq_NHK[query + i] += dscore * scale * k_NHK[key + i];
          dk_NHK[key + i] += dscore * scale * q_NHK[query + i];
        }
      }
    }
  }
  // Forward: q = rotaryForward(q of qkv), k = rotaryForward(k of qkv)
  return joinParts(
    [rotaryInverse(dq_NHK, options), rotaryInverse(dk_NHK, options), dv_NHK],
    options,
  );
}

function requireAttention(
  operation: string,
  input: AttentionOptions & { readonly qkv_N3D: ArrayLike<number> },
): void {
  const { rowCount: N, headCount: H, headWidth: K, startOfEpisode_N, position_N } = input;
  requireSizes(operation, {
    qkv_N3D: [input.qkv_N3D, { N, "3D": 3 * H * K }],
    startOfEpisode_N: [startOfEpisode_N, { N }],
    position_N: [position_N, { N }],
  });
  for (let n = 0; n < N; n++) {
    requireIndices(operation, {
      name: `startOfEpisode_N of row ${n}`,
      indices: [startOfEpisode_N[n]],
      limit: n + 1,
    });
  }
}

/** The turned queries and keys and the values, each [N][H][K]. */
function splitAndTurn(qkv_N3D: ArrayLike<number>, options: AttentionOptions) {
  const { rowCount: N, headCount: H, headWidth: K } = options;
  const D = H * K;
  const parts = [0, 1, 2].map((part) =>
    Float64Array.from(
      { length: N * D },
      (_, i) => qkv_N3D[Math.floor(i / D) * 3 * D + part * D + i % D],
    )
  );
  return {
    q_NHK: rotaryForward(parts[0], options),
    k_NHK: rotaryForward(parts[1], options),
    v_NHK: parts[2],
  };
}

function joinParts(parts: readonly Float64Array[], options: AttentionOptions): Float64Array {
  const { rowCount: N, headCount: H, headWidth: K } = options;
  const D = H * K;
  const qkv_N3D = new Float64Array(N * 3 * D);
  for (let n = 0; n < N; n++) {
    parts.forEach((part_ND, part) =>
      qkv_N3D.set(part_ND.subarray(n * D, (n + 1) * D), (n * 3 + part) * D)
    );
  }
  return qkv_N3D;
}

/** Probabilities of row n, head h over the M keys of its episode up to itself. */
function attentionRow(input: {
  readonly q_NHK: Float64Array;
  readonly k_NHK: Float64Array;
  readonly n: number;
  readonly h: number;
  readonly options: AttentionOptions;
}): Float64Array {
  const { q_NHK, k_NHK, n, h } = input;
  const { headCount: H, headWidth: K, startOfEpisode_N } = input.options;
  const start = startOfEpisode_N[n];
  const p_M = new Float64Array(n - start + 1);
  let max = -Infinity;
  for (let m = start; m <= n; m++) {
    let dot = 0;
    for (let i = 0; i < K; i++) dot += q_NHK[(n * H + h) * K + i] * k_NHK[(m * H + h) * K + i];
    p_M[m - start] = dot / Math.sqrt(K);
    max = Math.max(max, p_M[m - start]);
  }
  let sum = 0;
  for (let j = 0; j < p_M.length; j++) sum += p_M[j] = Math.exp(p_M[j] - max);
  for (let j = 0; j < p_M.length; j++) p_M[j] /= sum;
  return p_M;
}
