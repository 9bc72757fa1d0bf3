/** The library in short: two faults, one in a stage and one in a shader, each trained with from patched sources. */
import { assertEquals } from "@std/assert";
import { openGpu } from "../../src/gpu/device.ts";
import { readChecks } from "../../src/run/checks_file.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { TEST_READBACK } from "../gpu/gpu_test_device.ts";
import { PLANTED } from "./faults.ts";
import { shareCompiled } from "./shared_gpu.ts";
import { plantSources } from "./sources.ts";
import { trainRun } from "./trained_run.ts";

/**
 * Checks of 1 to 11 that each violates, and no others: the rest of the sources is seen to be right. What the sampler records
 * is what the ratio is taken to, so that a sampler of its own kind violates two.
 */
const CAUGHT = { mask_first_token: [1], decoder_gelu: [2, 3] };

Deno.test("trainRun() trains with a planted fault, and the checks before step 1 catch it", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const gpu = await openGpu({ readback: TEST_READBACK });
    shareCompiled(gpu);
    for (const [name, violated] of Object.entries(CAUGHT)) {
      const fault = PLANTED.find((planted) => planted.name === name);
      const sources = `${folder}/sources/${name}`;
      plantSources({ root: ".", folder: sources }, fault?.patches ?? []);
      const { ended } = await trainRun(`${folder}/${name}`, {
        gpu,
        sources,
        request: {
          settings: ["problems=2", "groupSize=4", "evalEvery=0"],
          seed: 0,
          steps: 1,
          base: "untrained",
        },
      });
      assertEquals(ended, undefined);
      const checks = readChecks(runPaths(`${folder}/${name}`).checks);
      const found = checks.filter(({ id, verdict }) => id <= 11 && verdict === "violated");
      assertEquals(found.map(({ id }) => id), violated, name);
    }
    gpu.device.destroy();
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
