/** Tests of src/tuning/probe.ts: what is chosen, and what is refused. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { type Gpu, openGpu } from "../../src/gpu/device.ts";
import { TUNING_CANDIDATES } from "../../src/gpu/tuning.ts";
import { fastestLayout, probeLayouts, type ProbeRow } from "../../src/tuning/probe.ts";
import { gpuTest, TEST_READBACK } from "../gpu/gpu_test_device.ts";

const [tuning] = TUNING_CANDIDATES;

/** A device whose optimizer takes 1 − β2 for 1 − β1. */
async function openWrongGpu(): Promise<Gpu> {
  const gpu = await openGpu({ tuning, readback: TEST_READBACK });
  const { device } = gpu;
  const createShaderModule = device.createShaderModule.bind(device);
  device.createShaderModule = (descriptor) =>
    createShaderModule({
      ...descriptor,
      code: descriptor.label === "clip_adam"
        ? descriptor.code.replace("params.one_minus_beta1", "params.one_minus_beta2")
        : descriptor.code,
    });
  return gpu;
}

gpuTest(
  "probeLayouts() times layouts of equal bits, and refuses others and those that fail",
  async () => {
    const candidates = [16, 32, 48, 64].map((slotCount) => ({ ...tuning, slotCount }));
    const seen: number[] = [];
    const rows = await probeLayouts({
      candidates,
      openGpu: ({ slotCount }) => {
        if (slotCount === 48) throw new Error("out of lanes");
        return slotCount === 64
          ? openWrongGpu()
          : openGpu({ tuning: { ...tuning, slotCount }, readback: TEST_READBACK });
      },
      rounds: 1,
      episodeCount: 20,
      rowCount: 40,
      onProgress: (done, total) => seen.push(done / total),
    });
    assertEquals(rows.map((row) => row.tuning), candidates);
    const refusals = [
      undefined,
      undefined,
      "out of lanes",
      "other bits than the layouts before it",
    ];
    assertEquals(rows.map(({ refusal }) => refusal), refusals);
    rows.forEach(({ rolloutMs, updateMs, refusal }) =>
      assertEquals(rolloutMs > 0 && updateMs > 0, refusal === undefined)
    );
    assert(rows.slice(0, 2).some((row) => row.tuning === fastestLayout(rows)));
    assertEquals(seen, Array.from({ length: 8 }, (_, i) => i / 8));
    await assertRejects(
      () => probeLayouts({ candidates, openGpu: openWrongGpu, rounds: 0 }),
      RangeError,
      "in 0 rounds",
    );
  },
);

Deno.test("fastestLayout() takes the least sum of what was not refused", () => {
  const row = (slotCount: number, times: Partial<ProbeRow>): ProbeRow => ({
    tuning: { ...tuning, slotCount },
    rolloutMs: 10,
    updateMs: 10,
    refusal: undefined,
    ...times,
  });
  const refused = row(8, { rolloutMs: NaN, updateMs: NaN, refusal: "no" });
  const rows = [row(16, {}), refused, row(24, { rolloutMs: 1, updateMs: 15 }), row(32, {})];
  assertEquals(fastestLayout(rows).slotCount, 24);
  assertEquals(fastestLayout([refused, row(32, {})]).slotCount, 32);
  assertThrows(() => fastestLayout([refused]), UserError, "no layout of the kernels runs (no)");
});
