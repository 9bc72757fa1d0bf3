/** `deno task sweep-scale`: how long a plan of 100,000 cells takes, and a look at 10,000 finished runs. Prints the table of docs/sweeps.md. */
import { markdownTable } from "../../src/core/markdown_table.ts";
import { journalText } from "../../src/core/json_lines.ts";
import { checkpointPath, runPaths } from "../../src/run/run_directory.ts";
import { readSweep } from "../../src/sweep/sweep_folder.ts";
import { sweepPaths } from "../../src/sweep/sweep_paths.ts";
import { outcomePath } from "../../src/sweep/outcomes.ts";
import { LAUNCHER } from "../e2e/command_line.ts";

/** Peak of a process's memory so far in MiB; 0 once it has ended. */
function peakMiB(pid: number): number {
  try {
    const [, kB] = /^VmHWM:\s+(\d+) kB/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`)) ?? [];
    return Number(kB ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Seconds of processors that a process has used so far, in user and system mode; 0 once it has ended. */
function processorSeconds(pid: number): number {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    // Behind the name in parentheses; in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

interface Measured {
  readonly seconds: number;
  readonly processors: number;
  readonly memory: number;
}

/** Runs a command of the launcher, and looks at its process every 20 ms. */
async function measure(args: readonly string[]): Promise<Measured> {
  const startMs = performance.now();
  const child = new Deno.Command(LAUNCHER, { args: ["sweep", ...args], stdout: "piped" }).spawn();
  let [memory, processors] = [0, 0];
  const timer = setInterval(() => {
    memory = Math.max(memory, peakMiB(child.pid));
    processors = Math.max(processors, processorSeconds(child.pid));
  }, 20);
  const { code } = await child.output();
  clearInterval(timer);
  if (code !== 0) throw new Error(`sweep ${args.join(" ")} ended with ${code}`);
  return { seconds: (performance.now() - startMs) / 1000, processors, memory };
}

const STEPS = 24;

/** What a training of 24 steps leaves, as far as a look at a sweep reads it. */
function finishRuns(path: string): void {
  const { cells } = readSweep(path);
  const rows = journalText(
    Array.from({ length: STEPS }, (_, step) => ({ step, reward: 0.5, eval_pass: 0.5 })),
  );
  const last = { step: STEPS - 1, reward: 0.5, eval_pass: 0.5 };
  const result = { run: "", steps: STEPS, weightsHash: "0".repeat(64), last };
  const ended = { exitCode: 0, problem: null, host: "here", ended: "2026-01-01T00:00:00.000Z" };
  const outcome = { state: "done", attempts: 1, ...ended, durationMs: 1000, result };
  Deno.mkdirSync(sweepPaths(path).outcomes);
  for (const { id, folder } of cells) {
    Deno.mkdirSync(`${folder}/checkpoints`, { recursive: true });
    Deno.writeTextFileSync(runPaths(folder).config, JSON.stringify({ config: { steps: STEPS } }));
    Deno.writeTextFileSync(runPaths(folder).metrics, rows);
    Deno.writeTextFileSync(checkpointPath(folder, STEPS), "");
    Deno.writeTextFileSync(outcomePath(path, id), JSON.stringify(outcome));
  }
}

/** A sweep of `count` cells: a hundred values of two settings, and seeds. */
function sweepFile(count: number) {
  return {
    axes: {
      lr: { logRange: [1e-4, 1e-2], count: 10 },
      clipHigh: { random: [0.1, 0.4], count: 10 },
    },
    seeds: count / 100,
  };
}

const folder = Deno.makeTempDirSync({ prefix: "sweep-scale-" });
const handOver = ["--engine", "kubernetes", "--image", "image", "--claim", "claim"];
const rows: string[][] = [];
async function row(what: string, args: readonly string[]): Promise<void> {
  const { seconds, processors, memory } = await measure(args);
  rows.push([what, seconds.toFixed(1), processors.toFixed(1), memory.toFixed(0)]);
}
try {
  for (const count of [10_000, 100_000]) {
    const file = `${folder}/${count}.json`;
    Deno.writeTextFileSync(file, JSON.stringify(sweepFile(count)));
    const what = `plan and write ${count.toLocaleString("en")} cells`;
    await row(what, [file, "--out", `${folder}/${count}`, ...handOver]);
  }
  const path = `${folder}/10000`;
  finishRuns(path);
  await row("status of 10,000 finished runs, no index yet", ["status", path]);
  await row("status of 10,000 finished runs, with the index", ["status", path]);
  await row("the same, listing every cell", ["status", path, "--cells"]);
  await row("the index made again from the outcomes", ["status", path, "--rebuild"]);
  Deno.removeSync(sweepPaths(path).outcomes, { recursive: true });
  await row("the same without outcomes, from the runs alone", ["status", path, "--rebuild"]);
  const header = ["work", "seconds", "seconds of processors", "peak memory in MiB"];
  console.log(markdownTable(header, rows, { numbers: header.slice(1) }).join("\n"));
} finally {
  Deno.removeSync(folder, { recursive: true });
}
