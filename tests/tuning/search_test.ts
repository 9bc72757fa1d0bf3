/** Tests of src/tuning/search.ts: what is tried, what is kept, and what is refused. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Gpu, openGpu } from "../../src/gpu/device.ts";
import { defaultTuning, isKnownTuning, type Tuning } from "../../src/gpu/tuning.ts";
import {
  nextTuning,
  type Probe,
  searchSteps,
  searchTuning,
  takeBack,
} from "../../src/tuning/search.ts";
import { gpuTest, TEST_READBACK } from "../gpu/gpu_test_device.ts";
import { SMALL_BLOCKS } from "../gpu/layouts.ts";

/** The text of a shader as a driver sees it that computes wrongly. */
type Damage = (label: string, code: string) => string;

async function openDamaged(damage: Damage): Promise<Gpu> {
  const gpu = await openGpu({ tuning: SMALL_BLOCKS, readback: TEST_READBACK });
  const { device } = gpu;
  const createShaderModule = device.createShaderModule.bind(device);
  device.createShaderModule = (descriptor) =>
    createShaderModule({
      ...descriptor,
      code: damage(descriptor.label ?? "", descriptor.code),
    });
  return gpu;
}

gpuTest(
  "searchTuning() keeps what is faster, and refuses other bits and what does not compile",
  async () => {
    const damage: Damage = (label, code) => {
      if (label !== "linear_backward_weight") return code;
      if (code.includes("const WEIGHT_COLUMNS4 = 1u;")) {
        // Drops the last row of each chunk, as a driver that miscounts would.
        return code.replace(
          "chunk_start[id.z + 1u], params",
          "chunk_start[id.z + 1u] - 1u, params",
        );
      }
      return code.includes("const WEIGHT_OUTPUTS4 = 2u;") ? `${code} oops` : code;
    };
    const seen: Probe[] = [];
    const result = await searchTuning({
      start: SMALL_BLOCKS,
      isSoftware: true,
      openGpu: () => openDamaged(damage),
      rounds: 1,
      steps: [
        { name: "weightColumns", part: "update" },
        { name: "weightOutputs", part: "update" },
        { name: "flatLanes", part: "update" },
      ],
      size: { episodeCount: 8, rowCount: 40 },
      onProbe: (probe) => seen.push(probe),
    });
    assertEquals(seen, result.probes);
    const [columns, outputs, ...lanes] = seen;
    assertEquals([columns?.from, columns?.to, columns?.isKept], [8, 4, false]);
    assertEquals(columns?.refusal, "other bits than the first layout");
    assertEquals([outputs?.from, outputs?.to, outputs?.isKept], [16, 8, false]);
    assertStringIncludes(outputs?.refusal ?? "", "linear_backward_weight");
    // Which of them is faster is chance: what was kept is where the next probe and the result begin.
    assert(lanes.length > 0 && lanes.every(({ refusal, ms }) => refusal === undefined && ms > 0));
    const kept = lanes.filter(({ isKept }) => isKept);
    assert(kept.every(({ ms, bestMs }) => ms <= bestMs));
    const { startMs, ms } = result.times.update!;
    assert(startMs > 0 && ms <= startMs);
    const isTakenBack = kept.length > 0 && result.tuning.flatLanes === SMALL_BLOCKS.flatLanes;
    if (isTakenBack) assertEquals([result.tuning, ms], [SMALL_BLOCKS, startMs]);
    else assertEquals(result.tuning, kept.at(-1)?.tuning ?? SMALL_BLOCKS);
    assertEquals(Object.keys(result.times), ["update"]);
  },
);

Deno.test("searchTuning() ends where the first layout does not run, and needs a round", async () => {
  const openNothing = () => Promise.reject(new Error("no lanes"));
  const options = { start: SMALL_BLOCKS, isSoftware: true, openGpu: openNothing };
  await assertRejects(() => searchTuning({ ...options, rounds: 1 }), Error, "no lanes");
  await assertRejects(() => searchTuning({ ...options, rounds: 0 }), RangeError, "in 0 rounds");
});

Deno.test("nextTuning() walks every step to layouts that may be used, with a warp at least on a GPU", () => {
  for (const isSoftware of [true, false]) {
    const start = defaultTuning(isSoftware);
    assert(isKnownTuning(start));
    for (const { name } of searchSteps(isSoftware)) {
      const values: Tuning[keyof Tuning][] = [start[name]];
      for (const by of [1, -1] as const) {
        let tuning: Tuning | undefined = start;
        while ((tuning = nextTuning(tuning, { name, by, isSoftware })) !== undefined) {
          assert(isKnownTuning(tuning), JSON.stringify(tuning));
          if (by === 1) values.push(tuning[name]);
          else values.unshift(tuning[name]);
        }
      }
      assert(values.length > 1, name);
      if (!isSoftware && name.endsWith("Lanes")) assertEquals(values, [32, 64, 128, 256], name);
      if (name === "groupSlots") assertEquals(values, [1, 2, 4, 8]);
    }
  }
  const eight = { ...defaultTuning(true), groupSlots: 4 };
  const two = nextTuning(eight, { name: "groupSlots", by: -1, isSoftware: true });
  assertEquals([two?.groupSlots, two?.decoderRows], [2, 2], "a block of slots fills its group");
});

Deno.test("takeBack() sets back what was searched for a part, and keeps the rest", () => {
  const start = defaultTuning(true);
  const found = { ...start, blockRows: 2, rowLanes: 64, groupSlots: 4, slotCount: 64 };
  const steps = searchSteps(true);
  const { groupSlots, slotCount } = found;
  assertEquals(takeBack(found, { start, steps, part: "update" }), {
    ...start,
    groupSlots,
    slotCount,
  });
  const kept = takeBack(found, { start, steps, part: "rollout" });
  assertEquals(kept, { ...start, blockRows: 2, rowLanes: 64 });
});
