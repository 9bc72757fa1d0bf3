/** `agentrl sweep status` and `sweep cancel`. */
import { UserError } from "../../src/core/errors.ts";
import { cancelSweep } from "../../src/sweep/cancel.ts";
import { readJobs } from "../../src/sweep/job_record.ts";
import type { StatusDocument } from "../../src/sweep/status_document.ts";
import { sweepStatus } from "../../src/sweep/sweep_status.ts";
import type { Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import type { SweepFlags } from "./sweep_flags.ts";
import { findSweep } from "./open_sweep.ts";
import { runProgram } from "./program.ts";
import { cancelJobs, type QueuedTask, slurmQueue } from "./slurm.ts";
import { nextLines, statusText, sweepCommand, sweepLine } from "./sweep_text.ts";

/** What the queue holds, or why that is not known: the folders speak for themselves. */
async function queueOrReason(
  ...args: Parameters<typeof slurmQueue>
): Promise<readonly QueuedTask[] | string> {
  try {
    return await slurmQueue(...args);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

/** How a sweep stands; ends with 1 where a cell has failed. */
export async function showStatus(
  path: string,
  { out, rebuild, cells: isFull }: Pick<SweepFlags, "out" | "rebuild" | "cells">,
): Promise<Outcome> {
  const sweep = await findSweep(path, out);
  const status = sweepStatus(sweep, { rebuild, host: Deno.hostname() });
  const jobs = readJobs(sweep.path);
  const queue = await queueOrReason(jobs, { name: sweep.name, run: runProgram });
  const { counts, cells } = status;
  const document: StatusDocument = {
    sweep: sweep.path,
    name: sweep.name,
    command: sweep.command,
    ...counts,
    cells: cells.map(({ cell, state, known }) => ({
      id: cell.id,
      folder: cell.folder,
      condition: cell.condition,
      seed: cell.seed,
      values: cell.values,
      state,
      attempts: known?.attempts ?? 0,
      problem: known?.problem ?? null,
      steps: known?.steps ?? null,
      reward: known?.reward ?? null,
      evalPass: known?.evalPass ?? null,
    })),
    jobs: jobs.map(({ name, engine, jobId }) => ({ name, engine, jobId })),
    queue: typeof queue === "string" ? null : [...queue],
  };
  return {
    document,
    text: statusText(sweep, { status, jobs, queue, isFull, nowMs: Date.now() }),
    exitCode: counts.failed > 0 ? 1 : 0,
  };
}

/** Stops a sweep wherever it runs: pools that share the folder, and its jobs. */
export async function cancel(path: string, { out }: Pick<SweepFlags, "out">): Promise<Outcome> {
  const sweep = await findSweep(path, out);
  cancelSweep(sweep.path, { time: new Date().toISOString() });
  const jobs = readJobs(sweep.path);
  const queue = await slurmQueue(jobs, { name: sweep.name, run: runProgram });
  const ids = [...new Set(queue.map(({ jobId }) => jobId))];
  await cancelJobs(ids, runProgram);
  const manifests = jobs.filter(({ engine }) => engine === "kubernetes").length;
  return {
    document: { sweep: sweep.path, cancelled: ids },
    text: [
      ...formatTable([
        ["sweep", sweepLine(sweep)],
        ["cancelled", ids.length === 0 ? "no job in a queue" : `jobs ${ids.join(", ")}`],
        ["pools", "save their cells after the step at hand and end"],
        ...(manifests > 0
          ? [["kubernetes", "pods are told as well; kubectl delete takes the job away"] as const]
          : []),
      ]),
      ...nextLines([sweepCommand(sweep, "status"), sweepCommand(sweep)]),
    ].join("\n"),
  };
}
