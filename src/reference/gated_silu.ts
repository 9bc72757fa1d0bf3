/** The gated SiLU of a feed-forward: y = silu(gate) ⊙ up, silu(z) = z / (1 + exp(−z)) (Shazeer 2020, arXiv:2002.05202). */
import { requireSizes } from "../core/shape.ts";

/**
 * y[n, f] = silu(gate_up[n, f]) · gate_up[n, F + f].
 *
 * @param gate_up_N2F Gates, then what they let through.
 * @returns y_NF.
 * @throws {RangeError} When the array does not fit the shape.
 */
export function gatedSiluForward(
  gate_up_N2F: ArrayLike<number>,
  options: { readonly rowCount: number; readonly width: number },
): Float64Array {
  const { rowCount: N, width: F } = options;
  requireSizes("gatedSiluForward", { gate_up_N2F: [gate_up_N2F, { N, "2F": 2 * F }] });
  const y_NF = new Float64Array(N * F);
  for (let n = 0; n < N; n++) {
    for (let f = 0; f < F; f++) {
      const z = gate_up_N2F[2 * n * F + f];
      y_NF[n * F + f] = z / (1 + Math.exp(-z)) * gate_up_N2F[(2 * n + 1) * F + f];
    }
  }
  return y_NF;
}
