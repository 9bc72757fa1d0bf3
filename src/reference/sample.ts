/** Sampling one token by inversion of the cumulative distribution of softmax(logits / temperature). */

/**
 * The first token v with Σ_{w ≤ v} exp(z[w] − max) > uniform · Σ_w exp(z[w] − max), where z = logits / temperature.
 *
 * The comparison is strict, so a token of probability 0 is never drawn, not even by uniform = 0. Both sums run over
 * ascending tokens and end in the same number, so some token is found for every uniform below 1.
 *
 * @param logits_V Logits before the temperature; −Infinity (or anything whose exponential vanishes) means probability 0.
 * @param options `temperature` above 0 and `uniform` in [0, 1).
 * @returns A token id in [0, V).
 * @throws {RangeError} When the temperature or the uniform is out of range, or no logit is finite.
 */
export function sampleToken(
  logits_V: ArrayLike<number>,
  options: { readonly temperature: number; readonly uniform: number },
): number {
  const { temperature, uniform } = options;
  if (!(temperature > 0 && uniform >= 0 && uniform < 1)) {
    throw new RangeError(
      `Cannot sample a token: temperature ${temperature} must be above 0 and uniform ${uniform} in [0, 1)`,
    );
  }
  let max = -Infinity;
  for (let v = 0; v < logits_V.length; v++) max = Math.max(max, logits_V[v] / temperature);
  let sum = 0;
  for (let v = 0; v < logits_V.length; v++) sum += Math.exp(logits_V[v] / temperature - max);
  let cumulative = 0;
  for (let v = 0; v < logits_V.length; v++) {
    cumulative += Math.exp(logits_V[v] / temperature - max);
    if (cumulative > uniform * sum) return v;
  }
  throw new RangeError(
    `Cannot sample a token: the largest of ${logits_V.length} logits is ${max} but must be finite`,
  );
}
