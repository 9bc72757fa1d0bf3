/** Tests of src/run/replay_run.ts and step_record.ts: a step redone has the bits of the run, and one changed stage shows. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { readJournal } from "../../src/files/journal.ts";
import { replayRun } from "../../src/run/replay_run.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { readStepRecord } from "../../src/run/recorded_step.ts";
import { stepFiles } from "../../src/run/step_record.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { resumeRun, smallSettings, startRun } from "./small_run.ts";
import { withFolder } from "../files/with_folder.ts";

const openCommands = async () => new Commands(await testGpu());
/** Every second step by its number, and others only at a spike, which a factor of 1000 does not see. */
const RECORDING = ["recordEvery=2", "recordSpikeFactor=1000"];

/** Metrics that differ. */
const names = (differences: readonly { readonly metric: string }[]) =>
  differences.map(({ metric }) => metric);

gpuTest(
  "replayRun() reproduces a recorded step bit for bit, and an unrecorded one from a checkpoint",
  () =>
    withFolder(async (folder) => {
      const commands = await openCommands();
      const path = `${folder}/run`;
      const settings = smallSettings(4, RECORDING);
      await startRun(commands, { path, settings });
      const { config } = settings;
      const rows = readJournal(runPaths(path).metrics);

      const record = readStepRecord(path, { step: 2, config });
      assert(record?.episodes, "step 2 is recorded");
      assertEquals<unknown>(record.row, rows[2]);
      assertEquals(record.episodes.trajectories.length, 8);
      assertEquals(
        readCheckpoint(record.statePath).step,
        2,
        "the state is the one before the step",
      );
      assertEquals(readStepRecord(path, { step: 1, config }), undefined);

      const recorded = await replayRun(commands, { path, step: 2 });
      assertEquals(recorded.replay.differences, []);
      assertEquals(recorded.replay.isSampledAlike, true);
      assertEquals(recorded.from, { path: stepFiles(path, 2).state, stepsBefore: 0 });
      assert(recorded.recorded.grad_norm > 0, "the step has a gradient to reproduce");

      // Step 3 was evaluated; it begins at the checkpoint of step 2.
      const unrecorded = await replayRun(commands, { path, step: 3 });
      assertEquals(unrecorded.replay.differences, []);
      assertEquals(unrecorded.replay.isSampledAlike, undefined);
      assertEquals(unrecorded.from.stepsBefore, 1);
      assert(unrecorded.replay.row.eval_pass !== undefined);
    }),
);

gpuTest(
  "replayRun() shows what one changed stage does to a step",
  () =>
    withFolder(async (folder) => {
      const commands = await openCommands();
      const path = `${folder}/run`;
      await startRun(commands, { path, settings: smallSettings(2, ["recordEvery=1"]) });
      const shifted = await replayRun(commands, {
        path,
        step: 1,
        replacement: { stage: "lossMask", fault: "mask_shift" },
      });
      assertEquals(shifted.replay.differences, []);
      assert(shifted.changed && shifted.changed.row.logp_gap > 1, "it trains unsampled tokens");
      const changed = names(shifted.changed.differences);
      assert(changed.includes("logp_gap") && !changed.includes("reward"), changed.join());

      const cool = await replayRun(commands, {
        path,
        step: 1,
        replacement: { stage: "sample", fault: "sampler_temp" },
      });
      assertEquals(cool.replay.differences, []);
      assertEquals(cool.changed?.isSampledAlike, false, "a changed sampler samples afresh");

      const same = await replayRun(commands, {
        path,
        step: 1,
        replacement: { stage: "lossMask", fault: "healthy" },
      });
      assertEquals(same.changed?.differences, [], "the run is healthy already");
    }),
);

gpuTest(
  "replayRun() shows what is not reproduced, and refuses a step that never was",
  () =>
    withFolder(async (folder) => {
      const commands = await openCommands();
      const path = `${folder}/run`;
      await startRun(commands, { path, settings: smallSettings(2, ["recordEvery=1"]) });
      const { record, episodes } = stepFiles(path, 1);
      const text = Deno.readTextFileSync(record);
      const { row } = JSON.parse(text);
      const edited = text.replace(`${row.entropy}`, `${row.entropy + 1e-9}`);
      Deno.writeTextFileSync(record, edited);
      await assertRejects(() => replayRun(commands, { path, step: 1 }), UserError, "it is damaged");
      // A record of an earlier version carries no SHA-256.
      Deno.writeTextFileSync(record, edited.replace(/,\s*"sha256": "\w+"/, ""));
      const changed = await replayRun(commands, { path, step: 1 });
      assertEquals(changed.isVerified, false);
      assertEquals(changed.replay.differences, [
        { metric: "entropy", recorded: row.entropy + 1e-9, replayed: row.entropy },
      ]);

      // The recorded episodes are what is trained on, whatever sampling gives now.
      const rows = Deno.readTextFileSync(episodes).split("\n").filter(Boolean);
      const reversed = rows.toReversed().map((line, episode) =>
        JSON.stringify({ ...JSON.parse(line), episode, group: Math.floor(episode / 4) })
      );
      Deno.writeTextFileSync(episodes, `${reversed.join("\n")}\n`);
      const { replay } = await replayRun(commands, { path, step: 1 });
      assertEquals(replay.isSampledAlike, false);
      assert(names(replay.differences).includes("grad_norm"), "other minibatches");

      await assertRejects(() => replayRun(commands, { path, step: 7 }), UserError, "2 steps");
    }),
);

gpuTest(
  "a resumed run records the steps of a run that was not stopped",
  () =>
    withFolder(async (folder) => {
      const commands = await openCommands();
      // A factor of 1 records whatever exceeds its running median, so that the history matters.
      const sets = ["recordSpikeFactor=1"];
      const whole = `${folder}/whole`;
      const path = `${folder}/stopped`;
      const settings = smallSettings(8, sets);
      const { config } = settings;
      await startRun(commands, { path: whole, settings });
      await startRun(commands, { path, settings: smallSettings(5, sets) });
      await resumeRun(commands, { path, steps: 8 });
      const recorded = (run: string) =>
        [0, 1, 2, 3, 4, 5, 6, 7].filter((step) =>
          readStepRecord(run, { step, config }) !== undefined
        );
      assertEquals(recorded(path), recorded(whole));
      assert(recorded(whole).length > 0, "something exceeds its median");
      assertEquals(recorded(whole).filter((step) => step < 4), [], "four rows make no median");
    }),
);
