/** Tests of the log-prob kernels: every width, vocabularies from 7 to 32,768, temperatures, logits far from 0. */
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { assertHoldsInBothMemories } from "./harness.ts";
import { compareLogprobBackward, compareLogprobForward } from "./logprob.ts";

/** Vocabularies below one block, of several tiles, and of several segments; the largest with few rows. */
const CASES = [
  { rowCount: 1, width: 32, vocabSize: 7, temperature: 1 },
  { rowCount: 7, width: 64, vocabSize: 60, temperature: 0.7 },
  { rowCount: 8, width: 96, vocabSize: 60, temperature: 1 },
  { rowCount: 9, width: 128, vocabSize: 1000, temperature: 0.7 },
  { rowCount: 65, width: 64, vocabSize: 60, temperature: 1 },
  { rowCount: 9, width: 64, vocabSize: 60, temperature: 1, offset: 100 },
  { rowCount: 3, width: 32, vocabSize: 32768, temperature: 1 },
];

for (const size of CASES) {
  const { rowCount, width, vocabSize, temperature, offset = 0 } = size;
  const name =
    `N=${rowCount}, D=${width}, V=${vocabSize}, temperature ${temperature}, offset ${offset}`;
  gpuTest(`addLogprobForward() matches the reference at ${name}`, async () => {
    await assertHoldsInBothMemories(compareLogprobForward(size));
  });
  gpuTest(`addLogprobBackward() matches the reference at ${name}`, async () => {
    const accumulate = rowCount % 2 === 1;
    await assertHoldsInBothMemories(compareLogprobBackward({ ...size, accumulate }));
  });
}
