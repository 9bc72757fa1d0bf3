/** Slurm: a job array from cells in chunks, what its queue says of it, and a task that asks to be run again. */
import { UserError } from "../../src/core/errors.ts";
import { commandLine } from "../../src/core/shell_words.ts";
import { type JobRecord, taskCount } from "../../src/sweep/job_record.ts";
import { requireSuccess, type RunProgram } from "./program.ts";

/** Slurm's own limit is 1001 indices of an array where nobody raised it. */
export const USUAL_TASKS = 1000;

/** Before a time limit a task hears SIGTERM so early: a step and a checkpoint need less. */
const WARNING_SECONDS = 90;

/** What the user says of the job. */
export interface SlurmOptions {
  readonly partition: string | undefined;
  readonly time: string | undefined;
  readonly gres: string | undefined;
  readonly qos: string | undefined;
  /** Tasks at the same time; undefined: as many as the scheduler lets. */
  readonly limit: number | undefined;
  /** Lines of the user's for the script, as given: further directives, modules to load. */
  readonly template: string;
}

/** What the script needs beside. */
interface ScriptPlace {
  readonly jobName: string;
  /** The sweep's folder. */
  readonly sweep: string;
  /** The folder that it was submitted from. */
  readonly cwd: string;
  readonly launcher: string;
  /** Arguments behind the sweep's own. */
  readonly extra: readonly string[];
}

/** A value in a directive. Slurm reads quotes, and nothing lets it read a quote or a line's end. */
function directive(name: string, value: string): string {
  // deno-lint-ignore no-control-regex -- These are the characters that are looked for.
  if (/["\\\x00-\x1f]/.test(value)) {
    throw new UserError(
      `Cannot write ${
        JSON.stringify(value)
      } into a script of Slurm: no quotes, backslashes or control characters`,
    );
  }
  return `#SBATCH --${name}=${/[\s'#;]/.test(value) ? `"${value}"` : value}`;
}

/** The name of a job in Slurm's queue. */
export function slurmJobName(sweepName: string, { name }: Pick<JobRecord, "name">): string {
  return `agentrl-${sweepName}-${name}`;
}

/**
 * The script of a job array.
 *
 * @param record The cells and their chunks.
 * @throws {UserError} When a path or a value cannot stand in a directive.
 */
export function slurmScript(
  record: JobRecord,
  { options, place }: { readonly options: SlurmOptions; readonly place: ScriptPlace },
): string {
  const { partition, time, gres, qos, limit, template } = options;
  const { jobName, sweep, cwd, launcher, extra } = place;
  const last = taskCount(record) - 1;
  const log = `${absolute(sweep, cwd)}/jobs/${record.name}`.replaceAll("%", "%%");
  const given = Object.entries({ partition, time, gres, qos }).flatMap(([name, value]) =>
    value === undefined ? [] : [directive(name, value)]
  );
  const work = commandLine([launcher, "sweep", sweep, `--job=${record.name}`, ...extra]);
  return [
    "#!/bin/sh",
    directive("job-name", jobName),
    directive("array", `0-${last}${limit === undefined ? "" : `%${limit}`}`),
    directive("chdir", cwd),
    directive("output", `${log}_%a.log`),
    directive("open-mode", "append"),
    "#SBATCH --requeue",
    directive("signal", `B:TERM@${WARNING_SECONDS}`),
    ...given,
    ...(template === "" ? [] : [template.replaceAll("\r\n", "\n").trimEnd()]),
    // The process itself hears the signals of its job: no shell stands between.
    `exec ${work} --task="$SLURM_ARRAY_TASK_ID"`,
    "",
  ].join("\n");
}

function absolute(path: string, cwd: string): string {
  return path.startsWith("/") ? path : `${cwd}/${path}`;
}

/**
 * Submits a script.
 *
 * @returns The job's id.
 * @throws {UserError} When Slurm refuses it, in its own words.
 */
export async function submitScript(script: string, run: RunProgram): Promise<string> {
  const printed = requireSuccess("sbatch", await run("sbatch", ["--parsable", script]));
  // `12`, or `12;cluster`.
  const [, id] = /^(\d+)(?:;\S*)?\s*$/.exec(printed) ?? [];
  if (id === undefined) {
    throw new UserError(
      `sbatch printed ${JSON.stringify(printed.trim())}, which is not a job's id`,
    );
  }
  return id;
}

/** A task in the queue. */
export interface QueuedTask {
  readonly jobId: string;
  readonly task: number;
  /** `RUNNING`, `PENDING`, `COMPLETING` … */
  readonly state: string;
  /** Why it waits: `Resources`, `Priority`, `BeginTime` … */
  readonly reason: string;
}

/** The columns that are asked for: id of the array, index in it, state, reason. */
const QUEUE_FORMAT = "%F|%K|%T|%r";

/** The tasks in an answer of squeue. Lines of other forms, such as jobs without an array, are skipped. */
export function parseQueue(text: string): QueuedTask[] {
  return text.split("\n").flatMap((line) => {
    const [, jobId, task, state, reason] = /^\s*(\d+)\|(\d+)\|(\w+)\|(.*?)\s*$/.exec(line) ?? [];
    if (jobId === undefined || state === undefined || reason === undefined) return [];
    return [{ jobId, task: Number(task), state, reason }];
  });
}

/**
 * What Slurm's queue holds of a sweep's jobs.
 *
 * @param records The sweep's records of any scheduler.
 * @param options.name The sweep's name.
 * @returns Their tasks that wait or run; those that have ended are not in the queue.
 * @throws {UserError} When Slurm does not answer.
 */
export async function slurmQueue(
  records: readonly JobRecord[],
  { name, run }: { readonly name: string; readonly run: RunProgram },
): Promise<QueuedTask[]> {
  const own = records.filter(({ engine, jobId }) => engine === "slurm" && jobId !== null);
  if (own.length === 0) return [];
  const names = own.map((record) => slurmJobName(name, record)).join(",");
  const answer = await run("squeue", [
    ...["--noheader", "--array", `--format=${QUEUE_FORMAT}`],
    `--name=${names}`,
  ]);
  const ids = new Set(own.map(({ jobId }) => jobId));
  return parseQueue(requireSuccess("squeue", answer)).filter(({ jobId }) => ids.has(jobId));
}

/** Takes jobs out of the queue and ends their tasks. @throws {UserError} When Slurm refuses. */
export async function cancelJobs(jobIds: readonly string[], run: RunProgram): Promise<void> {
  if (jobIds.length === 0) return;
  requireSuccess("scancel", await run("scancel", [...jobIds]));
}

/** The task of Slurm that this process is; undefined: it is none. */
export interface OwnTask {
  readonly id: string;
  /** `12_3`: as people and Slurm's programs name it. */
  readonly name: string;
}

/** Reads it from variables of the environment. */
export function ownTask(variable: (name: string) => string | undefined): OwnTask | undefined {
  const id = variable("SLURM_JOB_ID");
  if (id === undefined) return undefined;
  const [array, task] = [variable("SLURM_ARRAY_JOB_ID"), variable("SLURM_ARRAY_TASK_ID")];
  return { id, name: array === undefined || task === undefined ? id : `${array}_${task}` };
}

/**
 * Asks that this task runs again, after a signal and with cells left. Where Slurm ends it anyway (it was preempted and is
 * requeued, or cancelled), the task is no longer RUNNING, and nothing is asked.
 *
 * @returns Whether it was requeued.
 */
export async function requeueTask({ id, name }: OwnTask, run: RunProgram): Promise<boolean> {
  const state = await run("squeue", ["--noheader", `--jobs=${id}`, "--format=%T"]);
  if (state.code !== 0 || state.stdout.trim() !== "RUNNING") return false;
  return (await run("scontrol", ["requeue", name])).code === 0;
}
