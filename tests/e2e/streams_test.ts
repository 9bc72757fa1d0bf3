/** Tests of the standard streams of commands: closed, full and ended ones change no verdict and stop no work. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { golden, LAUNCHER, type Result } from "./command_line.ts";
import { agentrlHere } from "./in_process.ts";
import { withFolder } from "../files/with_folder.ts";
import { smallSettings, writeBegunRun } from "../run/small_run.ts";

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

Deno.test("agentrl check prints its verdict and ends with 1 on a full stderr, and where nobody reads it", () =>
  withFolder(async (folder) => {
    const { code, stdout } = await shell(`${CHECK} 2>/dev/full`, folder);
    assertEquals(code, 1);
    assertMatch(stdout, /The trainer with the fault mask_shift[^]*violated/);
    const unread = await shell(`${CHECK} 2>&1 | true; echo "code \${PIPESTATUS[0]}"`, folder);
    assertEquals(unread.stdout, "code 1\n");
  }));

// A command that shows its progress as `check` does, in a fifth of the time.
Deno.test("agentrl lab prints its result although stderr is closed, or its reader has ended", () =>
  withFolder(async (folder) => {
    for (const stream of ["2>&-", "2> >(true)"]) {
      const line = `"$agentrl" lab estimator --quick --fresh --out "$folder/lab" ${stream}`;
      const { code, stdout } = await shell(line, folder);
      assertEquals(code, 0, stream);
      assertMatch(stdout, /cosine to the exact gradient/, stream);
    }
  }));

Deno.test("agentrl train makes every step although the reader of its progress has ended", () =>
  withFolder(async (folder) => {
    await writeBegunRun(`${folder}/run`, smallSettings(3, ["evalEvery=0"]));
    const line = `"$agentrl" train --out "$folder/run" --resume 2>&1 >"$folder/out" | true; ` +
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
    const assertTame = (what: string, { code, stdout, stderr }: Result) => {
      assert(code === 0 || code === 2, what);
      assert(!/[\p{Cc}\p{Bidi_Control}]/u.test((stdout + stderr).replaceAll("\n", "")), what);
      assert(!/^agentrl: all is well/m.test(stdout + stderr), what);
      if (code === 2) assertMatch(stderr, /^agentrl[^\n]{5,320}\n$/, what);
    };
    const commands = [
      ["triage", folder],
      ["triage", folder, "--json"],
      ["triage", `${folder}/odd.jsonl`],
      ["triage", `${folder}/torn.jsonl`],
      ["train", "--config", `${folder}/torn.json`, "--out", `${folder}/run`],
      ["metrics", "--a\x1b[31m\nb"],
      ["metrics", "a\x1b[31m\nb"],
      ["train", "--algo", "a\x1b[31m\nb"],
      ["train", "--set", "lr=a\x1b[31m\nb"],
      ["a\x1b[31m\nb"],
    ];
    for (const args of commands) assertTame(args.join(" "), await agentrlHere(args));
    // The launcher looks at arguments, too.
    for (const command of [`triage "$folder"`, `train --env=$'a\\e[31m\\nb'`, `$'a\\e[31m\\nb'`]) {
      assertTame(command, await shell(`"$agentrl" ${command}`, folder));
    }
  }));
