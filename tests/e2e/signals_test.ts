/** Tests of the signals that end `agentrl train`, as child processes: heard at once, saved, and with the exit code of shells. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { lastRow } from "../../src/files/journal.ts";
import { exists } from "../../src/files/paths.ts";
import { checkpointPath, checkpointSteps, runPaths } from "../../src/run/run_directory.ts";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, golden, LAUNCHER } from "./command_line.ts";

/** A training as a child, whose progress can be waited for. */
class Training {
  readonly child: Deno.ChildProcess;
  readonly #stdout: Promise<string>;
  readonly #reading: Promise<void>;
  #stderr = "";

  constructor(path: string, sets: readonly string[], launcher: readonly string[] = [LAUNCHER]) {
    const [program, ...before] = launcher;
    this.child = new Deno.Command(program, {
      args: [
        ...before,
        ...["train", "--no-gate", "--out", path],
        ...(sets.length === 0
          ? ["--resume"]
          : ["--base", golden("model.safetensors"), ...sets.flatMap((set) => ["--set", set])]),
      ],
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

const STEPS = ["problems=2", "groupSize=4", "evalEvery=0", "steps=100000", "checkpointEvery=0"];

/** Makes a step of a run that has not begun one of 4096 minibatches, which takes a minute. */
function lengthenSteps(path: string): void {
  const { config } = runPaths(path);
  const settings = JSON.parse(Deno.readTextFileSync(config));
  const long = { problems: 8, groupSize: 8, epochs: 64, minibatches: 64 };
  Object.assign(settings.config, long);
  Deno.writeTextFileSync(config, JSON.stringify(settings));
}

/** How many times as long as alone a process takes now: other tests share the cores. */
async function slowdown(): Promise<number> {
  const line = "TIMEFORMAT='%R %U'; time for ((i = 0; i < 200000; i++)); do :; done";
  const { stderr } = await new Deno.Command("bash", { args: ["-c", line] }).output();
  const [real, user] = new TextDecoder().decode(stderr).split(" ").map(Number);
  return Math.max(1, real / user);
}

const rowCount = (path: string) =>
  exists(runPaths(path).metrics) ? Number(lastRow(runPaths(path).metrics)?.step ?? -1) + 1 : 0;

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test(`agentrl train saves every step on ${signal} and ends with ${code}`, () =>
    withFolder(async (folder) => {
      const path = `${folder}/run`;
      const training = new Training(path, STEPS);
      await training.until(() => rowCount(path) >= 2);
      training.child.kill(signal);
      // A scheduler sends it to every process of a job, and a parent passes it on: together they are one.
      if (signal === "SIGTERM") training.child.kill(signal);
      const { code: found, stdout } = await training.end();
      assertEquals(found, code);
      assertMatch(stdout, /, stopped\n[^]*--resume\n$/);
      assertEquals(checkpointSteps(path).at(-1), rowCount(path), "what was done is saved");
    }));
}

Deno.test("agentrl train hears a signal within half a second inside a long step, and a second one ends it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/run`;
    const first = new Training(path, [...STEPS, "steps=1"]);
    await first.end();
    for (const file of [runPaths(path).metrics, runPaths(path).episodes, checkpointPath(path, 1)]) {
      Deno.removeSync(file);
    }
    lengthenSteps(path);
    const training = new Training(path, []);
    await training.until(() => exists(runPaths(path).metrics));
    await new Promise((resolve) => setTimeout(resolve, 3000)); // Well within the step.
    const before = await slowdown();
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

Deno.test("agentrl train leaves a run that can be resumed, or none, on a signal before the first step", () =>
  withFolder(async (folder) => {
    for (const waitMs of [0, 100, 300, 1000, 2000]) {
      const path = `${folder}/after-${waitMs}`;
      const training = new Training(path, [...STEPS, "steps=1"]);
      if (waitMs > 1000) await training.until(() => exists(runPaths(path).config));
      else await new Promise((resolve) => setTimeout(resolve, waitMs));
      training.child.kill("SIGTERM");
      const { code } = await training.end();
      assert(code === 143 || code === 0, `${code} after ${waitMs} ms`);
      if (!exists(path)) continue;
      const resumed = await agentrl(["train", "--out", path, "--resume", "--no-gate"]);
      assertEquals([resumed.code, rowCount(path)], [0, 1], resumed.stderr);
    }
  }));

Deno.test("agentrl train under nohup goes on when its terminal hangs up", () =>
  withFolder(async (folder) => {
    const path = `${folder}/run`;
    const training = new Training(path, STEPS, ["nohup", LAUNCHER]);
    await training.until(() => rowCount(path) >= 1);
    const before = rowCount(path);
    training.child.kill("SIGHUP");
    await training.until(() => rowCount(path) >= before + 3);
    training.child.kill("SIGTERM");
    assertEquals((await training.end()).code, 143);
  }));
