/** Tests of `agentrl sweep` as a child process: one real cell, stopped, killed and finished; then what a user gets wrong. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { command } from "../../cli/commands/sweep.ts";
import { COMMON_FLAGS, parseFlags } from "../../cli/flags.ts";
import { rulesOf } from "../../cli/sweep/cell_commands.ts";
import { UserError } from "../../src/core/errors.ts";
import { readJournal } from "../../src/files/journal.ts";
import { exists } from "../../src/files/paths.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { readSettings } from "../../src/run/run_settings.ts";
import { cellsOfTask, readJob } from "../../src/sweep/job_record.ts";
import { planSweep } from "../../src/sweep/plan.ts";
import { readSweepFile } from "../../src/sweep/sweep_file.ts";
import { readSweep } from "../../src/sweep/sweep_folder.ts";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused, golden, LAUNCHER, namesIn } from "./command_line.ts";

const STEPS = 40;
const CONFIG = { problems: 2, groupSize: 2, minibatches: 1, maxTurns: 3, evalEvery: 0 };
const SETTINGS = { ...CONFIG, steps: STEPS, base: golden("model.safetensors"), gate: false };

const rowCount = (run: string) =>
  exists(runPaths(run).metrics) ? readJournal(runPaths(run).metrics).length : 0;

/** Starts a sweep and sends it a signal when its cell has `rows` rows. */
async function interrupt(args: readonly string[], options: {
  readonly run: string;
  readonly rows: number;
  readonly signal: "SIGINT" | "SIGKILL";
}): Promise<Deno.CommandOutput> {
  const child = new Deno.Command(LAUNCHER, {
    args: ["sweep", ...args],
    env: { AGENTRL_TUNING: "", AGENTRL_AGENTS: "" },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = child.output();
  for (const deadline = Date.now() + 60_000; rowCount(options.run) < options.rows;) {
    assert(Date.now() < deadline, "the cell has not begun");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  child.kill(options.signal);
  return await output;
}

Deno.test("agentrl sweep saves its cells on Ctrl-C, goes on after kill -9, and ends with the bits of one run", () =>
  withFolder(async (folder) => {
    const [file, out] = [`${folder}/one.json`, `${folder}/sweep`];
    Deno.writeTextFileSync(file, JSON.stringify({ settings: SETTINGS, seeds: [3] }));
    const sets = Object.entries(CONFIG).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    const alone = `${folder}/alone`;
    const base = ["--base", SETTINGS.base, "--no-gate", "--seed", "3", "--steps", `${STEPS}`];
    assertEquals((await agentrl(["train", "--out", alone, ...base, ...sets])).code, 0);

    // The name of the run is known before it begins: its settings decide it.
    const plan = planSweep(await readSweepFile(file), await rulesOf("train"));
    const [{ id }] = plan.cells;
    const run = `${out}/runs/${id}`;

    const stopped = await interrupt([file, "--out", out], { run, rows: 3, signal: "SIGINT" });
    const text = new TextDecoder().decode(stopped.stdout);
    assertEquals(stopped.code, 130);
    assertMatch(text, /left +1, stopped and saved\n\nNext:\n {2}\S+ sweep \S+\/sweep\n$/);
    assertEquals([namesIn(`${out}/claims`), namesIn(`${out}/outcomes`)], [[], []]);

    await interrupt([out], { run, rows: rowCount(run) + 3, signal: "SIGKILL" });
    assertEquals(namesIn(`${out}/claims`).length, 1);
    const ended = await agentrl(["sweep", file, "--out", out, "--json"]);
    const { done, failed, left } = JSON.parse(ended.stdout);
    assertEquals([ended.code, done, failed, left], [0, 1, [], 0], ended.stderr);
    assertEquals(
      Deno.readTextFileSync(runPaths(run).metrics),
      Deno.readTextFileSync(runPaths(alone).metrics),
    );
    assert(readSettings(runPaths(run).config).starts.length >= 3);
    const status = await agentrl(["sweep", "status", out, "--cells"]);
    assertMatch(status.stdout, /done +1\n[^]*seed 3 +done/);
  }));

/** The command in this process. */
async function sweep(...args: readonly string[]) {
  const { flags, positionals } = parseFlags(args, { ...COMMON_FLAGS, ...command.flags });
  return await command.run(flags, positionals);
}

Deno.test("agentrl sweep refuses what it cannot do with one sentence, and leaves nothing behind", () =>
  withFolder(async (folder) => {
    const file = `${folder}/s.yaml`;
    Deno.writeTextFileSync(file, "axes: { lr: [0.1, 20] }\n");
    const out = `${folder}/out`;
    const refused = async (args: readonly string[], sentence: string) => {
      await assertRejects(() => sweep(...args), UserError, sentence);
      assertEquals(exists(out), false);
    };
    const sentence = /cell lr=20, seed 0: lr is 20 but must be at most 10/;
    assertRefused(await agentrl(["sweep", file, "--out", out]), { code: 2, sentence });
    await refused(["status", file, "--out", out], "no sweep has begun there; begin it with");
    await refused([folder], "holds no sweep (sweep.json is missing)");
    Deno.writeTextFileSync(file, "seeds: 2\n");
    await refused([file, "--out", folder], "it holds s.yaml and no sweep; choose another --out");
    await refused([file, "--out", out, "--gres", "gpu:1"], "--gres is for --engine slurm");
    await refused([file, "--seed", "3"], "its file lists them under seeds");
    await refused([file, file], "unexpected argument");
    await refused(["cancel"], "FILE is missing");
    await refused([file, "--out", out, "--engine", "kubernetes"], "needs --image");
    await refused([file, "--out", out, "--job", "slurm-1"], "--job and --task belong together");
    assertEquals((await sweep(file, "--out", out, "--dry-run")).text.includes("2 cells of"), true);
    assertEquals(exists(out), false);
  }));

Deno.test("agentrl sweep hands its cells to Kubernetes, takes more cells in, and no other sweep", () =>
  withFolder(async (folder) => {
    const [file, out] = [`${folder}/s.yaml`, `${folder}/out`];
    const submit = ["--engine", "kubernetes", "--image", "i", "--claim", "c", "--chunk", "2"];
    const jobs = () => namesIn(`${out}/jobs`);
    Deno.writeTextFileSync(file, "seeds: 3\n");
    const { text } = await sweep(file, "--out", out, ...submit);
    assertMatch(text, /kubernetes-1\.yaml: 3 cells in 2 pods[^]*kubectl apply -f/);
    Deno.writeTextFileSync(file, "seeds: 5\n");
    await sweep(file, "--out", out, ...submit);
    assertEquals(jobs(), [1, 2].flatMap((n) => [`kubernetes-${n}.json`, `kubernetes-${n}.yaml`]));
    const plan = readSweep(out);
    assertEquals(plan.cells.length, 5);
    assertEquals(cellsOfTask(plan, readJob(out, "kubernetes-2"), 2).map(({ seed }) => seed), [4]);
    assertThrows(
      () => cellsOfTask(plan, readJob(out, "kubernetes-2"), 3),
      UserError,
      "has no task 3",
    );
    const { text: status, exitCode } = await sweep("status", out);
    assertMatch(status, /done +0\n +failed +0\n +running +0\n +left +5\n/);
    assertEquals(exitCode, 0);
    // A file of another name may share the default folder; its sweep is not to be cancelled by mistake.
    const other = `${folder}/s.json`;
    Deno.writeTextFileSync(other, '{"seeds": [9]}');
    for (const action of ["status", "cancel"]) {
      await assertRejects(
        () => sweep(action, other, "--out", out),
        UserError,
        "holds the sweep of " + file,
      );
    }
    Deno.writeTextFileSync(file, "seeds: [9]\n");
    await assertRejects(
      () => sweep(file, "--out", out, ...submit),
      UserError,
      "it holds another sweep",
    );
    // What Kubernetes would refuse leaves no record behind.
    await assertRejects(
      () => sweep(out, ...submit.slice(0, -2), "--cpu", "two"),
      UserError,
      "--cpu must",
    );
    assertEquals(jobs().length, 4);
  }));
