/** A language model of a few tables, whose logits can be changed at will: prev token, the one before, and the mean of all. */
import { makeNoise } from "./noise.ts";
import type { OwnScores, ScoreIds } from "../../../src/diagnose/referee/own_scores.ts";

export const VOCABULARY = 48;

export interface ToyModel {
  readonly tables: readonly Float64Array[];
}

/** @param options.spread Standard deviation of the logits' parts. */
export function toyModel(seed: number, spread = 1.5): ToyModel {
  const noise = makeNoise(seed);
  return {
    tables: [spread, 0.6 * spread, spread].map((size) =>
      Float64Array.from({ length: VOCABULARY ** 2 }, () => size * noise())
    ),
  };
}

/** The same model after some updates. */
export function perturbed({ tables }: ToyModel, seed: number, size: number): ToyModel {
  const noise = makeNoise(seed);
  return { tables: tables.map((table) => table.map((value) => value + size * noise())) };
}

export function logitsAt({ tables: [one, two, all] }: ToyModel, ids: ArrayLike<number>, t: number) {
  const logits = new Float64Array(VOCABULARY);
  for (let v = 0; v < VOCABULARY; v++) {
    let sum = one![ids[t]! * VOCABULARY + v]!;
    if (t > 0) sum += two![ids[t - 1]! * VOCABULARY + v]!;
    let mean = 0;
    for (let u = 0; u <= t; u++) mean += all![ids[u]! * VOCABULARY + v]!;
    logits[v] = sum + 2 * mean / (t + 1);
  }
  return logits;
}

/** @param change What happens to logits before the softmax. */
export function scoreToy(
  model: ToyModel,
  ids: ArrayLike<number>,
  change: (logits: Float64Array) => Float64Array = (logits) => logits,
): OwnScores {
  const logp: number[] = [], entropy: number[] = [], logSumExp: number[] = [];
  for (let t = 0; t + 1 < ids.length; t++) {
    const logits = change(logitsAt(model, ids, t));
    const top = Math.max(...logits);
    const lse = top + Math.log(logits.reduce((sum, z) => sum + Math.exp(z - top), 0));
    logSumExp.push(lse);
    logp.push(logits[ids[t + 1]!]! - lse);
    entropy.push(-logits.reduce((sum, z) => sum + Math.exp(z - lse) * (z - lse), 0));
  }
  return { logp, entropy, logSumExp };
}

export function scorer(model: ToyModel): ScoreIds {
  return (ids_B, temperature) =>
    Promise.resolve(
      ids_B.map((ids) => scoreToy(model, ids, (logits) => logits.map((z) => z / temperature))),
    );
}

/** Draws a sequence: a prompt that is uniform, then tokens of the model. */
export function drawIds(
  model: ToyModel,
  { prompt, answer, seed }: { prompt: number; answer: number; seed: number },
): Uint32Array {
  const noise = makeNoise(seed);
  const ids = Uint32Array.from(
    { length: prompt + answer },
    () => Math.floor(noise.uniform() * VOCABULARY),
  );
  for (let i = prompt; i < ids.length; i++) {
    const logits = logitsAt(model, ids, i - 1);
    const top = Math.max(...logits);
    const weights = logits.map((z) => Math.exp(z - top));
    let left = noise.uniform() * weights.reduce((sum, w) => sum + w, 0);
    ids[i] = Math.max(0, weights.findIndex((w) => (left -= w) < 0));
  }
  return ids;
}

/** To nearest, ties to even. */
export function toBf16(value: number): number {
  const bits = new Uint32Array(Float32Array.of(value).buffer);
  bits[0] = (bits[0]! + 0x7fff + ((bits[0]! >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(bits.buffer)[0]!;
}
