/** Tests of src/core/wrap_text.ts. */
import { assertEquals } from "@std/assert";
import { wrapText } from "../../src/core/wrap_text.ts";

Deno.test("wrapText() fills lines to the last column and indents them", () => {
  assertEquals(wrapText("ab cd ef", { columns: 5 }), ["ab cd", "ef"]);
  assertEquals(wrapText("ab cd ef", { columns: 4 }), ["ab", "cd", "ef"]);
  assertEquals(wrapText("ab cd ef", { columns: 6, indent: 1, hanging: 3 }), [" ab cd", "   ef"]);
  assertEquals(wrapText("", { columns: 10, indent: 2 }), ["  "]);
});

Deno.test("wrapText() gives a word that is too wide a line of its own", () => {
  assertEquals(wrapText("a abcdefgh b", { columns: 4, indent: 1 }), [" a", " abcdefgh", " b"]);
});

Deno.test("wrapText() leaves no short last word alone, where the line before has words to give", () => {
  assertEquals(wrapText("all seeds from 0 to 2", { columns: 19 }), ["all seeds from 0", "to 2"]);
  assertEquals(wrapText("all seeds from 0 to nowhere", { columns: 19 }), [
    "all seeds from 0 to",
    "nowhere",
  ]);
  assertEquals(wrapText("abcdefgh 2", { columns: 9, hanging: 2 }), ["abcdefgh", "  2"]);
});
