/** Tests of cli/completion.ts: a shell reads the script and is asked what it would offer. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type CompletedCommand, completionScript } from "../../cli/completion.ts";
import { COMMON_FLAGS } from "../../cli/flags.ts";
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

const SAMPLE: readonly CompletedCommand[] = [
  {
    name: "train",
    summary: "what it's for",
    flags: {
      ...COMMON_FLAGS,
      algo: { kind: "string", choices: ["grpo", "ppo"], help: "algorithm" },
      gate: { kind: "boolean", default: true, help: "gate" },
    },
    choices: [],
  },
  { name: "triage", summary: "triage", flags: COMMON_FLAGS, choices: [] },
  { name: "bench", summary: "bench", flags: COMMON_FLAGS, choices: ["step", "rollout"] },
  { name: "test", summary: "tests", flags: {}, choices: [] },
  { name: "help", summary: "help", flags: {}, choices: ["train", "triage"] },
];

Deno.test("completionScript() offers commands, their flags, and the choices of a flag", async () => {
  const script = completionScript("bash", SAMPLE);
  assertEquals(await offered(script, ["agentrl", "tr"]), ["train", "triage"]);
  assertEquals(await offered(script, ["agentrl", "help", "tri"]), ["triage"]);
  assertEquals(await offered(script, ["agentrl", "train", "--no"]), ["--no-gate"]);
  assertEquals(await offered(script, ["agentrl", "train", "--algo", "g"]), ["grpo"]);
  assertEquals(await offered(script, ["agentrl", "triage", "--al"]), [""]);
  assertEquals(await offered(script, ["agentrl", "bench", "ro"]), ["rollout"]);
  assertEquals(await offered(script, ["agentrl", "bench", "--json", "ro"]), ["rollout"]);
  assertEquals(await offered(script, ["agentrl", "bench", "--seed", "ro"]), [""]);
  // As bash takes --algo=g apart, and as zsh does not.
  assertEquals(await offered(script, ["agentrl", "train", "--algo", "=", "g"]), ["grpo"]);
  assertEquals(await offered(script, ["agentrl", "train", "--algo=g"]), ["--algo=grpo"]);
  // A path: the shell's own completion.
  assertEquals(await offered(script, ["agentrl", "triage", "run"]), [""]);
});

Deno.test("agentrl completion knows every command and flag", async () => {
  const { code, stdout, stderr } = await agentrl(["completion"]);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(await offered(stdout, ["agentrl", "triage", "--logg"]), ["--logging-steps"]);
  const help = await agentrl(["completion", "--help"]);
  for (const line of ['completion bash)"', 'completion zsh)"', "completion fish | source"]) {
    assertStringIncludes(help.stdout, line);
  }
  const refused = await agentrl(["completion", "fisch"]);
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertStringIncludes(refused.stderr, 'agentrl: unknown shell "fisch": did you mean "fish"?');
  for (const name of Object.keys(COMMANDS)) assertStringIncludes(stdout, `"${name}") words=`);
});

Deno.test("completionScript() for fish has a line for each command, flag and choice, its texts quoted", () => {
  const lines = completionScript("fish", SAMPLE).split("\n");
  for (
    const line of [
      "complete -c agentrl -n '__agentrl_begins' -f -a train -d 'what it\\'s for'",
      "complete -c agentrl -n '__agentrl_is help' -f -a triage -d 'triage'",
      "complete -c agentrl -n '__agentrl_is bench' -f -a 'step rollout'",
      "complete -c agentrl -n '__agentrl_is train' -l algo -x -a 'grpo ppo' -d 'algorithm'",
      "complete -c agentrl -n '__agentrl_is train' -l no-gate -d 'gate'",
      "complete -c agentrl -n '__agentrl_is triage' -l seed -r -d 'seed of every random stream'",
    ]
  ) {
    assertEquals(lines.filter((one) => one === line).length, 1, line);
  }
});
