/** How a sweep stands, as one document for other programs. */
import { z } from "zod";
import { SCHEDULERS } from "./job_record.ts";
import { settingsSchema, SWEEP_COMMANDS } from "./sweep_folder.ts";

const count = z.int().min(0);

const statusSchema = z.object({
  sweep: z.string().describe("its folder"),
  name: z.string(),
  command: z.enum(SWEEP_COMMANDS),
  done: count,
  failed: count,
  running: count.describe("claimed by a process that is not known to be dead"),
  left: count,
  cells: z.array(z.object({
    id: z.string(),
    folder: z.string().describe("its run; missing until it has begun"),
    condition: z.string().nullable(),
    seed: z.int(),
    values: settingsSchema.describe("its value on each axis"),
    state: z.enum(["done", "failed", "running", "left"]),
    attempts: count,
    problem: z.string().nullable().describe("why its last attempt failed"),
    steps: z.int().nullable().describe("steps of a training that is done"),
    reward: z.number().nullable().describe("in its last step"),
    evalPass: z.number().nullable().describe("its last held-out pass rate"),
  })),
  jobs: z.array(z.object({
    name: z.string(),
    engine: z.enum(SCHEDULERS),
    jobId: z.string().nullable().describe("the scheduler's; null: applying it is the user's"),
  })),
  queue: z.array(z.object({
    jobId: z.string(),
    task: z.int(),
    state: z.string().describe("as Slurm says it"),
    reason: z.string().describe("why it waits"),
  })).nullable().describe("tasks that wait or run; null: Slurm does not answer"),
});

/** How a sweep stands. */
export type StatusDocument = z.infer<typeof statusSchema>;

/** The JSON Schema of {@linkcode StatusDocument}. */
export function statusJsonSchema() {
  return z.toJSONSchema(statusSchema);
}
