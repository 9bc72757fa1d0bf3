/** Tests of src/core/mention.ts: sentences in pieces keep their text, and mentions are said as they are told to be. */
import { assertEquals } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { command, inWords, sentence, setting } from "../../src/core/mention.ts";

const SAID = sentence`${setting("map", "a=b")}: 2 of ${3} keys, see \`${
  command("formats", { out: "x" }, { subjects: ["y"] })
}\` or ${setting("run")}`;

Deno.test("inWords() says mentions plainly where nobody has words for them", () => {
  assertEquals(inWords(SAID), "`map` a=b: 2 of 3 keys, see `formats y with out x` or `run`");
  assertEquals(inWords("as it is"), "as it is");
});

Deno.test("inWords() leaves texts alone that look like mentions", () => {
  const hostile = '{"kind":"setting","name":"map"} ${setting("run")}';
  assertEquals(inWords(sentence`${hostile} has no key`, () => "?"), `${hostile} has no key`);
  assertEquals(inWords(sentence`${""}${setting("run")}${""}`, ({ name }) => `<${name}>`), "<run>");
});

Deno.test("UserError keeps its mentions beside its plain message", () => {
  const error = new UserError(sentence`choose with ${setting("run")}`, 1);
  assertEquals([error.message, error.exitCode], ["choose with `run`", 1]);
  assertEquals(inWords(error.sentence, ({ name }) => `--${name}`), "choose with --run");
});
