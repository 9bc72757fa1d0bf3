/** Tests of the embedding kernels: repeated and missing tokens, large vocabularies, accumulation. */
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { compareEmbeddingBackward, compareEmbeddingForward } from "./embedding.ts";
import { assertHoldsInBothMemories } from "./harness.ts";

const CASES = [
  { width: 32, vocabSize: 7 },
  { width: 64, vocabSize: 60 },
  { width: 96, vocabSize: 1000 },
  { width: 128, vocabSize: 60 },
  { width: 32, vocabSize: 32768 + 3 },
];

for (const shape of CASES) {
  const size = `width ${shape.width} and ${shape.vocabSize} tokens`;
  gpuTest(`addEmbeddingForward() copies the table's rows at ${size}`, async () => {
    for (const rowCount of [1, 7, 65]) {
      await assertHoldsInBothMemories(compareEmbeddingForward({ ...shape, rowCount }));
    }
  });
  gpuTest(`addEmbeddingBackward() matches the reference at ${size}`, async () => {
    for (const rowCount of [1, 7, 65]) {
      const accumulate = rowCount > 1;
      await assertHoldsInBothMemories(compareEmbeddingBackward({ ...shape, rowCount, accumulate }));
    }
  });
}
