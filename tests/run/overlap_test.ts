/** The host's work of a step while the device plays the next one's episodes: when it is done, and that it changes no file. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { readJournal } from "../../src/files/journal.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { checkpointPath, checkpointSteps, runPaths } from "../../src/run/run_directory.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { resumeRun, smallSettings, writeBegunRun } from "./small_run.ts";

const STEPS = 6;
const SETS = ["evalEvery=0", "checkpointEvery=4", "episodesEvery=2"];

/** A run from before its first step, with what happens in it in order. The clock counts how often it is asked. */
async function train(
  path: string,
  options: { readonly sets?: readonly string[]; readonly throwAt?: string } = {},
) {
  const commands = new Commands(await testGpu());
  const { counters } = commands.gpu;
  const log: string[] = [];
  let asked = 0;
  // Submits and readbacks since the clock was asked last.
  let since = { ...counters };
  const note = (text: string) => {
    log.push(text);
    if (text === options.throwAt) throw new UserError(`thrown at ${text}`);
  };
  const nowMs = () => {
    note(`${asked % 2 === 0 ? "begin" : "end"} ${asked >> 1}`);
    since = { ...counters };
    return 1000 * asked++;
  };
  const append = ({ step }: { readonly step: number }) => {
    const isRunning = counters.submits === since.submits + 1 &&
      counters.readbacks === since.readbacks;
    note(`row ${step}${isRunning ? " while the device plays" : ""}`);
  };
  await writeBegunRun(path, smallSettings(STEPS, [...SETS, ...options.sets ?? []]));
  const run = resumeRun(commands, {
    path,
    nowMs,
    rowLogs: [{ append, sync: () => note("sync") }],
    onStep: ({ step }) => {
      // Its row is on disk, and nothing of a later step.
      assertEquals(readJournal(runPaths(path).metrics).at(-1)?.step, step);
      note(`told ${step}`);
    },
  });
  return { log, run };
}

const rowSteps = (path: string) => readJournal(runPaths(path).metrics).map(({ step }) => step);

gpuTest(
  "runTraining() writes a step's row while the device plays the next step",
  () =>
    withFolder(async (folder) => {
      const paths = { late: `${folder}/late`, atOnce: `${folder}/atOnce` };
      const late = await train(paths.late);
      const result = await late.run;
      assertEquals(late.log, [
        ...["begin 0", "end 0", "row 0", "told 0"], // The first step after a resume is checked.
        ...["begin 1", "end 1"],
        ...["begin 2", "row 1 while the device plays", "told 1", "end 2"],
        ...["begin 3", "row 2 while the device plays", "told 2", "end 3"],
        ...["row 3", "sync", "told 3"], // A checkpoint is due.
        ...["begin 4", "end 4"],
        ...["begin 5", "row 4 while the device plays", "told 4", "end 5"],
        ...["row 5", "sync", "told 5"], // The last.
      ]);

      // Every step may be one to record, so that no row waits.
      const atOnce = await train(paths.atOnce, { sets: ["recordSpikeFactor=1000000"] });
      assertEquals(await atOnce.run, result);
      assertEquals(atOnce.log.filter((text) => text.includes("while")), []);
      const filesOf = (path: string) => {
        const { metrics, timing, episodes, laterChecks } = runPaths(path);
        const checkpoints = checkpointSteps(path).map((step) => checkpointPath(path, step));
        return [metrics, timing, episodes, laterChecks, ...checkpoints].map((name) =>
          Deno.readFileSync(name)
        );
      };
      assertEquals(checkpointSteps(paths.late), [0, 4, 6]);
      assertEquals(filesOf(paths.late), filesOf(paths.atOnce));
    }),
);

gpuTest(
  "a row that waits is written where the next step fails, and not again where it fails itself",
  () =>
    withFolder(async (folder) => {
      const later = await train(`${folder}/later`, { throwAt: "begin 2" });
      await assertRejects(() => later.run, UserError, "thrown at begin 2");
      assertEquals(later.log.slice(-3), ["begin 2", "row 1", "told 1"]);
      assertEquals(rowSteps(`${folder}/later`), [0, 1]);

      const row = "row 1 while the device plays";
      const itself = await train(`${folder}/itself`, { throwAt: row });
      await assertRejects(() => itself.run, UserError, `thrown at ${row}`);
      assertEquals(itself.log.slice(-2), ["begin 2", row]);
      assertEquals(rowSteps(`${folder}/itself`), [0, 1]);

      // The device goes on with other work, and the run to the bits of one that was not disturbed.
      const commands = new Commands(await testGpu());
      const resumed = await resumeRun(commands, { path: `${folder}/itself` });
      assertEquals(resumed, await resumeRun(commands, { path: `${folder}/later` }));
      assertEquals(rowSteps(`${folder}/itself`), [0, 1, 2, 3, 4, 5]);
    }),
);
