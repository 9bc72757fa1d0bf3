/** Tests of src/core/shell_words.ts: a shell gives the words back. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { commandLine, splitWords } from "../../src/core/shell_words.ts";

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

Deno.test("splitWords() takes a line apart as bash does where it only quotes", async () => {
  const lines = [
    "python3 env.py",
    "  python3\t'my env.py'  --size=3 ",
    `a'b c'"d e"f`,
    `'' "" x`,
    `"it's" 'a"b' a\\ b \\\\ "\\"\\\\\\$\\x"`,
    `'$HOME *' "a|b" a=b {1} é#~ x\\*`,
  ];
  for (const line of lines) {
    const { stdout } = await new Deno.Command("bash", { args: ["-c", `printf '%s\\0' ${line}`] })
      .output();
    assertEquals(splitWords(line), new TextDecoder().decode(stdout).split("\0").slice(0, -1), line);
  }
  const words = ["a b", "", "it's", '"', "$HOME", "`id`", "\\", "*", "~", "#", "!x", "é ü"];
  assertEquals(splitWords(commandLine(words)), words);
});

Deno.test("splitWords() refuses what only a shell understands, open quotes and nothing at all", () => {
  const cases = [
    ["a | b", '"|" is a shell\'s; put it in single quotes'],
    ["$HOME/env", '"$" is a shell\'s'],
    ['"$HOME"', '"$" is a shell\'s'],
    ["~/env.sh", '"~" is a shell\'s'],
    ["python3 *.py", '"*" is a shell\'s'],
    ["a 'b", "the quote ' is not closed"],
    ["a\\", "nothing follows its last backslash"],
    ["  ", "it names no program"],
  ];
  for (const [line = "", expected = ""] of cases) {
    assertThrows(() => splitWords(line), UserError, expected);
  }
});
