/** Tests of src/core/sentence.ts. */
import { assert, assertEquals } from "@std/assert";
import { escapeControls, escapeLines, oneSentence } from "../../src/core/sentence.ts";

Deno.test("escapeControls() spells out what a terminal would obey, and leaves letters alone", () => {
  assertEquals(
    escapeControls("a\n\r\t\x1b[31m\x7f\x9b\u2028\u202e é 語 😀"),
    "a\\n\\r\\t\\u001b[31m\\u007f\\u009b\\u2028\\u202e é 語 😀",
  );
  assertEquals(escapeLines("a\nb\x07"), "a\nb\\u0007");
});

Deno.test("escapeControls() changes no meaning of a JSON document", () => {
  const document = { a: "\x9b\u202e\u2029\n\x1b" };
  assertEquals(JSON.parse(escapeControls(JSON.stringify(document))), document);
});

Deno.test("oneSentence() keeps both ends of what is too long", () => {
  const long = oneSentence(`Cannot use a: found ${"x".repeat(1e6)}; write b`);
  assertEquals(long.length, 300);
  assert(long.startsWith("Cannot use a: found xxx") && long.endsWith("xxx; write b"), long);
  assert(oneSentence("\x1b".repeat(100)).length <= 300);
  assert(oneSentence("😀".repeat(200)).isWellFormed());
  const whole = "y".repeat(300);
  assertEquals(oneSentence(whole), whole);
});
