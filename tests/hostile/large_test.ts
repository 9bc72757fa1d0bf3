/**
 * Tests of runs that are as long as runs may be, at full size, since only that shows what grows faster than the run: they take some
 * seconds. Time is a process's own on its core, so that others beside it do not count.
 */
import { assert, assertEquals } from "@std/assert";
import { withFolder } from "../files/with_folder.ts";
import { writeSettings } from "../../src/run/run_settings.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { SETTINGS, smallEpisodes } from "./small_record.ts";

/** What a command took. */
interface Cost {
  readonly code: number;
  readonly cpuSeconds: number;
  /** The most memory that it held at any moment. */
  readonly peakMiB: number;
}

/** Runs the command line in a process of its own. */
async function costOf(args: readonly string[]): Promise<Cost> {
  const main = import.meta.resolve("../../cli/main.ts");
  const code = `import { main } from ${JSON.stringify(main)};
    import { cpuUsage } from "node:process";
    const code = await main(${JSON.stringify(args)});
    const { user, system } = cpuUsage();
    const [, peak] = /VmHWM:\\s*(\\d+)/.exec(Deno.readTextFileSync("/proc/self/status"));
    console.error(JSON.stringify({ code, cpuSeconds: (user + system) / 1e6, peakMiB: peak / 1024 }));`;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", "--config", config, code],
    stdout: "null",
  }).output();
  return JSON.parse(new TextDecoder().decode(stderr).trim().split("\n").at(-1) ?? "");
}

/** Writes lines, some thousands at a time. */
function writeLines(path: string, count: number, line: (i: number) => object): void {
  using file = Deno.openSync(path, { write: true, create: true });
  const encoder = new TextEncoder();
  for (let i = 0; i < count; i += 10_000) {
    const length = Math.min(10_000, count - i);
    const text = Array.from({ length }, (_, k) => `${JSON.stringify(line(i + k))}\n`).join("");
    for (let rest = encoder.encode(text); rest.length > 0;) {
      rest = rest.subarray(file.writeSync(rest));
    }
  }
}

const rowOf = (step: number) => ({
  step,
  reward: step % 7 / 7,
  length: 20 + step % 5 / 4,
  loss_tokens: 20 + step % 5 / 4,
});

Deno.test("agentrl triage and report take a run of a million steps within 10 s and 512 MiB", () =>
  withFolder(async (path) => {
    writeSettings(runPaths(path).config, SETTINGS);
    writeLines(runPaths(path).metrics, 1_000_000, rowOf);
    for (const args of [["triage", path], ["report", path, "--out", `${path}/r.html`]]) {
      const { code, cpuSeconds, peakMiB } = await costOf(args);
      assertEquals(code, 0);
      assert(cpuSeconds < 10, `${args[0]}: ${cpuSeconds} s`);
      assert(peakMiB < 512, `${args[0]}: ${peakMiB} MiB`);
    }
  }));

Deno.test("agentrl report takes 60,000 episodes of one step within 5 s", () =>
  withFolder(async (path) => {
    const [episode] = smallEpisodes();
    const tokens = Array.from({ length: 60 }, (_, t) => t);
    const owners = tokens.map((t) => 1 + t % 3);
    const logps = tokens.map((t) => -t / 8);
    writeSettings(runPaths(path).config, SETTINGS);
    writeLines(runPaths(path).metrics, 1, rowOf);
    writeLines(runPaths(path).episodes, 60_000, (i) => ({
      ...episode,
      ...{ episode: i, group: Math.floor(i / 4), reward: i % 3, tokens, owners, logps },
    }));
    const { code, cpuSeconds } = await costOf(["report", path, "--out", `${path}/r.html`]);
    assertEquals(code, 0);
    assert(cpuSeconds < 5, `${cpuSeconds} s`);
  }));
