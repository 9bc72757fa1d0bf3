/** Tests of the signals that end `agentrl train`, as child processes: heard at once, saved, and with the exit code of shells. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { lastRow } from "../../src/files/journal.ts";
import { exists } from "../../src/files/paths.ts";
import { checkpointSteps, runPaths } from "../../src/run/run_directory.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { withFolder } from "../files/with_folder.ts";
import { smallSettings, writeBegunRun } from "../run/small_run.ts";
import { golden, LAUNCHER } from "./command_line.ts";
import { agentrlHere } from "./in_process.ts";

/** A training as a child, whose progress can be waited for. */
class Training {
  readonly child: Deno.ChildProcess;
  readonly #stdout: Promise<string>;
  readonly #reading: Promise<void>;
  #stderr = "";

  constructor(flags: readonly string[], launcher: readonly string[] = [LAUNCHER]) {
    const [program, ...before] = launcher;
    this.child = new Deno.Command(program, {
      args: [...before, "train", "--no-gate", ...flags],
      env: { AGENTRL_TUNING: "" },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#stdout = new Response(this.child.stdout).text();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    for await (const bytes of this.child.stderr) this.#stderr += new TextDecoder().decode(bytes);
  }

  async until(condition: () => boolean, timeMs = 60_000): Promise<number> {
    const start = performance.now();
    while (!condition()) {
      if (performance.now() - start > timeMs) throw new Error(`waited in vain: ${this.#stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return performance.now() - start;
  }

  has(text: string): boolean {
    return this.#stderr.includes(text);
  }

  async end() {
    const { code } = await this.child.status;
    await this.#reading;
    return { code, stdout: await this.#stdout, stderr: this.#stderr };
  }
}

const SETS = ["problems=2", "groupSize=4", "evalEvery=0", "checkpointEvery=0"];

/** Flags of a new run. */
const freshFlags = (path: string, steps: number) => [
  ...["--out", path, "--base", golden("model.safetensors"), "--steps", `${steps}`],
  ...SETS.flatMap((set) => ["--set", set]),
];

/** Flags of a run that has begun, without end. A process takes it up with one half of the work of a new one. */
async function begunFlags(path: string, sets: readonly string[] = []): Promise<string[]> {
  await writeBegunRun(path, smallSettings(100_000, [...SETS, ...sets]));
  return ["--out", path, "--resume"];
}

/** A step of 4096 minibatches, which takes a minute. */
const LONG_STEP = ["problems=8", "groupSize=8", "epochs=64", "minibatches=64"];

/** How many times as long as alone a process takes now: other tests share the cores. */
async function slowdown(): Promise<number> {
  const line = "TIMEFORMAT='%R %U'; time for ((i = 0; i < 60000; i++)); do :; done";
  const { stderr } = await new Deno.Command("bash", { args: ["-c", line] }).output();
  const [real, user] = new TextDecoder().decode(stderr).split(" ").map(Number);
  return Math.max(1, real / user);
}

const rowCount = (path: string) =>
  exists(runPaths(path).metrics) ? Number(lastRow(runPaths(path).metrics)?.step ?? -1) + 1 : 0;

/** Asserts that a training has ended on a signal and that what it did is saved. */
async function assertSaved(training: Training, path: string, code: number): Promise<void> {
  const { code: found, stdout } = await training.end();
  assertEquals(found, code);
  assertMatch(stdout, /, stopped\n[^]*--resume\n$/);
  assertEquals(checkpointSteps(path).at(-1), rowCount(path), "what was done is saved");
}

Deno.test("agentrl train saves every step on SIGINT and ends with 130", () =>
  withFolder(async (folder) => {
    const path = `${folder}/run`;
    const training = new Training(freshFlags(path, 100_000));
    await training.until(() => rowCount(path) >= 2);
    training.child.kill("SIGINT");
    await assertSaved(training, path, 130);
  }));

Deno.test("agentrl train saves every step on SIGHUP and ends with 129", () =>
  withFolder(async (folder) => {
    const path = `${folder}/run`;
    const training = new Training(await begunFlags(path));
    await training.until(() => rowCount(path) >= 2);
    training.child.kill("SIGHUP");
    await assertSaved(training, path, 129);
  }));

Deno.test("agentrl train under nohup goes on when its terminal hangs up, and saves every step on SIGTERM and ends with 143", () =>
  withFolder(async (folder) => {
    const path = `${folder}/run`;
    const training = new Training(await begunFlags(path), ["nohup", LAUNCHER]);
    await training.until(() => rowCount(path) >= 1);
    const before = rowCount(path);
    training.child.kill("SIGHUP");
    await training.until(() => rowCount(path) >= before + 3);
    // A scheduler sends it to every process of a job, and a parent passes it on: together they are one.
    training.child.kill("SIGTERM");
    training.child.kill("SIGTERM");
    await assertSaved(training, path, 143);
  }));

Deno.test("agentrl train hears a signal within half a second inside a long step, and a second one ends it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/run`;
    const training = new Training(await begunFlags(path, LONG_STEP));
    await training.until(() => exists(runPaths(path).metrics));
    const before = await slowdown();
    // Well within the step, behind the compilation of its kernels.
    await new Promise((resolve) => setTimeout(resolve, 1500 * Math.min(before, 4)));
    training.child.kill("SIGINT");
    const heardMs = await training.until(() => training.has("finishing this step"));
    training.child.kill("SIGTERM");
    const start = performance.now();
    const { code } = await training.end();
    const endedMs = performance.now() - start;
    const slow = Math.max(before, await slowdown());
    assert(heardMs < 500 * slow, `heard after ${heardMs} ms, ${slow} times as slow as alone`);
    assert(endedMs < 1000 * slow, `ended after ${endedMs} ms, ${slow} times as slow as alone`);
    assertEquals([code, checkpointSteps(path), rowCount(path)], [143, [0], 0]);
  }));

gpuTest(
  "agentrl train leaves a run that can be resumed, or none, on a signal before the first step",
  () =>
    withFolder(async (folder) => {
      for (const waitMs of [0, 100, 300, 1000, 2000]) {
        const path = `${folder}/after-${waitMs}`;
        const training = new Training(freshFlags(path, 1));
        if (waitMs > 1000) await training.until(() => exists(runPaths(path).config));
        else await new Promise((resolve) => setTimeout(resolve, waitMs));
        training.child.kill("SIGTERM");
        const { code } = await training.end();
        assert(code === 143 || code === 0, `${code} after ${waitMs} ms`);
        if (!exists(path)) continue;
        const resumed = await agentrlHere(["train", "--out", path, "--resume", "--no-gate"]);
        assertEquals([resumed.code, rowCount(path)], [0, 1], resumed.stderr);
      }
    }),
);
