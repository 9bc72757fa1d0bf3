/** The flags of `agentrl sweep`. */
import type { Flags, FlagValues } from "../flags.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";

/** The flags of `sweep`. */
export const SWEEP_FLAGS = {
  engine: {
    kind: "string",
    default: "local",
    choices: ["local", "slurm", "kubernetes"],
    help: "where cells run: processes here, a job array, or a manifest that you apply",
  },
  out: { kind: "string", help: "the sweep's folder (default runs/sweep-NAME)" },
  dryRun: { kind: "boolean", help: "check the file, say how many cells it has, begin none" },
  jobs: {
    kind: "integer",
    min: 1,
    max: 1024,
    help: "local: processes at a time (default: one for two processors, at most 4)",
  },
  wait: {
    kind: "boolean",
    default: true,
    help: "local: end while others still work on cells, instead of waiting for them",
  },
  claimTimeout: {
    kind: "number",
    default: 90,
    min: 1,
    max: 86_400,
    help: "seconds after which a cell of another machine that gives no sign of life is taken over",
  },
  chunk: {
    kind: "integer",
    min: 1,
    max: 100_000,
    help: "slurm, kubernetes: cells of a task (default: so many that 1000 tasks are enough)",
  },
  limit: { kind: "integer", min: 1, max: 100_000, help: "slurm, kubernetes: tasks at a time" },
  partition: { kind: "string", help: "slurm: as sbatch takes it" },
  time: { kind: "string", help: "slurm: limit of a task, such as 4:00:00" },
  gres: { kind: "string", help: "slurm: such as gpu:1" },
  qos: { kind: "string", help: "slurm: as sbatch takes it" },
  template: {
    kind: "string",
    help: "slurm: file with lines for the script, as given: #SBATCH directives, modules to load",
  },
  image: { kind: "string", help: "kubernetes: image with agentrl on the PATH" },
  claim: { kind: "string", help: "kubernetes: volume claim that holds the sweep's folder" },
  mount: { kind: "string", default: "/sweeps", help: "kubernetes: where the claim is mounted" },
  cpu: { kind: "string", help: "kubernetes: processors of a pod, such as 2" },
  memory: { kind: "string", help: "kubernetes: memory of a pod, such as 4Gi" },
  gpus: { kind: "integer", min: 0, max: 64, help: "kubernetes: GPUs of a pod" },
  cells: { kind: "boolean", help: "status: list every cell" },
  rebuild: { kind: "boolean", help: "status: make the index again from the folders" },
  job: { kind: "string", help: "in a scheduler's task: the job that it belongs to" },
  task: { kind: "integer", min: 0, max: 10_000_000, help: "in a scheduler's task: its index" },
  // Declared here, so that one that is given can be refused: it would be ignored in silence.
  seed: { kind: "integer", help: "not for a sweep: its file lists the seeds" },
  ...GPU_FLAGS,
} as const satisfies Flags;

/** The values of the command's flags. */
export type SweepFlags = FlagValues<typeof SWEEP_FLAGS>;
