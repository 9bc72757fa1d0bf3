/** A device that is lost in the middle of a run: what was done is on disk, and a new device goes on with the same bits. */
import { assertEquals, assertRejects } from "@std/assert";
import { DeviceLostError } from "../../src/core/errors.ts";
import { readJournal } from "../../src/files/journal.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { checkpointSteps, runPaths } from "../../src/run/run_directory.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest, TEST_READBACK, testGpu } from "../gpu/gpu_test_device.ts";
import { resumeRun, smallSettings, startRun } from "./small_run.ts";

const STEPS = 4;
const LOST_AFTER = 3;

gpuTest(
  "a run whose device is lost keeps its steps, says so in a sentence, and resumes on another device",
  () =>
    withFolder(async (folder) => {
      const settings = smallSettings(STEPS, ["evalEvery=0"]);
      const another = new Commands(await testGpu());
      const whole = await startRun(another, { path: `${folder}/whole`, settings });

      const gpu = await openGpu({ readback: TEST_READBACK });
      const path = `${folder}/lost`;
      let steps = 0;
      const run = () =>
        startRun(new Commands(gpu), {
          path,
          settings,
          onStep: () => {
            if (++steps === LOST_AFTER) gpu.device.destroy();
          },
        });
      const error = await assertRejects(run, DeviceLostError, "resume from the last checkpoint");
      assertEquals(error.message.includes("\n"), false);
      assertEquals(readJournal(runPaths(path).metrics).length, LOST_AFTER);
      assertEquals(checkpointSteps(path), [0, 2]);

      const resumed = await resumeRun(another, { path });
      assertEquals(resumed.weightsHash, whole.weightsHash);
      const rowsOf = (run: string) => readJournal(runPaths(`${folder}/${run}`).metrics);
      assertEquals(rowsOf("lost"), rowsOf("whole"));
    }),
);
