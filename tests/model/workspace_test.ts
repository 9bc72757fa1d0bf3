/** Tests of src/model/workspace.ts: sizes that a software adapter would silently get wrong. */
import { assertThrows } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { createWorkspace, destroyWorkspace } from "../../src/model/workspace.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

/** Commands for a device that a CPU plays, or that says it is none. */
async function commandsOf(isSoftware: boolean): Promise<Commands> {
  const gpu = await testGpu();
  return new Commands({ ...gpu, adapter: { ...gpu.adapter, isSoftware } });
}

gpuTest("createWorkspace() refuses loops that a software adapter cuts off", async () => {
  const software = await commandsOf(true), hardware = await commandsOf(false);
  const wide = { ...TINY_AGENT, width: 128, headCount: 1 };
  const sizes = { capacity: 8, isTraining: false };
  const cases = [
    [
      wide,
      { ...sizes, maxPositions: 1200 },
      "1200 tokens with heads of 128: 78000 loop iterations",
    ],
    [TINY_AGENT, { ...sizes, maxPositions: 50_001 }, "50001 tokens with heads of 16"],
    [TINY_AGENT, { ...sizes, maxPositions: 8, capacity: 50_001 }, "50001 tokens: a software"],
  ] as const;
  for (const [config, options, sentence] of cases) {
    assertThrows(() => createWorkspace(software, config, options), RangeError, sentence);
  }
  for (const commands of [software, hardware]) {
    destroyWorkspace(createWorkspace(commands, wide, { ...sizes, maxPositions: 700 }));
  }
  destroyWorkspace(createWorkspace(hardware, wide, { ...sizes, maxPositions: 1200 }));
});
