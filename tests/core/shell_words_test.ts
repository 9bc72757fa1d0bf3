/** Tests of src/core/shell_words.ts: a shell gives the words back. */
import { assert, assertEquals } from "@std/assert";
import { commandLine } from "../../src/core/shell_words.ts";

Deno.test("commandLine() leaves plain words as they are", () => {
  const words = ["cli/agentrl", "replay", "runs/a-1", "--step", "0", "--set", "lr=0.001"];
  assertEquals(commandLine(words), words.join(" "));
  assertEquals(commandLine(["runs/my STEPS RUN", "", "it's"]), `'runs/my STEPS RUN' '' 'it'\\''s'`);
});

Deno.test("commandLine() is what bash takes apart into the same words", async () => {
  const words = [
    "a b",
    "",
    "it's",
    '"',
    "$HOME",
    "`id`",
    "\\",
    "*",
    "~",
    "#",
    "!x",
    "é ü",
    "a\nb'\t\x1b\\",
  ];
  const line = commandLine(["printf", "%s\\0", ...words]);
  assert(!line.includes("\n") && !line.includes("\x1b"), "one line that moves no cursor");
  const { stdout } = await new Deno.Command("bash", { args: ["-c", line] }).output();
  assertEquals(new TextDecoder().decode(stdout).split("\0").slice(0, -1), words);
});
