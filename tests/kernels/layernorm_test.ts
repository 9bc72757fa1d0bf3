/** Tests of the layernorm kernels: every width, ragged blocks of rows, inputs far from 0. */
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { assertHolds, assertHoldsInBothMemories } from "./harness.ts";
import { compareLayernormBackward, compareLayernormForward } from "./layernorm.ts";

for (const width of [32, 64, 96, 128]) {
  for (const offset of [0, 100]) {
    gpuTest(
      `addLayernormForward() matches the reference at width ${width} and offset ${offset}`,
      async () => {
        for (const rowCount of [1, 7, 8, 9, 65]) {
          await assertHoldsInBothMemories(compareLayernormForward({ rowCount, width, offset }));
        }
      },
    );
    gpuTest(
      `addLayernormBackward() matches the reference at width ${width} and offset ${offset}`,
      async () => {
        for (const rowCount of [1, 7, 8, 9, 65]) {
          const hasResidual = rowCount % 2 === 1;
          const compare = compareLayernormBackward({ rowCount, width, offset, hasResidual });
          await assertHoldsInBothMemories(compare);
        }
      },
    );
  }
}

gpuTest(
  "addLayernormForward() matches the reference in the second strip of a texture",
  async () => {
    const compare = compareLayernormForward({ rowCount: 8195, width: 32, offset: 100 });
    assertHolds(await compare(await testGpu()));
  },
);
