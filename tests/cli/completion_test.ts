/** Tests of cli/completion.ts: a shell reads the script and is asked what it would offer. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { completionScript } from "../../cli/completion.ts";
import { COMMON_FLAGS, type Flags } from "../../cli/flags.ts";
import { COMMANDS } from "../../cli/registry.ts";
import { agentrl } from "../e2e/command_line.ts";

/** What bash offers for the last of some words. */
async function offered(script: string, words: readonly string[]): Promise<string[]> {
  const program = `${script}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _agentrl; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await new Deno.Command("/bin/bash", {
    args: ["-c", program, "bash", ...words],
  }).output();
  return new TextDecoder().decode(stdout).trim().split("\n");
}

Deno.test("completionScript() offers commands, their flags, and the choices of a flag", async () => {
  const script = completionScript(
    new Map<string, Flags>([
      ["train", {
        ...COMMON_FLAGS,
        algo: { kind: "string", choices: ["grpo", "ppo"], help: "algorithm" },
        gate: { kind: "boolean", default: true, help: "gate" },
      }],
      ["triage", COMMON_FLAGS],
    ]),
    { names: ["train", "triage", "test"] },
  );
  assertEquals(await offered(script, ["agentrl", "tr"]), ["train", "triage"]);
  assertEquals(await offered(script, ["agentrl", "train", "--no"]), ["--no-gate"]);
  assertEquals(await offered(script, ["agentrl", "train", "--algo", "g"]), ["grpo"]);
  assertEquals(await offered(script, ["agentrl", "triage", "--al"]), [""]);
  // A path: the shell's own completion.
  assertEquals(await offered(script, ["agentrl", "triage", "run"]), [""]);
});

Deno.test("agentrl completion knows every command and flag", async () => {
  const { code, stdout, stderr } = await agentrl(["completion"]);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(await offered(stdout, ["agentrl", "triage", "--logg"]), ["--logging-steps"]);
  assertEquals((await agentrl(["completion", "--help"])).stdout.split("\n").length, 2);
  const refused = await agentrl(["completion", "fish"]);
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertStringIncludes(refused.stderr, 'agentrl: unexpected argument "fish"');
  for (const name of Object.keys(COMMANDS)) assertStringIncludes(stdout, `"${name}") words=`);
});
