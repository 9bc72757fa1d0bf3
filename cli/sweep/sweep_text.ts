/** A sweep in words: how it ended, how it stands, what to type next. */
import { lastRow } from "../../src/files/journal.ts";
import { UserError } from "../../src/core/errors.ts";
import { wrapText } from "../../src/core/wrap_text.ts";
import { escapeControls } from "../../src/core/sentence.ts";
import { formatDuration } from "../../src/files/progress.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { exists } from "../../src/files/paths.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { cellLabel } from "../../src/sweep/plan.ts";
import type { JobRecord } from "../../src/sweep/job_record.ts";
import type { Sweep, SweepCell } from "../../src/sweep/sweep_folder.ts";
import { sweepPaths } from "../../src/sweep/sweep_paths.ts";
import type { CellStatus, SweepStatus } from "../../src/sweep/sweep_status.ts";
import { formatTable } from "../flags.ts";
import { formatRate } from "../stats_table.ts";
import { formatColumns } from "../table.ts";
import { agentrlCommand } from "../words.ts";
import type { QueuedTask } from "./slurm.ts";

/** More are for `--json` and the logs. */
const MOST_SHOWN = 10;

/** A path that begins with a dash would be read as a flag. */
const path = (text: string) => text.startsWith("-") ? `./${text}` : text;

/** `1 cell`, `12 cells`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The line that names a sweep. */
export function sweepLine({ path, command, cells, file }: Sweep): string {
  return `${path}: ${command}, ${counted(cells.length, "cell")} of ${file}`;
}

/** Takes a sweep up again, or looks at it. */
export function sweepCommand({ path: folder }: Sweep, what?: "status" | "cancel"): string {
  return agentrlCommand("sweep", [...(what === undefined ? [] : [what]), path(folder)]);
}

/** What its runs say of its conditions and settings. */
export function compareCommand({ path: folder }: Sweep): string {
  return agentrlCommand("compare", [path(folder)]);
}

/** Where the log of a cell lies. */
export function logOf({ path }: Sweep, { id }: Pick<SweepCell, "id">): string {
  return `${sweepPaths(path).logs}/${id}.log`;
}

function wrapped(text: string, indent: number): string[] {
  const options = { columns: terminalColumns(), indent, hanging: indent + 2 };
  return wrapText(escapeControls(text), options);
}

/** Cells that failed, each with its reason and its log. */
export function failedLines(
  sweep: Sweep,
  failed: readonly { readonly cell: SweepCell; readonly problem: string }[],
): string[] {
  if (failed.length === 0) return [];
  const more = failed.length - MOST_SHOWN;
  return [
    "",
    "Failed:",
    ...failed.slice(0, MOST_SHOWN).flatMap(({ cell, problem }) => [
      ...wrapped(`${cellLabel(cell)}: ${problem.replace(/^agentrl \w+: /, "")}`, 2),
      // A path stands on a line of its own, however long.
      `    ${logOf(sweep, cell)}`,
    ]),
    ...(more > 0 ? [`  and ${more} more, in ${sweepPaths(sweep.path).logs}`] : []),
  ];
}

/** Commands to type next, each on a line of its own. */
export function nextLines(commands: readonly string[]): string[] {
  return ["", "Next:", ...commands.map((line) => `  ${line}`)];
}

/** The step that a training has reached; undefined: it has made none, or is no training. */
function stepOf({ command, folder }: SweepCell): number | undefined {
  const { metrics } = runPaths(folder);
  if (command !== "train" || !exists(metrics)) return undefined;
  try {
    const step = lastRow(metrics)?.step;
    return typeof step === "number" ? step : undefined;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function runningLines(running: readonly CellStatus[], nowMs: number): string[] {
  if (running.length === 0) return [];
  const rows = running.slice(0, MOST_SHOWN).map(({ cell, claim }) => {
    const { host = "?", pid = 0, job = null } = claim?.content ?? {};
    const heardMs = Math.max(0, nowMs - (claim?.beatMs ?? nowMs));
    return [
      cellLabel(cell),
      job ?? `${host}, pid ${pid}`,
      `${formatDuration(heardMs)} ago`,
      String(stepOf(cell) ?? "-"),
    ];
  });
  const more = running.length - MOST_SHOWN;
  return [
    "",
    ...formatColumns(["running", "where", " heard", " step"], rows),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

/** What the queue says of each job: `2 RUNNING, 9 PENDING (Resources)`. */
function queueLines(jobs: readonly JobRecord[], queue: readonly QueuedTask[] | string): string[] {
  const slurm = jobs.filter(({ engine, jobId }) => engine === "slurm" && jobId !== null);
  if (slurm.length === 0) return [];
  if (typeof queue === "string") {
    return ["", ...wrapped(`Slurm's queue is not known: ${queue}. The folders say the rest.`, 0)];
  }
  return [
    "",
    ...formatTable(slurm.map(({ jobId, name }) => {
      const tasks = queue.filter((task) => task.jobId === jobId);
      const counts = Map.groupBy(
        tasks,
        ({ state, reason }) => state === "PENDING" ? `${state} (${reason})` : state,
      );
      const words = Array.from(counts, ([words, own]) => `${own.length} ${words}`).join(", ");
      return [`job ${jobId}`, `${name}: ${words || "no task in the queue"}`] as const;
    })),
  ];
}

/** Every cell and how it stands. */
function cellLines(cells: readonly CellStatus[]): string[] {
  const rate = (value: number | null | undefined) => value == null ? "-" : formatRate(value);
  const rows = cells.map(({ cell, state, known }) => [
    cell.id,
    cellLabel(cell),
    state,
    rate(known?.reward),
    rate(known?.evalPass),
  ]);
  return ["", ...formatColumns(["run", "cell", "state", " reward", " held-out"], rows)];
}

/** What is left is begun by the engine that had it; while somebody works at it there is nothing to do but to look again. */
function nextOf({ isOver, isQueued, sweep, jobs }: {
  readonly isOver: boolean;
  readonly isQueued: boolean;
  readonly sweep: Sweep;
  readonly jobs: readonly JobRecord[];
}): string[] {
  if (isOver) return sweep.command === "train" ? nextLines([compareCommand(sweep)]) : [];
  if (isQueued) return nextLines([sweepCommand(sweep, "status"), sweepCommand(sweep, "cancel")]);
  const isSlurm = jobs.at(-1)?.engine === "slurm";
  return nextLines([`${sweepCommand(sweep)}${isSlurm ? " --engine slurm" : ""}`]);
}

/** What `status` prints. */
export function statusText(sweep: Sweep, options: {
  readonly status: SweepStatus;
  readonly jobs: readonly JobRecord[];
  /** What Slurm's queue holds, or why that is not known. */
  readonly queue: readonly QueuedTask[] | string;
  /** True: every cell is listed. */
  readonly isFull: boolean;
  readonly nowMs: number;
}): string {
  const { status: { cells, counts }, jobs, queue, isFull, nowMs } = options;
  const failed = cells.filter(({ state }) => state === "failed")
    .map(({ cell, known }) => ({ cell, problem: known?.problem ?? "" }));
  const isOver = counts.running === 0 && counts.left === 0;
  const isQueued = counts.running > 0 || (typeof queue !== "string" && queue.length > 0);
  const names = Object.entries(counts).map(([state, count]) => [state, String(count)] as const);
  return [
    ...formatTable([["sweep", sweepLine(sweep)], ...names]),
    ...(isFull ? cellLines(cells) : []),
    ...runningLines(cells.filter(({ state }) => state === "running"), nowMs),
    ...failedLines(sweep, failed),
    ...queueLines(jobs, queue),
    ...nextOf({ isOver: isOver && failed.length === 0, isQueued, sweep, jobs }),
  ].join("\n");
}
