/** Tests of src/kernels/product_tiles.ts: products in tiles have the bits of products whose lanes work alone. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Gpu } from "../../src/gpu/device.ts";
import { defaultTuning, type Tuning, TUNING_VALUES } from "../../src/gpu/tuning.ts";
import { LINEAR_BACKWARD_INPUT, LINEAR_FORWARD } from "../../src/kernels/linear.ts";
import { tileConstants, tiledForm } from "../../src/kernels/product_tiles.ts";
import { tiledSpecs } from "../gpu/all_specs.ts";
import { gpuTest, MEMORIES, testGpu } from "../gpu/gpu_test_device.ts";
import { compareQkvForward } from "./attention.ts";
import { assertHolds, assertSameBits, type Compare } from "./harness.ts";
import {
  compareLinearForward,
  compareLinearGeluForward,
  compareLinearResidualForward,
} from "./linear.ts";

/** In tiles the result holds, too, with the same bits; in either memory, with the blocks that belong to it. */
async function assertSameInTiles(kernel: string, compare: Compare): Promise<void> {
  for (const memory of MEMORIES) {
    const gpu = await testGpu(memory);
    const alone = await compare({ ...gpu, tuning: { ...gpu.tuning, tiles: false } });
    const tiled = await compare({ ...gpu, tuning: { ...gpu.tuning, tiles: true } });
    const compiled = [...gpu.kernels.values()].filter(({ spec }) => spec.name === kernel);
    assertEquals(compiled.map(({ overrides }) => overrides.TILE_LANES), [undefined, 8]);
    assertHolds(tiled);
    tiled.forEach(({ name, actual }, i) => assertSameBits(name, actual, alone[i]!.actual));
  }
}

gpuTest("a forward product has equal bits in tiles, whatever is ragged", async () => {
  // Rows: one; a tile of 64 or 32 and a bit. Widths: slabs of 16 or 32, with and without a rest. Columns: odd, many.
  for (
    const [rowCount, width, columnCount] of [
      [1, 64, 7],
      [69, 192, 60],
      [37, 256, 131],
      [33, 36, 64],
      [65, 4, 1],
    ] as const
  ) {
    const compare = compareLinearForward({ rowCount, width, columnCount });
    await assertSameInTiles("linear_forward", compare);
  }
});

gpuTest("products with residual and GELU have equal bits in tiles", async () => {
  const size = { rowCount: 69, width: 64, columnCount: 80 };
  await assertSameInTiles("linear_residual_forward", compareLinearResidualForward(size));
  await assertSameInTiles("linear_gelu_forward", compareLinearGeluForward(size));
});

gpuTest("queries, keys and values have equal bits in tiles", async () => {
  const size = { lengths: [3, 1, 33], width: 48, headCount: 3 };
  await assertSameInTiles("qkv_forward", compareQkvForward(size));
});

Deno.test("tiles fit into the workgroup memory of every device with any block", async () => {
  const gpuWith = (tuning: Tuning) => ({ tuning }) as Gpu;
  const bytes = TUNING_VALUES.blockRows.flatMap((blockRows) =>
    TUNING_VALUES.blockColumns.map((blockColumns) => {
      const tuning = { ...defaultTuning(false), blockRows, blockColumns };
      const { TILE_LANES = 0, TILE_SLAB4 = 0 } = tileConstants(gpuWith(tuning));
      return 16 * TILE_SLAB4 * TILE_LANES * (blockRows + blockColumns);
    })
  );
  assert(bytes.every((count) => count > 0 && count <= 16384), bytes.join());
  assertEquals((await tiledSpecs()).map(({ name }) => name).sort(), [
    "linear_forward",
    "linear_gelu_forward",
    "linear_residual_forward",
    "qkv_forward",
  ]);
});

Deno.test("tiledForm() keeps lines, and refuses kernels that it does not know as they are", () => {
  const { wgsl } = tiledForm(LINEAR_FORWARD);
  assertEquals(wgsl.split("\n").length, LINEAR_FORWARD.wgsl.split("\n").length);
  assertThrows(() => tiledForm(LINEAR_BACKWARD_INPUT), TypeError, "linear_backward_input");
  const other = { ...LINEAR_FORWARD, wgsl: LINEAR_FORWARD.wgsl.replace("* id.y", "* id.z") };
  assertThrows(() => tiledForm(other), SyntaxError, " * id.y;");
});
