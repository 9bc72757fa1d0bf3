/** Tests of the linear kernels: every width, ragged blocks of rows and columns, large row counts. */
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { assertHolds, assertHoldsInBothMemories } from "./harness.ts";
import {
  compareLinearBackwardInput,
  compareLinearBackwardWeight,
  compareLinearForward,
  compareLinearGeluBackwardInput,
  compareLinearGeluForward,
  compareLinearResidualForward,
} from "./linear.ts";

/** Rows around a block of 8 and a workgroup of 16 blocks; every supported kind of width. */
const ROWS_AND_WIDTHS = [[1, 32], [7, 64], [8, 96], [9, 128], [65, 64], [129, 32]] as const;

gpuTest("addLinear() forward matches the reference with any number of columns", async () => {
  for (const [rowCount, width] of ROWS_AND_WIDTHS) {
    for (const columnCount of [7, 60]) {
      await assertHoldsInBothMemories(compareLinearForward({ rowCount, width, columnCount }));
    }
  }
  const large = compareLinearForward({ rowCount: 3, width: 64, columnCount: 1000 });
  await assertHoldsInBothMemories(large);
});

gpuTest("addLinear() forward matches the reference in the second strip of a texture", async () => {
  const compare = compareLinearForward({ rowCount: 8195, width: 32, columnCount: 7 });
  assertHolds(await compare(await testGpu()));
});

gpuTest("addLinear() residual_forward matches the reference", async () => {
  for (const [rowCount, width] of ROWS_AND_WIDTHS) {
    const size = { rowCount, width, columnCount: 128 - width || 64 };
    await assertHoldsInBothMemories(compareLinearResidualForward(size));
  }
});

gpuTest(
  "addLinear() gelu_forward matches the reference before and after the activation",
  async () => {
    for (const [rowCount, width] of ROWS_AND_WIDTHS) {
      await assertHoldsInBothMemories(
        compareLinearGeluForward({ rowCount, width, columnCount: 80 }),
      );
    }
  },
);

gpuTest("addLinearBackwardInput() matches the reference with padded rows", async () => {
  for (const [rowCount, width] of ROWS_AND_WIDTHS) {
    for (const columnCount of [7, 60]) {
      const size = { rowCount, width, columnCount, accumulate: columnCount === 7 };
      await assertHoldsInBothMemories(compareLinearBackwardInput(size));
    }
  }
});

gpuTest("addLinear() gelu_backward_input matches the reference", async () => {
  for (const [rowCount, width] of ROWS_AND_WIDTHS) {
    const size = { rowCount, width, columnCount: 40 };
    await assertHoldsInBothMemories(compareLinearGeluBackwardInput(size));
  }
});

gpuTest("addLinearBackwardWeight() matches the reference, bias included", async () => {
  for (const [rowCount, width] of ROWS_AND_WIDTHS) {
    for (const columnCount of [7, 60, 136]) {
      const size = { rowCount, width, columnCount };
      await assertHoldsInBothMemories(compareLinearBackwardWeight(size));
    }
  }
});
