/** What was handed to a scheduler: which cells, how many in a task, and the scheduler's own id of the job. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { requireSchema } from "../core/schema.ts";
import { asUserError } from "../files/file_error.ts";
import { readJson, writeJson } from "../files/json.ts";
import type { Sweep, SweepCell } from "./sweep_folder.ts";
import { sweepPaths } from "./sweep_paths.ts";

/** Schedulers that take parts of a sweep. */
export const SCHEDULERS = ["slurm", "kubernetes"] as const;

/** One of {@linkcode SCHEDULERS}. */
export type Scheduler = typeof SCHEDULERS[number];

const NAME = new RegExp(`^(${SCHEDULERS.join("|")})-(\\d{1,9})$`);

const recordSchema = z.object({
  version: z.literal(1),
  engine: z.enum(SCHEDULERS),
  /** When it was handed over, in UTC. */
  time: z.string(),
  /** The scheduler's id; null: it was not taken, or applying it is the user's. */
  jobId: z.string().nullable(),
  /** Cells of a task; the last may have fewer. */
  chunk: z.int().min(1),
  /** Ids of the cells, task after task. */
  cells: z.array(z.string()),
});

/** A part of a sweep that was handed to a scheduler. */
export interface JobRecord extends z.infer<typeof recordSchema> {
  /** `slurm-3`: the third one. */
  readonly name: string;
}

/** Where a record stands, and what goes with it. */
export function jobPath(sweep: string, name: string): string {
  return `${sweepPaths(sweep).jobs}/${name}.json`;
}

/** Tasks of a job: its cells in chunks. */
export function taskCount({ cells, chunk }: Pick<JobRecord, "cells" | "chunk">): number {
  return Math.ceil(cells.length / chunk);
}

/**
 * The records of a sweep, in order.
 *
 * @throws {UserError} When one cannot be read.
 */
export function readJobs(sweep: string): JobRecord[] {
  let names: string[];
  try {
    names = Array.from(Deno.readDirSync(sweepPaths(sweep).jobs), ({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw asUserError(error, `Cannot read ${sweepPaths(sweep).jobs}`);
  }
  const number = (name: string) => Number(/\d+$/.exec(name)?.[0]);
  return names.flatMap((file) => {
    const name = file.replace(/\.json$/, "");
    return name !== file && NAME.test(name) ? [name] : [];
  }).sort((a, b) => number(a) - number(b)).map((name) => readJob(sweep, name));
}

/** Reads one record. @throws {UserError} When there is none of that name. */
export function readJob(sweep: string, name: string): JobRecord {
  if (!NAME.test(name)) {
    throw new UserError(
      `"${name}" is not the name of a job: it must be ${
        SCHEDULERS.join(" or ")
      } and a number, such as slurm-1`,
    );
  }
  const path = jobPath(sweep, name);
  return { name, ...requireSchema(readJson(path), recordSchema, { source: path }) };
}

/**
 * Writes down what is about to be handed over, under the next free name.
 *
 * @param sweep The sweep's folder.
 * @throws {UserError} When it cannot be written.
 */
export function beginJob(
  sweep: string,
  { engine, chunk, cells, time }: Pick<JobRecord, "engine" | "chunk" | "cells" | "time">,
): JobRecord {
  const { jobs } = sweepPaths(sweep);
  const record = { version: 1, engine, time, jobId: null, chunk, cells } as const;
  try {
    Deno.mkdirSync(jobs, { recursive: true });
    for (let number = 1;; number++) {
      const name = `${engine}-${number}`;
      try {
        // Exclusive: two that submit at once get two names.
        Deno.openSync(jobPath(sweep, name), { write: true, createNew: true }).close();
      } catch (error) {
        if (error instanceof Deno.errors.AlreadyExists) continue;
        throw error;
      }
      writeJson(jobPath(sweep, name), record);
      return { name, ...record };
    }
  } catch (error) {
    throw asUserError(error, `Cannot write to ${jobs}`);
  }
}

/** Writes down the scheduler's id. @throws {UserError} When it cannot be written. */
export function nameJob(sweep: string, record: JobRecord, jobId: string): void {
  const { name, ...content } = record;
  writeJson(jobPath(sweep, name), { ...content, jobId });
}

/** Forgets a job that the scheduler refused. */
export function dropJob(sweep: string, { name }: JobRecord): void {
  Deno.removeSync(jobPath(sweep, name));
}

/**
 * The cells of one task.
 *
 * @throws {UserError} When the job has no such task, or a cell that the sweep no longer has.
 */
export function cellsOfTask(sweep: Sweep, record: JobRecord, task: number): SweepCell[] {
  const { name, chunk, cells } = record;
  const tasks = taskCount(record);
  if (task >= tasks) {
    throw new UserError(`${name} has no task ${task}: its tasks are 0 to ${tasks - 1}`);
  }
  const known = new Map(sweep.cells.map((cell) => [cell.id, cell]));
  return cells.slice(task * chunk, (task + 1) * chunk).map((id) => {
    const cell = known.get(id);
    if (cell === undefined) {
      throw new UserError(
        `${name} has the cell ${id}, which ${sweepPaths(sweep.path).plan} no longer has`,
      );
    }
    return cell;
  });
}
