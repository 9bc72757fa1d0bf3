/** Tests of src/run/training_run.ts: what a run leaves on disk, and that a resumed one has the bits of an undisturbed one. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { hashWeights } from "../../src/model/parameters.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { readJournal } from "../../src/files/journal.ts";
import { checkpointPath, checkpointSteps, runPaths } from "../../src/run/run_directory.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { resumeRun, smallSettings, startRun } from "./small_run.ts";
import { withFolder } from "../files/with_folder.ts";

const openCommands = async () => new Commands(await testGpu());

gpuTest(
  "runTraining() leaves one row per step, the episodes, and checkpoints from step 0 on",
  () =>
    withFolder(async (path) => {
      const settings = smallSettings(5, ["episodesEvery=2"]);
      const result = await startRun(await openCommands(), { path: `${path}/run`, settings });
      const { metrics, episodes } = runPaths(`${path}/run`);
      const rows = readJournal(metrics);
      assertEquals(rows.map(({ step }) => step), [0, 1, 2, 3, 4]);
      assertEquals<unknown>(result.last, rows.at(-1));
      assert(rows.every(({ logp_gap_max }) => logp_gap_max === 0), "sampler and trainer agree");
      // Evaluated every 3 steps and after the last one.
      assertEquals(rows.map((row) => "eval_pass" in row), [true, false, false, true, true]);
      const episodeSteps = readJournal(episodes).map(({ step }) => step);
      assertEquals(episodeSteps, [0, 2, 4].flatMap((step) => Array(8).fill(step)));
      assertEquals(checkpointSteps(`${path}/run`), [0, 2, 4, 5]);
      const last = readCheckpoint(checkpointPath(`${path}/run`, 5));
      assertEquals(last.state, { step: 5, adamStep: 10, baseline: 0 });
      assertEquals(await hashWeights(last.weights_W), result.weightsHash);
      const first = readCheckpoint(checkpointPath(`${path}/run`, 0));
      assert(await hashWeights(first.weights_W) !== result.weightsHash, "the weights moved");
    }),
);

gpuTest(
  "runTraining() stopped, resumed and extended has the bits of a run that was not",
  () =>
    withFolder(async (folder) => {
      const commands = await openCommands();
      const path = `${folder}/stopped`;
      const whole = await startRun(commands, {
        path: `${folder}/whole`,
        settings: smallSettings(7),
      });
      let steps = 0;
      const stopped = await startRun(commands, {
        path,
        settings: smallSettings(5),
        isStopRequested: () => ++steps === 3,
      });
      assertEquals(stopped.steps, 3);
      const finished = await resumeRun(commands, { path });
      assertEquals(finished.steps, 5);
      assert(finished.weightsHash !== whole.weightsHash);
      assertEquals(await resumeRun(commands, { path }), finished, "nothing is left to do");
      const extended = await resumeRun(commands, { path, steps: 7 });
      assertEquals(extended, whole);
      const lastRow = ({ metrics }: { metrics: string }) => readJournal(metrics).at(-1);
      assertEquals(lastRow(runPaths(path)), lastRow(runPaths(`${folder}/whole`)));
      assertEquals(readJournal(runPaths(path).metrics).length, 7);
      await assertRejects(
        () => resumeRun(commands, { path, steps: 6 }),
        UserError,
        `Cannot resume ${path} to 6 steps: it has already done 7`,
      );
    }),
);

gpuTest(
  "runTraining() starts the moving baseline at the base agent's pass rate",
  () =>
    withFolder(async (folder) => {
      const settings = smallSettings(1);
      const config = { ...settings.config, algorithm: "reinforce", klCoef: 0 } as const;
      const path = `${folder}/run`;
      await startRun(await openCommands(), { path, settings: { ...settings, config } });
      const baseline = Number(readCheckpoint(checkpointPath(path, 0)).state?.baseline);
      assert(baseline > 0 && baseline < 1, `baseline ${baseline}`);
      assertEquals(baseline * 320 % 1, 0); // A count of passes in 16 episodes of 20 tasks.
    }),
);
