/** Sequences for tests of token checks, made of a few fields; and a dump of them. */
import type {
  LogProbSide,
  TokenBatch,
  TokenSequence,
  TokenValues,
} from "../../../src/tokens/token_batch.ts";

/** Values of tokens, with what is not a number listed as a reader does. */
export function valuesOf(values: ArrayLike<number>): TokenValues {
  return { values: Float64Array.from(values), nonFinite: [] };
}

/** A sequence of which tests give what they need. */
export function made(
  fields:
    & Partial<Omit<TokenSequence, "logProbs" | "ids" | "mask" | "advantages">>
    & {
      readonly ids: ArrayLike<number>;
      readonly mask?: ArrayLike<number>;
      readonly advantage?: number;
      readonly logProbs?: { readonly [side in LogProbSide]?: ArrayLike<number> };
    },
): TokenSequence {
  const { ids, mask, advantage, logProbs = {}, ...rest } = fields;
  const sides = Object.entries(logProbs).map(([side, values]) => [side, valuesOf(values)]);
  return {
    file: "made.jsonl",
    row: 1,
    offset: 0,
    ...rest,
    ids: Uint32Array.from(ids),
    logProbs: Object.fromEntries(sides),
    ...(mask === undefined ? {} : { mask: Uint8Array.from(mask) }),
    ...(advantage === undefined
      ? {}
      : { advantages: valuesOf(new Float64Array(ids.length).fill(advantage)) }),
  };
}

/** A dump of sequences; rows are counted in their order. */
export function dumpOf(
  sequences: readonly TokenSequence[],
  { producer }: { readonly producer?: string } = {},
): TokenBatch {
  return {
    source: {
      path: "made.jsonl",
      form: "made",
      producer,
      files: ["made.jsonl"],
      ignored: [],
    },
    async *sequences() {
      for (const [index, sequence] of sequences.entries()) {
        await Promise.resolve();
        yield { ...sequence, row: index + 1 };
      }
    },
  };
}
