/** Sides of a dump of a real decoder: what a healthy engine says of the tokens, and what broken ones say. */
import type { LogProbSide } from "../../../src/tokens/token_batch.ts";
import {
  begin64,
  type Change64,
  logProbs64,
  logSoftmax64,
  type Weights64,
} from "../../model/float64_decoder.ts";
import type { RandomConfig } from "../../model/random_decoder.ts";
import { makeNoise, type Noise } from "./noise.ts";

/** A dump's tokens, and the model that drew them. */
export interface RealDump {
  readonly config: RandomConfig;
  readonly weights: Weights64;
  readonly seed: number;
  readonly sequences: readonly RealSequence[];
}

/** A sequence of the dump. */
export interface RealSequence {
  readonly row: number;
  readonly ids: readonly number[];
  readonly prompt: number;
  /** Padding that stood on its left in the batch. */
  readonly left: number;
}

/** Log-probs of a sequence behind its first token. */
export type RealSide = (sequence: RealSequence, dump: RealDump) => number[];

/** What padding consists of. */
export const PAD = 0;

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** To nearest, ties to even. */
export function bf16(value: number): number {
  float[0] = value;
  bits[0] = (bits[0]! + 0x7fff + ((bits[0]! >>> 16) & 1)) & 0xffff0000;
  return float[0]!;
}

/** How a policy draws. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  /** Tokens that the model did not draw, most of them unlikely. */
  readonly isUniform?: true;
}

/** Logits divided by the temperature, and those of unlikely tokens out of reach. */
function cut(logits: Float64Array, { temperature = 1, topP = 1, topK = Infinity }: Sampling) {
  const hot = logits.map((value) => value / temperature);
  if (topP === 1 && topK === Infinity) return hot;
  const logp = logSoftmax64(hot);
  const order = Array.from(logp.keys()).toSorted((a, b) => logp[b]! - logp[a]!);
  let mass = 0;
  const kept = new Set(order.filter((id, n) => {
    const isKept = n < topK && mass < topP;
    mass += Math.exp(logp[id]!);
    return isKept;
  }));
  return hot.map((value, id) => kept.has(id) ? value : -1e9);
}

/** Draws a dump's tokens. @param options How, and how many sequences. */
export function drawDump(
  model: Pick<RealDump, "config" | "weights" | "seed">,
  { count = 12, ...sampling }: Sampling & { readonly count?: number } = {},
): RealDump {
  const noise = makeNoise(7000 + model.seed);
  const sequences = Array.from({ length: count }, (_, row): RealSequence => {
    const prompt = 5 + row % 4, length = prompt + 26 + (7 * row) % 11;
    const next = begin64(model.config, model.weights);
    const ids: number[] = [];
    let logits = new Float64Array();
    for (let i = 0; i < length; i++) {
      ids.push(
        i < prompt || sampling.isUniform
          ? 1 + Math.floor(noise.uniform() * (model.config.vocab_size - 1))
          : draw(cut(logits, sampling), noise),
      );
      logits = next(ids[i]!) as Float64Array<ArrayBuffer>;
    }
    return { row, ids, prompt, left: 1 + row % 5 };
  });
  return { ...model, sequences };
}

function draw(logits: Float64Array, noise: Noise): number {
  let left = noise.uniform();
  const found = logSoftmax64(logits).findIndex((logp) => (left -= Math.exp(logp)) < 0);
  return Math.max(0, found);
}

const scored = (
  { ids }: Pick<RealSequence, "ids">,
  { config, weights }: Pick<RealDump, "config" | "weights">,
  { change, ...rest }: Change64 & { readonly change?: (logits: Float64Array) => Float64Array } = {},
) => logProbs64(ids, begin64(config, weights, rest), change);

/** The weights after updates of a size relative to their spread. */
export function moved(weights: Weights64, seed: number, size: number): Map<string, Float64Array> {
  const noise = makeNoise(seed);
  return new Map(Array.from(weights, ([name, values]) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const spread = Math.sqrt(
      values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length,
    );
    return [name, values.map((value) => Math.fround(value + size * spread * noise()))];
  }));
}

/** f32 of the definition. */
export const exact: RealSide = (sequence, dump) => scored(sequence, dump).map(Math.fround);

/** An engine that stores everything in bf16. */
export const inBf16: RealSide = (sequence, dump) => scored(sequence, dump, { round: bf16 });

/** Another one, whose sums end in other last digits before they are rounded. */
export const alsoInBf16: RealSide = (sequence, dump) => {
  const noise = makeNoise(31 * dump.seed + sequence.row);
  return scored(sequence, dump, { round: (value) => bf16(value * (1 + 1e-3 * noise())) });
};

/** bf16 behind f32 logits, as engines mostly end: activations rounded, the head not. */
export const noisy: RealSide = (sequence, dump) => {
  const noise = makeNoise(17 * dump.seed + sequence.row);
  return exact(sequence, dump).map((logp) =>
    Math.min(0, logp + 0.012 * noise() * Math.sqrt(1 - Math.exp(logp)))
  );
};

/** Log-probs of the distribution that tokens are drawn from. */
export const processed = (sampling: Sampling): RealSide => (sequence, dump) =>
  scored(sequence, dump, { change: (logits) => cut(logits, sampling) });

export const roundedLogits: RealSide = (sequence, dump) =>
  scored(sequence, dump, { change: (logits) => logits.map(bf16) });

export const stale = (size: number): RealSide => (sequence, dump) =>
  scored(sequence, { ...dump, weights: moved(dump.weights, dump.seed + 500, size) });

/** Weights that were changed while the sequences were being drawn: the first tokens are of the earlier ones. */
export const halfStale = (size: number): RealSide => (sequence, dump) => {
  const before = stale(size)(sequence, dump), after = exact(sequence, dump);
  const from = sequence.prompt + Math.floor((sequence.ids.length - sequence.prompt) / 2);
  return after.map((value, t) => t < from ? before[t]! : value);
};

/** Some of the sequences were drawn before the last update. */
export const someStale = (size: number): RealSide => (sequence, dump) =>
  (sequence.row % 2 === 0 ? stale(size) : exact)(sequence, dump);

export const shifted = (by: number): RealSide => (sequence, dump) => {
  const right = exact(sequence, dump);
  return right.map((_, t) => right[t + by] ?? -3);
};

/** Padding on the left is attended to. */
export const padded: RealSide = (sequence, dump) =>
  scored({ ids: [...new Array<number>(sequence.left).fill(PAD), ...sequence.ids] }, dump)
    .slice(sequence.left);

/** The prompt is padded on its right, and positions count that padding. */
export const positionGap: RealSide = (sequence, dump) =>
  scored(sequence, dump, {
    positionOf: (index) => index < sequence.prompt ? index : index + 3 + 2 * sequence.left,
  });

/** A token stands before the sequence that the trainer does not have, such as a second one that begins a text. */
export const tokenBefore = (id: number): RealSide => (sequence, dump) =>
  scored({ ids: [id, ...sequence.ids] }, dump).slice(1);

/** The first tokens of the prompt are missing. */
export const truncated = (count: number): RealSide => (sequence, dump) => [
  ...new Array<number>(count).fill(-3),
  ...scored({ ids: sequence.ids.slice(count) }, dump),
];

/** Unlikely tokens are damped, by no rule that anybody has. */
export const damped: RealSide = (sequence, dump) =>
  scored(sequence, dump, {
    change: (logits) => {
      const fifth = logits.toSorted((a, b) => b - a)[4]!;
      return logits.map((z) => z >= fifth ? z : z - 3);
    },
  });

/** Sides by name, in the order of a dump. */
export type RealSides = Partial<Record<LogProbSide, RealSide>>;
