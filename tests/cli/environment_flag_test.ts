/** The flags that name an environment: which go together, and what a command hands on. */
import { assertEquals, assertRejects } from "@std/assert";
import { ENVIRONMENT_FLAGS, openEnvironment } from "../../cli/environment_flag.ts";
import { parseFlags } from "../../cli/flags.ts";
import { mentionWords } from "../../cli/words.ts";
import { UserError } from "../../src/core/errors.ts";
import { setting } from "../../src/core/mention.ts";
import { commandLine } from "../../src/core/shell_words.ts";
import { HELLO, script } from "../sandbox/scripted_process.ts";

function open(...args: readonly string[]) {
  return openEnvironment(parseFlags(args, ENVIRONMENT_FLAGS).flags);
}

Deno.test("--env-command starts a program with its arguments, and names it again", async () => {
  const line = commandLine(script(JSON.stringify(HELLO)));
  await using given = await open("--env-command", line, "--env-processes", "1");
  assertEquals(given?.definition.name, "canned");
  assertEquals(given?.settings, { envCommand: line, envProcesses: 1 });
});

Deno.test("no flag names no environment, and flags that contradict each other are refused", async () => {
  assertEquals(await open(), undefined);
  const cases = [
    [["--env", "a.ts", "--env-command", "b"], "--env and --env-command both name an environment"],
    [
      ["--env-timeout", "3"],
      "--env-timeout is for an environment: name one with --env or --env-command",
    ],
    [["--allow-net=a.org"], "--allow-net is for the module of --env: give it, or leave"],
    [["--env-command", "b", "--allow-read=/"], "a program may do what you may, so leave it out"],
    [["--env-command", "a | b"], 'Cannot run "a | b": it is not run by a shell'],
    [["--env", "/nowhere.ts"], "Cannot use the environment /nowhere.ts: there is no such file"],
  ] as const;
  for (const [args, expected] of cases) {
    await assertRejects(() => open(...args), UserError, expected);
  }
});

Deno.test("a setting that is a command line is quoted where it is mentioned", () => {
  assertEquals(
    mentionWords(setting("envCommand", "python3 env.py")),
    "--env-command 'python3 env.py'",
  );
  assertEquals(mentionWords(setting("map", "COLUMN=step")), "--map COLUMN=step");
});
