/** Tests of src/run/later_checks.ts and src/faults/step_checks.ts: the checks again in a run, and after it was taken up. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { invariantKey } from "../../src/diagnose/invariant_list.ts";
import { violated } from "../../src/diagnose/invariants.ts";
import { checkStep, type StateBefore, stateBefore } from "../../src/faults/step_checks.ts";
import { readJournal } from "../../src/files/journal.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { cutLaterChecks } from "../../src/run/later_checks.ts";
import { readLaterChecks } from "../../src/run/later_checks_file.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { openBench, smallConfig, withTrainer } from "../faults/small_runs.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { resumeRun, smallSettings, startRun } from "./small_run.ts";

const SETS = ["evalEvery=0", "checkpointEvery=0"];

gpuTest(
  "runTraining() checks again at chosen steps and after --resume, and changes no bit",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const run = (name: string, sets: readonly string[]) =>
        startRun(commands, {
          path: `${folder}/${name}`,
          settings: smallSettings(4, [...SETS, ...sets]),
        });
      const plain = await run("plain", []);
      let done = 0;
      await startRun(commands, {
        path: `${folder}/checked`,
        settings: smallSettings(4, [...SETS, "checkEvery=2"]),
        isStopRequested: () => ++done === 2,
      });
      const checked = await resumeRun(commands, { path: `${folder}/checked` });
      assertEquals(checked, plain);
      const [paths, others] = [runPaths(`${folder}/checked`), runPaths(`${folder}/plain`)];
      assertEquals(readJournal(paths.metrics), readJournal(others.metrics));
      assertEquals(readJournal(paths.episodes), readJournal(others.episodes));
      const rows = readLaterChecks(paths.laterChecks);
      // The second step, the first after it was taken up, and the fourth.
      assertEquals([...new Set(rows.map(({ step }) => step))], [1, 2, 3]);
      assertEquals(violated(rows), []);
      const keys = new Set(rows.map(({ id }) => invariantKey(id)));
      for (const key of ["sampler_is_trainer", "optimizer_step", "term_directions"]) {
        assert(keys.has(key), key);
      }
      assert(!keys.has("update_follows_advantage"), "moments move the policy, too");
      cutLaterChecks(paths.laterChecks, 2);
      assertEquals(
        new Set(readLaterChecks(paths.laterChecks).map(({ step }) => step)),
        new Set([1]),
      );
      cutLaterChecks(paths.laterChecks, 0);
      assertEquals(readLaterChecks(paths.laterChecks), []);
    }),
);

gpuTest(
  "runTraining() ends with a sampler that falls behind, and goes on without the gate",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const settings = {
        ...smallSettings(3, [...SETS, "checkEvery=2"]),
        bug: "stale_sampler",
      } as const;
      const path = `${folder}/run`;
      const error = await assertRejects(
        () => startRun(commands, { path, settings }),
        UserError,
        "in step 1 the trainer violates 2 sampler = trainer log-prob",
      );
      assertEquals(error.exitCode, 1);
      const { laterChecks, metrics } = runPaths(path);
      assertEquals(readJournal(metrics).length, 2, "the step was done and is written down");
      const broken = violated(readLaterChecks(laterChecks)).map(({ id }) => invariantKey(id));
      assert(broken.includes("sampler_is_trainer"), String(broken));
      const { steps } = await resumeRun(commands, { path, ignoreChecks: true });
      assertEquals(steps, 3);
    }),
);

gpuTest("checkStep() sees what a trainer that was taken up has lost", async () => {
  const bench = await openBench();
  const { agent: { weights_W } } = bench;
  const config = smallConfig({ maxTurns: 3, groupSize: 4 });
  await withTrainer(bench, { config }, async (trainer) => {
    await trainer.step();
    const before = await stateBefore(trainer);
    const report = await trainer.step();
    const broken = async (
      wrong: Partial<StateBefore>,
      reference_W: Float32Array<ArrayBuffer> = weights_W,
    ) => {
      const results = await checkStep(trainer, report, {
        before: { ...before, ...wrong },
        reference_W,
      });
      return violated(results).map(({ id }) => invariantKey(id));
    };
    const after = await stateBefore(trainer);
    assertEquals(await broken({}), []);
    const [first_W, second_W] = before.moments;
    assertEquals(
      await broken({ moments: [first_W, second_W.map((value) => 1.1 * value)] }),
      ["optimizer_step"],
    );
    assertEquals(await broken({}, weights_W.map((weight) => 1.01 * weight)), ["term_directions"]);
    // A step that counts as a later one: other random numbers, and another correction of the moments.
    const counted = await broken({ state: { ...before.state, step: 5 } });
    assertEquals(counted, ["sampled_as_said", "optimizer_step"]);
    const stale = await broken({ weights_W });
    assert(stale.includes("sampler_is_trainer"), String(stale));
    assertEquals(await stateBefore(trainer), after, "nothing of it moves the trainer");
  });
});
