/**
 * `deno task slurm`: twelve cells on a real Slurm of one node, with a task that is killed, a controller that is killed and a
 * preemption, held bit for bit to the same cells without Slurm. Needs root, and Debian's slurm-wlm and munge. Prints the table of
 * docs/sweeps.md; with `--record FOLDER` it also writes what Slurm's programs print, as the suite reads it.
 */
import { parseArgs } from "@std/cli";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { markdownTable } from "../../src/core/markdown_table.ts";
import { readJournal } from "../../src/files/journal.ts";
import { exists } from "../../src/files/paths.ts";
import { checkpointPath, runPaths } from "../../src/run/run_directory.ts";
import { readSettings } from "../../src/run/run_settings.ts";
import { cellLabel } from "../../src/sweep/plan.ts";
import { listClaims } from "../../src/sweep/claims.ts";
import { readSweep, type SweepCell } from "../../src/sweep/sweep_folder.ts";
import { sweepPaths } from "../../src/sweep/sweep_paths.ts";
import { golden, LAUNCHER } from "../e2e/command_line.ts";
import { call, Cluster, until } from "./cluster.ts";

/** A few seconds a cell: enough to be killed within, and twelve of them take a minute. */
const STEPS = 150;

const FILE = {
  name: "slurm",
  command: "train",
  settings: {
    base: golden("model.safetensors"),
    gate: false,
    steps: STEPS,
    maxTurns: 3,
    evalEvery: 50,
    evalEpisodesPerTask: 1,
    checkpointEvery: 20,
  },
  axes: { lr: [0.001, 0.002] },
  seeds: 2,
  conditions: {
    grpo: { algorithm: "grpo", problems: 2, groupSize: 2, minibatches: 1 },
    rloo: { algorithm: "rloo", problems: 2, groupSize: 2, minibatches: 1 },
    reinforce: { algorithm: "reinforce", episodes: 4 },
  },
};

/** Rows after which a cell is well within its work. */
const WITHIN = 30;

function rowCount({ folder }: SweepCell): number {
  const { metrics } = runPaths(folder);
  return exists(metrics) ? readJournal(metrics).length : 0;
}

function fileHash(path: string): string {
  return createHash("sha256").update(Deno.readFileSync(path)).digest("hex");
}

/** Everything that a run computes: its rows, its episodes, and its last checkpoint with the optimizer's state. */
function bitsOf({ folder }: SweepCell): string {
  const { metrics, episodes } = runPaths(folder);
  return [metrics, episodes, checkpointPath(folder, STEPS)].map(fileHash).join(" ");
}

const startsOf = ({ folder }: SweepCell) => readSettings(runPaths(folder).config).starts.length;

/** Hears what happened, one line each. */
const say = (line: string) => Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));

/** Kills the pool that works on a cell and its processes, as the kernel does where memory ends. */
async function killTask({ id }: SweepCell, out: string): Promise<void> {
  const pid = listClaims(sweepPaths(out).claims).get(id)?.content?.pid;
  if (pid === undefined) throw new Error(`nobody works on ${id}`);
  const children = await call("ps", ["-o", "pid=", "--ppid", `${pid}`]);
  for (const one of [pid, ...children.split(/\s+/).map(Number)]) Deno.kill(one, "SIGKILL");
}

/** One sweep on Slurm, disturbed three times. */
async function sweepOnSlurm(cluster: Cluster, { file, out, record }: {
  readonly file: string;
  readonly out: string;
  readonly record: (name: string, text: string) => void;
}): Promise<string[]> {
  const events: string[] = [];
  const note = (event: string) => {
    events.push(event);
    say(event);
  };
  const agentrl = (...args: string[]) => call(LAUNCHER, ["sweep", ...args], cluster.env);
  const submit = ["--engine", "slurm", "--partition", "low", "--limit", "2", "--chunk", "2"];
  const { job } = JSON.parse(await agentrl(file, "--out", out, ...submit, "--json"));
  record("sbatch.txt", `${job.jobId}\n`);
  const { cells } = readSweep(out);
  const [first] = cells;
  const format = ["--noheader", "--array", "--format=%F|%K|%T|%r"];

  await until("the first cell", () => rowCount(first) >= WITHIN);
  record("squeue_running.txt", `${await cluster.call("squeue", format)}\n`);
  await killTask(first, out);
  note(`task 0 killed with SIGKILL after ${rowCount(first)} of ${STEPS} steps of its first cell`);

  const running = async () => (await cluster.queue()).filter((line) => line.endsWith(" RUNNING"));
  await until("two tasks again", async () => (await running()).length === 2);
  await cluster.saved();
  note(`controller killed with SIGKILL while ${(await running()).length} tasks ran`);
  cluster.killController();
  const status = await new Deno.Command(LAUNCHER, {
    args: ["sweep", "status", out],
    env: { ...cluster.env },
  }).output();
  const said = new TextDecoder().decode(status.stdout).replaceAll(/\s+/g, " ");
  if (!said.includes("queue is not known")) throw new Error(`status says ${said}`);
  record("status_no_controller.txt", said);
  await cluster.startController();
  note("controller started again, and its jobs go on");

  await until("a running cell", () => cells.some((cell) => isWithin(rowCount(cell))));
  const preemptor = ["--parsable", "--partition=high", "--ntasks=2", "--output=/dev/null"];
  const high = await cluster.call("sbatch", [...preemptor, "--wrap=sleep 2"]);
  await until(
    "the preemption",
    async () => (await cluster.queue()).every((line) => !/^\d+_\d+ RUNNING/.test(line)),
  );
  record("squeue_preempted.txt", `${await cluster.call("squeue", format)}\n`);
  await until("its end", async () => !(await cluster.queue()).some((line) => line.includes("N/A")));
  note(`running tasks preempted by job ${high} of another partition, saved and requeued`);
  // A requeued task waits two minutes, unless it is told not to.
  for (const line of await cluster.queue()) {
    const [task = ""] = line.split(" ");
    const began = await cluster.call("scontrol", ["show", "job", task]);
    if (/Restarts=[1-9]/.test(began)) {
      await cluster.call("scontrol", ["update", `JobId=${task}`, "StartTime=now"]);
    }
  }
  await until("the end", async () => (await cluster.queue()).length === 0, 600_000);
  record("squeue_empty.txt", await cluster.call("squeue", format));

  const { job: again, cells: left } = JSON.parse(
    await agentrl(file, "--out", out, ...submit, "--json"),
  );
  note(`the same command again: job ${again.jobId} with the ${left} cells that were left`);
  await until("the end", async () => (await cluster.queue()).length === 0, 600_000);
  return events;
}

/** Neither at its beginning nor near its end. */
const isWithin = (rows: number) => rows >= WITHIN && rows < STEPS - 2 * WITHIN;

const { record: recordFolder, keep } = parseArgs(Deno.args, {
  string: ["record"],
  boolean: ["keep"],
});
const folder = Deno.makeTempDirSync({ prefix: "sweep-" });
const file = `${folder}/cells.json`;
Deno.writeTextFileSync(file, JSON.stringify(FILE));
say("without Slurm");
const [local, onSlurm] = [`${folder}/local`, `${folder}/slurm`];
await call(LAUNCHER, ["sweep", file, "--out", local, "--jobs", "2"]);
say("on Slurm");
const events = await (async () => {
  await using cluster = await Cluster.start();
  const version = await cluster.call("sinfo", ["--version"]);
  const seen = await sweepOnSlurm(cluster, {
    file,
    out: onSlurm,
    record: (name, text) => {
      if (recordFolder) Deno.writeTextFileSync(`${recordFolder}/${name}`, text);
    },
  });
  return [`${version}, one node with two processors`, ...seen];
})();
const others = readSweep(local).cells;
const rows = readSweep(onSlurm).cells.map((cell, i) => {
  const other = others[i];
  const isEqual = cell.id === other.id && bitsOf(cell) === bitsOf(other);
  return [
    cellLabel(cell),
    `${startsOf(other)}`,
    `${startsOf(cell)}`,
    `${fileHash(checkpointPath(cell.folder, STEPS)).slice(0, 16)}`,
    isEqual ? "equal" : "DIFFER",
  ];
});
const header = ["cell", "starts, local", "starts, Slurm", "last checkpoint", "bits"];
const differing = rows.filter(([, , , , verdict]) => verdict !== "equal").length;
console.log([
  ...events.map((event) => `- ${event}`),
  "",
  ...markdownTable(header, rows),
  "",
  `${
    rows.length - differing
  } of ${rows.length} cells have the bits of the engine local: rows, episodes, and the last ` +
  "checkpoint with the optimizer's state.",
].join("\n"));
if (keep) say(`kept in ${fileURLToPath(new URL(`file://${folder}`))}`);
else Deno.removeSync(folder, { recursive: true });
Deno.exit(differing === 0 ? 0 : 1);
