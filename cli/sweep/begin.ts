/** `agentrl sweep FILE`: plans, then works at the cells here or hands them to a scheduler. */
import { fileURLToPath } from "node:url";
import { oneSentence } from "../../src/core/sentence.ts";
import { writeFileAtomic } from "../../src/files/atomic_file.ts";
import { readText } from "../../src/files/read_file.ts";
import { remark } from "../../src/files/terminal.ts";
import {
  beginJob,
  cellsOfTask,
  dropJob,
  jobPath,
  nameJob,
  readJob,
  readJobs,
  taskCount,
} from "../../src/sweep/job_record.ts";
import { cellLabel } from "../../src/sweep/plan.ts";
import type { Sweep } from "../../src/sweep/sweep_folder.ts";
import { lookAtCells } from "../../src/sweep/sweep_index.ts";
import type { Outcome } from "../command.ts";
import type { SweepFlags } from "./sweep_flags.ts";
import { formatTable } from "../flags.ts";
import { kubernetesJob } from "./kubernetes.ts";
import { defaultJobs, type LocalResult, runLocal } from "./local_engine.ts";
import { openSweep } from "./open_sweep.ts";
import { runProgram } from "./program.ts";
import {
  ownTask,
  requeueTask,
  slurmJobName,
  slurmQueue,
  slurmScript,
  submitScript,
  USUAL_TASKS,
} from "./slurm.ts";
import {
  compareCommand,
  counted,
  failedLines,
  logOf,
  nextLines,
  sweepCommand,
  sweepLine,
} from "./sweep_text.ts";

/** A template is a few lines. */
const MAX_TEMPLATE_BYTES = 65_536;

/** Arguments that every process of a sweep gets. */
function extraArguments({ requireGpu }: SweepFlags): string[] {
  return requireGpu ? ["--require-gpu"] : [];
}

/** How it ended, in words. */
function localOutcome(sweep: Sweep, { result, isTask }: {
  readonly result: LocalResult;
  /** True: a pod, which its cluster would start again for a cell that fails each time. */
  readonly isTask: boolean;
}): Outcome {
  const { total, done, failed, left, elsewhere, stopCode, isCancelled } = result;
  const why = isCancelled ? ", cancelled" : stopCode !== undefined ? ", stopped and saved" : "";
  const others = elsewhere > 0 ? `, ${elsewhere} of them with other processes` : "";
  const isOver = left === 0 && failed.length === 0;
  const next = isOver
    ? [
      ...(sweep.command === "train" ? [compareCommand(sweep)] : []),
      `${sweepCommand(sweep, "status")} --cells`,
    ]
    : [sweepCommand(sweep)];
  return {
    document: {
      sweep: sweep.path,
      name: sweep.name,
      command: sweep.command,
      total,
      done,
      failed: failed.map(({ cell, problem }) => ({
        id: cell.id,
        folder: cell.folder,
        problem,
        log: logOf(sweep, cell),
      })),
      left,
    },
    text: [
      ...formatTable([
        ["sweep", sweepLine(sweep)],
        ["done", `${done} of ${total}`],
        ["failed", String(failed.length)],
        ["left", `${left}${left > 0 ? `${why}${others}` : ""}`],
      ]),
      ...failedLines(sweep, failed),
      ...nextLines(next),
    ].join("\n"),
    emphasis: [{ pattern: /^ {2}failed +[1-9]\d*/gm, style: "red" }],
    exitCode: left > 0 && stopCode !== undefined
      ? stopCode
      : failed.length > 0 && !isTask || isCancelled
      ? 1
      : 0,
  };
}

async function beginLocal(sweep: Sweep, flags: SweepFlags): Promise<Outcome> {
  const { job, task, jobs = defaultJobs(), wait: waits, claimTimeout } = flags;
  const record = job === undefined ? undefined : readJob(sweep.path, job);
  const own = record?.engine === "slurm" ? ownTask((name) => Deno.env.get(name)) : undefined;
  const result = await runLocal(sweep, {
    cells: record && cellsOfTask(sweep, record, task ?? 0),
    jobs: record === undefined ? jobs : flags.jobs ?? 1,
    claimTimeoutMs: 1000 * claimTimeout,
    waits,
    extra: extraArguments(flags),
    job: own === undefined ? record && `${record.name}, task ${task}` || null : `slurm ${own.name}`,
  });
  const { left, stopCode, isCancelled } = result;
  if (own !== undefined && left > 0 && stopCode !== undefined && !isCancelled) {
    const isAgain = await requeueTask(own, runProgram);
    if (isAgain) {
      remark(`agentrl sweep: task ${own.name} is requeued with ${counted(left, "cell")} left\n`);
    }
  }
  return localOutcome(sweep, { result, isTask: record?.engine === "kubernetes" });
}

/** Cells that have not ended well, without those that wait or run in the queue. */
async function cellsToHandOver(sweep: Sweep, engine: SweepFlags["engine"]): Promise<string[]> {
  const known = lookAtCells(sweep);
  const queued = new Set<string>();
  if (engine === "slurm") {
    const records = readJobs(sweep.path);
    const queue = await slurmQueue(records, { name: sweep.name, run: runProgram });
    for (const { jobId, task } of queue) {
      const record = records.find((one) => one.jobId === jobId);
      const { cells = [], chunk = 1 } = record ?? {};
      for (const id of cells.slice(task * chunk, (task + 1) * chunk)) queued.add(id);
    }
  }
  return sweep.cells.map(({ id }) => id)
    .filter((id) => known.get(id)?.state !== "done" && !queued.has(id));
}

function nothingToDo(sweep: Sweep): Outcome {
  return {
    document: { sweep: sweep.path, name: sweep.name, command: sweep.command, cells: 0, job: null },
    text: [
      ...formatTable([
        ["sweep", sweepLine(sweep)],
        ["handed over", "nothing: every cell is done or in the queue"],
      ]),
      ...nextLines([sweepCommand(sweep, "status")]),
    ].join("\n"),
  };
}

async function beginSlurm(sweep: Sweep, flags: SweepFlags): Promise<Outcome> {
  const { partition, time, gres, qos, limit, template: file } = flags;
  const template = file === undefined ? "" : readText(file, { maxBytes: MAX_TEMPLATE_BYTES });
  const cells = await cellsToHandOver(sweep, "slurm");
  if (cells.length === 0) return nothingToDo(sweep);
  const chunk = flags.chunk ?? Math.ceil(cells.length / USUAL_TASKS);
  const now = new Date().toISOString();
  const record = beginJob(sweep.path, { engine: "slurm", chunk, cells, time: now });
  const path = jobPath(sweep.path, record.name).replace(/\.json$/, ".sh");
  let jobId: string;
  try {
    const script = slurmScript(record, {
      options: { partition, time, gres, qos, limit, template },
      place: {
        jobName: slurmJobName(sweep.name, record),
        sweep: sweep.path,
        cwd: Deno.cwd(),
        launcher: fileURLToPath(new URL("../agentrl", import.meta.url)),
        extra: [`--claim-timeout=${flags.claimTimeout}`, ...extraArguments(flags)],
      },
    });
    writeFileAtomic(path, script);
    jobId = await submitScript(path, runProgram);
  } catch (error) {
    dropJob(sweep.path, record);
    throw error;
  }
  nameJob(sweep.path, record, jobId);
  return {
    document: {
      ...{ sweep: sweep.path, name: sweep.name, command: sweep.command },
      ...{ cells: cells.length, job: { name: record.name, jobId, script: path } },
    },
    text: [
      ...formatTable([
        ["sweep", sweepLine(sweep)],
        [
          "job",
          `${jobId}: ${counted(cells.length, "cell")} in ${counted(taskCount(record), "task")}`,
        ],
        ["script", path],
      ]),
      ...nextLines([sweepCommand(sweep, "status"), sweepCommand(sweep, "cancel")]),
    ].join("\n"),
  };
}

async function beginKubernetes(sweep: Sweep, flags: SweepFlags): Promise<Outcome> {
  const { image = "", claim = "", mount, cpu, memory, gpus, limit } = flags;
  const cells = await cellsToHandOver(sweep, "kubernetes");
  if (cells.length === 0) return nothingToDo(sweep);
  const chunk = flags.chunk ?? Math.ceil(cells.length / USUAL_TASKS);
  const now = new Date().toISOString();
  const record = beginJob(sweep.path, { engine: "kubernetes", chunk, cells, time: now });
  const path = jobPath(sweep.path, record.name).replace(/\.json$/, ".yaml");
  const folder = `${mount.replace(/\/+$/, "")}/${sweep.path.split("/").at(-1)}`;
  try {
    const manifest = kubernetesJob(record, {
      options: { image, claim, mount, cpu, memory, gpus, limit },
      sweepName: sweep.name,
      folder,
      extra: [`--claim-timeout=${flags.claimTimeout}`, ...extraArguments(flags)],
    });
    const { stringify } = await import("yaml");
    writeFileAtomic(path, stringify(manifest));
  } catch (error) {
    dropJob(sweep.path, record);
    throw error;
  }
  return {
    document: {
      ...{ sweep: sweep.path, name: sweep.name, command: sweep.command },
      ...{ cells: cells.length, job: { name: record.name, jobId: null, manifest: path } },
    },
    text: [
      ...formatTable([
        ["sweep", sweepLine(sweep)],
        [
          "manifest",
          `${path}: ${counted(cells.length, "cell")} in ${counted(taskCount(record), "pod")}`,
        ],
        ["folder", `${sweep.path} must lie in the claim ${claim}, as ${folder} in a pod`],
      ]),
      ...nextLines([`kubectl apply -f ${path}`, sweepCommand(sweep, "status")]),
    ].join("\n"),
  };
}

/** What a dry run says. */
function plannedOutcome(sweep: Sweep, change: string | undefined): Outcome {
  const { path, name, command, cells } = sweep;
  const shown = cells.slice(0, 3).map(cellLabel);
  return {
    document: { sweep: path, name, command, total: cells.length, change: change ?? null },
    text: formatTable([
      ["sweep", sweepLine(sweep)],
      ["cells", `${shown.join("; ")}${cells.length > shown.length ? "; …" : ""}`],
      ...(change === undefined ? [] : [["change", change] as const]),
    ]).join("\n"),
  };
}

/** Begins a sweep, or goes on with what is missing of it. */
export async function begin(path: string, flags: SweepFlags): Promise<Outcome> {
  const { out, dryRun: isDry, engine } = flags;
  const { sweep, change } = await openSweep(path, { out, isDry });
  if (isDry) return plannedOutcome(sweep, change);
  if (change !== undefined) remark(`agentrl sweep: ${oneSentence(change)}\n`);
  switch (engine) {
    case "local":
      return await beginLocal(sweep, flags);
    case "slurm":
      return await beginSlurm(sweep, flags);
    case "kubernetes":
      return await beginKubernetes(sweep, flags);
    default:
      return engine satisfies never;
  }
}
