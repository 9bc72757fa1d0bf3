/** Causal attention with grouped queries: H/G heads of queries share one head of keys and values (Ainslie et al. 2023). */
import { requireSizes } from "../core/shape.ts";

/** Sizes of grouped attention. */
export interface GroupedAttentionOptions {
  /** N, rows of all sequences. */
  readonly rowCount: number;
  /** H, a multiple of G. */
  readonly headCount: number;
  /** G. */
  readonly groupCount: number;
  /** K. */
  readonly headWidth: number;
  /** Row at which the sequence of each row begins; row n sees the rows from there to itself. */
  readonly first_N: ArrayLike<number>;
  readonly k_NGK: ArrayLike<number>;
  readonly v_NGK: ArrayLike<number>;
}

/**
 * o[n, h] = Σ_j softmax_j(q[n, h]·k[j, g] / √K) v[j, g] with g = ⌊h / (H/G)⌋ and j in first[n] … n.
 *
 * @param q_NHK Turned queries.
 * @returns o_NHK.
 * @throws {RangeError} When an array does not fit the shape.
 */
export function groupedAttentionForward(
  q_NHK: ArrayLike<number>,
  options: GroupedAttentionOptions,
): Float64Array {
  const { rowCount: N, headCount: H, groupCount: G, headWidth: K, first_N, k_NGK, v_NGK } = options;
  requireSizes("groupedAttentionForward", {
    q_NHK: [q_NHK, { N, H, K }],
    k_NGK: [k_NGK, { N, G, K }],
    v_NGK: [v_NGK, { N, G, K }],
    first_N: [first_N, { N }],
  });
  const o_NHK = new Float64Array(N * H * K);
  for (let n = 0; n < N; n++) {
    for (let h = 0; h < H; h++) {
      const g = Math.floor(h / (H / G));
      const scores = [];
      for (let j = first_N[n]; j <= n; j++) {
        let score = 0;
        for (let e = 0; e < K; e++) {
          score += q_NHK[(n * H + h) * K + e] * k_NGK[(j * G + g) * K + e];
        }
        scores.push(score / Math.sqrt(K));
      }
      const most = scores.reduce((a, b) => Math.max(a, b));
      const weights = scores.map((score) => Math.exp(score - most));
      const sum = weights.reduce((a, b) => a + b);
      weights.forEach((weight, i) => {
        for (let e = 0; e < K; e++) {
          o_NHK[(n * H + h) * K + e] += weight / sum * v_NGK[((first_N[n] + i) * G + g) * K + e];
        }
      });
    }
  }
  return o_NHK;
}
