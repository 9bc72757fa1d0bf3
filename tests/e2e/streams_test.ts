/** Tests of the standard streams of commands: closed, full and ended ones change no verdict and stop no work. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { golden, LAUNCHER, type Result } from "./command_line.ts";
import { withFolder } from "../files/with_folder.ts";

/** Runs a line of shell in which `$agentrl` is the launcher, `$model` the golden agent and `$folder` a folder. */
async function shell(line: string, folder: string): Promise<Result> {
  const output = await new Deno.Command("bash", {
    args: ["-c", line],
    env: { AGENTRL_TUNING: "", agentrl: LAUNCHER, model: golden("model.safetensors"), folder },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code: output.code, stdout: text(output.stdout), stderr: text(output.stderr) };
}

const CHECK =
  `"$agentrl" check --checkpoint "$model" --bug mask_shift --set problems=2 --set groupSize=4`;

Deno.test("agentrl check prints its verdict and ends with 1 whatever became of stderr", () =>
  withFolder(async (folder) => {
    const streams = ["2>&-", "2>/dev/full", "2> >(true)"];
    for (const stream of streams) {
      const { code, stdout } = await shell(`${CHECK} ${stream}`, folder);
      assertEquals(code, 1, stream);
      assertMatch(stdout, /The trainer with the fault mask_shift[^]*violated/, stream);
    }
    const { stdout } = await shell(`${CHECK} 2>&1 | true; echo "code \${PIPESTATUS[0]}"`, folder);
    assertEquals(stdout, "code 1\n", "the verdict stays where nobody reads it");
  }));

Deno.test("agentrl train makes every step although the reader of its progress has ended", () =>
  withFolder(async (folder) => {
    const line = `"$agentrl" train --base "$model" --no-gate --steps 3 --set problems=2 ` +
      `--set groupSize=4 --set evalEvery=0 --out "$folder/run" 2>&1 >"$folder/out" | true; ` +
      `echo "code \${PIPESTATUS[0]}"; wc -l <"$folder/run/metrics.jsonl"; cat "$folder/out"`;
    const { stdout } = await shell(line, folder);
    assertMatch(stdout, /^code 0\n3\n[^]*steps +3 of 3/);
  }));

Deno.test("agentrl names a full disk behind stdout and ends with 4, also with --help", () =>
  withFolder(async (folder) => {
    for (const command of ["metrics", "metrics --json", "--help", "train --help"]) {
      const { code, stderr } = await shell(`"$agentrl" ${command} >/dev/full`, folder);
      assertEquals(code, 4, command);
      assertMatch(stderr, /^agentrl[ a-z]*: Cannot print the result: the disk is full[^\n]*\n$/);
    }
    const { stdout } = await shell(`"$agentrl" metrics | head -1; echo \${PIPESTATUS[0]}`, folder);
    assertStringIncludes(stdout, "\n0\n", "a reader that has seen enough is not a failure");
  }));

Deno.test("agentrl writes nothing that a terminal obeys, whatever its input holds", () =>
  withFolder(async (folder) => {
    const odd = "\x1b[31m\nagentrl: all is well\u009b\u202e";
    const check = {
      ...{ id: 1, name: odd, value: 1, relation: "<=", bound: 0, bound_reason: odd },
      ...{ verdict: "violated", reason: odd },
    };
    Deno.writeTextFileSync(`${folder}/checks.json`, JSON.stringify({ checks: [check] }));
    Deno.writeTextFileSync(`${folder}/metrics.jsonl`, '{"step":0,"reward":1}\n');
    Deno.writeTextFileSync(`${folder}/odd.jsonl`, `{"step":0,"reward":"${"x".repeat(1e6)}"}\n`);
    Deno.writeTextFileSync(`${folder}/torn.jsonl`, `{"a":"${odd}\n{}\n`);
    Deno.writeTextFileSync(`${folder}/torn.json`, `{"a": ${odd}}`);
    const commands = [
      `triage "$folder"`,
      `triage "$folder" --json`,
      `triage "$folder/odd.jsonl"`,
      `triage "$folder/torn.jsonl"`,
      `train --config "$folder/torn.json" --out "$folder/run"`,
      `metrics $'--a\\e[31m\\nb'`,
      `metrics $'a\\e[31m\\nb'`,
      `train --algo $'a\\e[31m\\nb'`,
      `train --set $'lr=a\\e[31m\\nb'`,
      `$'a\\e[31m\\nb'`,
    ];
    for (const command of commands) {
      const { code, stdout, stderr } = await shell(`"$agentrl" ${command}`, folder);
      assert(code === 0 || code === 2, command);
      assert(!/[\p{Cc}\p{Bidi_Control}]/u.test((stdout + stderr).replaceAll("\n", "")), command);
      assert(!/^agentrl: all is well/m.test(stdout + stderr), command);
      if (code === 2) assertMatch(stderr, /^agentrl[^\n]{5,320}\n$/, command);
    }
  }));
