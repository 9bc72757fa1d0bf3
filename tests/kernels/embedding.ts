/** Holds the embedding kernels to src/reference/embedding.ts. */
import { addEmbeddingBackward, addEmbeddingForward } from "../../src/kernels/embedding.ts";
import { embeddingBackward, embeddingForward } from "../../src/reference/embedding.ts";
import { packEpisodes } from "../../src/rollout/batch.ts";
import { type Compare, randomF32, roundoffs, withRun } from "./harness.ts";

/** Rows, width, vocabulary, and whether the backward adds to what the gradient holds. */
export interface EmbeddingCase {
  readonly rowCount: number;
  readonly width: number;
  readonly vocabSize: number;
  readonly accumulate?: boolean;
}

/** Ids with repetitions and gaps; the first and the last token of the vocabulary occur. */
function packed({ rowCount, vocabSize }: EmbeddingCase) {
  const ids_N = Array.from({ length: rowCount }, (_, n) => (n * n * 13) % vocabSize);
  if (rowCount > 1) ids_N[rowCount - 1] = vocabSize - 1;
  return { ids_N, batch: packEpisodes([ids_N], { vocabSize }) };
}

/** x: copies, so not one bit may differ. */
export function compareEmbeddingForward(shape: EmbeddingCase): Compare {
  const { rowCount, width, vocabSize } = shape;
  const { ids_N, batch } = packed(shape);
  const w = randomF32(8 + vocabSize * width, { seed: 1 });
  const sizes = { rowCount, width, vocabularySize: vocabSize };
  const expected = embeddingForward(ids_N, w.subarray(8), sizes);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const x_ND = run.empty(rowCount * width);
      run.replay({ rowCount }, (commands, plan) =>
        addEmbeddingForward(commands, plan, {
          token_N4: run.tensor(batch.token_N4),
          w: run.flat(w).w,
          x_ND,
          width,
          weightOffset: 8,
        }));
      const actual = await run.read(x_ND, rowCount * width);
      return [{ name: "x_ND", actual, expected, bound: 0 }];
    });
}

/** The table's gradient: every entry adds at most N terms of at most 1 to at most 1. */
export function compareEmbeddingBackward(shape: EmbeddingCase): Compare {
  const { rowCount, width, vocabSize, accumulate = false } = shape;
  const { ids_N, batch } = packed(shape);
  const dx_ND = randomF32(rowCount * width, { seed: 2 });
  const held = randomF32(8 + vocabSize * width, { seed: 3 });
  const sizes = { rowCount, width, vocabularySize: vocabSize };
  const expected = embeddingBackward(dx_ND, ids_N, sizes)
    .map((dweight, i) => accumulate ? held[8 + i]! + dweight : dweight);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const gradient = run.tensor(held);
      run.replay({ accumulate, rowCount }, (commands, plan) =>
        addEmbeddingBackward(commands, plan, {
          order: run.tensor(batch.order_N),
          start_V: run.tensor(batch.start_V),
          dx_ND: run.rows(rowCount, width, dx_ND),
          gradient,
          width,
          vocabSize,
          weightOffset: 8,
        }));
      const found = await run.read(gradient, held.length);
      const bound = roundoffs(rowCount + 1) * (rowCount + 1);
      return [
        { name: "dweight_VD", actual: found.slice(8), expected, bound },
        {
          name: "what lies before",
          actual: found.slice(0, 8),
          expected: held.slice(0, 8),
          bound: 0,
        },
      ];
    });
}
