/** A sampler that lags two steps behind needs weights that are no longer the trainer's: across a stop, and in a replay. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { readJournal } from "../../src/files/journal.ts";
import { hashWeights } from "../../src/model/parameters.ts";
import { readCheckpoint, writeCheckpoint } from "../../src/run/checkpoint.ts";
import { replayRun } from "../../src/run/replay_run.ts";
import { checkpointPath, checkpointSteps, runPaths } from "../../src/run/run_directory.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { withFolder } from "../files/with_folder.ts";
import { resumeRun, smallSettings, startRun } from "./small_run.ts";

const openCommands = async () => new Commands(await testGpu());
const SETS = ["evalEvery=0", "recordEvery=3"];
const late = (steps: number) => ({ ...smallSettings(steps, SETS), bug: "stale_sampler" as const });

gpuTest(
  "a run whose sampler lags has, stopped and resumed, the bits of one that was not",
  () =>
    withFolder(async (folder) => {
      const commands = await openCommands();
      const [whole, path] = [`${folder}/whole`, `${folder}/stopped`];
      const expected = await startRun(commands, { path: whole, settings: late(6) });
      let steps = 0;
      const isStopRequested = () => ++steps % 2 === 1;
      await startRun(commands, { path, settings: late(6), isStopRequested });
      while (checkpointSteps(path).at(-1) !== 6) {
        // The checks of a run that is taken up would see it.
        await resumeRun(commands, { path, isStopRequested, ignoreChecks: true });
      }
      assertEquals(await resumeRun(commands, { path, ignoreChecks: true }), expected);
      const rows = readJournal(runPaths(path).metrics);
      assertEquals(rows, readJournal(runPaths(whole).metrics));
      assert(
        rows.slice(1).every(({ logp_gap }) => Number(logp_gap) > 0),
        "the sampler is late",
      );

      // Checkpoints hold the weights before the last two steps, oldest first.
      const hashes = (step: number) => {
        const { earlierWeights = [] } = readCheckpoint(checkpointPath(path, step));
        return Promise.all(earlierWeights.map(hashWeights));
      };
      const own = (step: number) =>
        hashWeights(readCheckpoint(checkpointPath(path, step)).weights_W);
      assertEquals(await hashes(0), []);
      assertEquals(await hashes(1), [await own(0)]);
      assertEquals(await hashes(3), [await own(1), await own(2)]);
      assertEquals((await hashes(6)).length, 2);

      // A file of an earlier version forgot them: that is said, and no other weights take their place.
      const { earlierWeights: _, ...forgetful } = readCheckpoint(checkpointPath(path, 6));
      writeCheckpoint(checkpointPath(path, 6), forgetful);
      await assertRejects(
        () => resumeRun(commands, { path, steps: 7 }),
        UserError,
        "Cannot sample step 6 with the weights of 2 steps before",
      );
    }),
);

gpuTest(
  "replayRun() reproduces a step of a late sampler, whichever stage a second replay changes",
  () =>
    withFolder(async (path) => {
      const commands = await openCommands();
      const run = `${path}/run`;
      await startRun(commands, { path: run, settings: late(6) });
      // Step 3 is recorded; step 5 is redone from the checkpoint of step 4.
      for (const step of [3, 5]) {
        const same = await replayRun(commands, {
          path: run,
          step,
          replacement: { stage: "lossMask", fault: "healthy" },
        });
        assertEquals(same.replay.differences, []);
        assertEquals(same.changed?.differences, [], "the mask is healthy already");
        if (step === 3) {
          assertEquals([same.replay.isSampledAlike, same.changed?.isSampledAlike], [true, true]);
        }
      }
      const onTime = await replayRun(commands, {
        path: run,
        step: 3,
        replacement: { stage: "sample", fault: "healthy" },
      });
      assertEquals([onTime.replay.differences, onTime.changed?.isSampledAlike], [[], false]);
      assertEquals(onTime.changed?.row.logp_gap, 0);
    }),
);

gpuTest(
  "replayRun() gives a healthy run's step a late sampler, with the weights of two steps before",
  () =>
    withFolder(async (path) => {
      const commands = await openCommands();
      const run = `${path}/run`;
      await startRun(commands, { path: run, settings: smallSettings(4, SETS) });
      const { replay, changed, from } = await replayRun(commands, {
        path: run,
        step: 3,
        replacement: { stage: "sample", fault: "stale_sampler" },
      });
      assertEquals(replay.differences, []);
      assertEquals(from, { path: checkpointPath(run, 0), stepsBefore: 3 });
      assert(changed && changed.row.logp_gap > 0, "it samples with the weights of step 1");
    }),
);
