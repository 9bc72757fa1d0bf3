/** Tests of what is handed to Slurm and read from it, against what a real one printed (`deno task slurm --record`). */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { requireSuccess, type RunProgram } from "../../../cli/sweep/program.ts";
import {
  cancelJobs,
  ownTask,
  parseQueue,
  requeueTask,
  type SlurmOptions,
  slurmQueue,
  slurmScript,
  submitScript,
} from "../../../cli/sweep/slurm.ts";
import { UserError } from "../../../src/core/errors.ts";
import type { JobRecord } from "../../../src/sweep/job_record.ts";

const recorded = (name: string) =>
  Deno.readTextFileSync(new URL(`../../sweep/recorded/${name}`, import.meta.url));

const record = (jobId: string | null = "1", number = 1): JobRecord => ({
  ...{ name: `slurm-${number}`, version: 1, engine: "slurm", time: "2026-01-01T00:00:00.000Z" },
  ...{ jobId, chunk: 2, cells: Array.from({ length: 11 }, (_, i) => `${i}`) },
});

const NOTHING: SlurmOptions = {
  ...{ partition: undefined, time: undefined, gres: undefined, qos: undefined },
  ...{ limit: undefined, template: "" },
};
const PLACE = {
  jobName: "agentrl-lr-slurm-1",
  sweep: "runs/sweep-lr",
  cwd: "/home/a b",
  launcher: "/opt/agentrl/cli/agentrl",
  extra: ["--claim-timeout=90"],
};

/** Programs that answer what they are told, and what they were asked. */
function programs(
  answers: Readonly<Record<string, { code?: number; stdout?: string; stderr?: string }>>,
) {
  const asked: string[] = [];
  const run: RunProgram = (program, args) => {
    asked.push([program, ...args].join(" "));
    const { code = 0, stdout = "", stderr = "" } = answers[program] ?? {};
    return Promise.resolve({ code, stdout, stderr });
  };
  return { run, asked };
}

Deno.test("slurmScript() is one array with the user's directives and lines, and a process that hears signals itself", () => {
  const options = {
    ...{ partition: "low", time: "4:00:00", gres: "gpu:1", qos: "normal", limit: 3 },
    template: "#SBATCH --account=rl\r\nmodule load vulkan\n\n",
  };
  assertEquals(
    slurmScript(record(), { options, place: PLACE }),
    `#!/bin/sh
#SBATCH --job-name=agentrl-lr-slurm-1
#SBATCH --array=0-5%3
#SBATCH --chdir="/home/a b"
#SBATCH --output="/home/a b/runs/sweep-lr/jobs/slurm-1_%a.log"
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:TERM@90
#SBATCH --partition=low
#SBATCH --time=4:00:00
#SBATCH --gres=gpu:1
#SBATCH --qos=normal
#SBATCH --account=rl
module load vulkan
exec /opt/agentrl/cli/agentrl sweep runs/sweep-lr --job=slurm-1 --claim-timeout=90 --task="$SLURM_ARRAY_TASK_ID"
`,
  );
});

Deno.test("slurmScript() quotes what a shell would read, doubles percent signs, and refuses what Slurm would", () => {
  const place = { ...PLACE, cwd: "/tmp", sweep: "it's $(rm) 100%" };
  const script = slurmScript(record(), { options: NOTHING, place });
  assertEquals(
    script.includes(`#SBATCH --output="/tmp/it's $(rm) 100%%/jobs/slurm-1_%a.log"`),
    true,
  );
  assertEquals(script.includes(` sweep 'it'\\''s $(rm) 100%' --job=slurm-1 `), true);
  for (const partition of ['a"b', "a\nb", "a\\b"]) {
    const options = { ...NOTHING, partition };
    assertThrows(() => slurmScript(record(), { options, place }), UserError, "Cannot write");
  }
});

Deno.test("submitScript() reads the job's id, and passes on why Slurm refuses", async () => {
  const { run, asked } = programs({ sbatch: { stdout: recorded("sbatch.txt") } });
  assertEquals([await submitScript("jobs/a.sh", run), asked], ["1", [
    "sbatch --parsable jobs/a.sh",
  ]]);
  assertEquals(await submitScript("a", programs({ sbatch: { stdout: "12;east\n" } }).run), "12");
  const stderr = "sbatch: error: invalid partition specified: lw\n" +
    "sbatch: error: Batch job submission failed: Invalid partition name specified\n";
  await assertRejects(
    () => submitScript("a", programs({ sbatch: { code: 1, stderr } }).run),
    UserError,
    "sbatch refused: invalid partition specified: lw; Batch job submission failed",
  );
  await assertRejects(() => submitScript("a", programs({}).run), UserError, "is not a job's id");
});

Deno.test("parseQueue() reads what squeue printed of tasks that run, wait and were preempted", () => {
  const running = parseQueue(recorded("squeue_running.txt"));
  assertEquals(running.filter(({ state }) => state === "RUNNING"), [
    { jobId: "1", task: 0, state: "RUNNING", reason: "None" },
    { jobId: "1", task: 1, state: "RUNNING", reason: "None" },
  ]);
  assertEquals(running.filter(({ reason }) => reason === "JobArrayTaskLimit").length, 4);
  // The job that preempts is not an array; what is requeued ends first.
  const preempted = parseQueue(recorded("squeue_preempted.txt"));
  assertEquals(preempted.map(({ task, state }) => `${task} ${state}`), [
    "2 COMPLETING",
    "3 PENDING",
    "4 PENDING",
    "5 PENDING",
  ]);
  assertEquals(parseQueue(recorded("squeue_empty.txt")), []);
});

Deno.test("slurmQueue() asks for this sweep's jobs only, and for none where none was submitted", async () => {
  const { run, asked } = programs({ squeue: { stdout: recorded("squeue_running.txt") } });
  const of = (records: readonly JobRecord[]) => slurmQueue(records, { name: "lr", run });
  assertEquals((await of([record("1"), record("9", 2), record(null, 3)])).length, 6);
  assertEquals((await of([record("7")])).length, 0);
  assertEquals(await of([record(null)]), []);
  assertEquals(
    asked[0],
    "squeue --noheader --array --format=%F|%K|%T|%r --name=agentrl-lr-slurm-1,agentrl-lr-slurm-2",
  );
  assertEquals(asked.length, 2);
  const stderr = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n";
  await assertRejects(
    () =>
      slurmQueue([record()], { name: "lr", run: programs({ squeue: { code: 1, stderr } }).run }),
    UserError,
    "squeue refused: slurm_load_jobs error: Unable to contact slurm controller",
  );
});

Deno.test("requeueTask() asks only where the task would end otherwise", async () => {
  const variables = { SLURM_JOB_ID: "5", SLURM_ARRAY_JOB_ID: "3", SLURM_ARRAY_TASK_ID: "2" };
  const task = ownTask((name) => variables[name as keyof typeof variables]);
  assertEquals(task, { id: "5", name: "3_2" });
  assertEquals(ownTask(() => undefined), undefined);
  const when = async (state: string, code = 0) => {
    const { run, asked } = programs({ squeue: { stdout: `${state}\n`, code } });
    return [await requeueTask({ id: "5", name: "3_2" }, run), asked.length];
  };
  assertEquals(await when("RUNNING"), [true, 2]);
  for (const state of ["COMPLETING", "PREEMPTED", "CANCELLED", ""]) {
    assertEquals(await when(state), [false, 1], state);
  }
  assertEquals(await when("RUNNING", 1), [false, 1]);
});

Deno.test("cancelJobs() names every job once, and calls nothing without one", async () => {
  const { run, asked } = programs({});
  await cancelJobs([], run);
  await cancelJobs(["3", "4"], run);
  assertEquals(asked, ["scancel 3 4"]);
  assertThrows(
    () => requireSuccess("scancel", { code: 1, stdout: "", stderr: "" }),
    UserError,
    "scancel refused: it ended with 1",
  );
});
