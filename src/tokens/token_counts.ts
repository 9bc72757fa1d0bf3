/** How much a token dump holds, counted while somebody else reads it. */
import type { TokenBatch, TokenSequence } from "./token_batch.ts";

/** Counts of a dump. */
export interface TokenCounts {
  readonly sequences: number;
  readonly tokens: number;
  /** Of the sequences that have a loss mask; undefined where none has one. */
  readonly trained: number | undefined;
  /** The first and the last step; undefined where no sequence names one. */
  readonly steps: readonly [number, number] | undefined;
}

/** A dump that is counted as it is read. */
export interface CountedBatch {
  readonly batch: TokenBatch;
  /** What has been read so far. */
  readonly counts: () => TokenCounts;
}

/** Tokens that the loss trains; undefined without a mask. */
export function trainedCount({ mask }: TokenSequence): number | undefined {
  return mask?.reduce((sum, isTrained) => sum + isTrained, 0);
}

/** Counts a dump while it is read. */
export function counted(batch: TokenBatch): CountedBatch {
  let [sequences, tokens] = [0, 0];
  let trained: number | undefined;
  let [first, last] = [Infinity, -Infinity];
  return {
    batch: {
      source: batch.source,
      async *sequences() {
        for await (const sequence of batch.sequences()) {
          sequences++;
          tokens += sequence.ids.length;
          const own = trainedCount(sequence);
          if (own !== undefined) trained = (trained ?? 0) + own;
          const { step } = sequence;
          if (step !== undefined) [first, last] = [Math.min(first, step), Math.max(last, step)];
          yield sequence;
        }
      },
    },
    counts: () => ({
      sequences,
      tokens,
      trained,
      steps: first <= last ? [first, last] : undefined,
    }),
  };
}
