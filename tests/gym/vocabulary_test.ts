/** Holds the vocabulary to the order that exchanged weights and batches rely on. */
import { assertEquals, assertThrows } from "@std/assert";
import { makeTasks } from "../../src/gym/tasks.ts";
import { OWNER } from "../../src/core/owner.ts";
import { decode, encode, TOKEN, WORDS } from "../../src/gym/vocabulary.ts";
import GOLDEN from "../golden/vocabulary.json" with { type: "json" };

Deno.test("WORDS are the 60 golden words in their order", () => {
  assertEquals([...WORDS], GOLDEN);
  assertEquals(new Set(WORDS).size, 60);
  assertEquals(TOKEN["</obs>"], 5);
  assertEquals(TOKEN.evens, 59);
});

Deno.test("WORDS end with the names of the tasks in the tasks' order", () => {
  assertEquals(WORDS.slice(30), makeTasks("all").map(({ name }) => name));
});

Deno.test("decode() is the inverse of encode()", () => {
  assertEquals(encode("<call> edit fix_init </call>"), [2, 8, 10, 3]);
  assertEquals(decode(encode(WORDS.join(" "))), WORDS.join(" "));
  assertEquals(encode(""), []);
});

Deno.test("encode() refuses a word that is not in the vocabulary, also an inherited property", () => {
  assertThrows(() => encode("read write"), SyntaxError, '"write" is not one of the 60 words');
  assertThrows(() => encode("toString"), SyntaxError, "toString");
});

Deno.test("decode() refuses an id that is not a token", () => {
  assertThrows(() => decode([3, 60]), RangeError, "Cannot decode token 60");
});

Deno.test("OWNER numbers pad, prompt, policy and tool", () => {
  assertEquals({ ...OWNER }, { pad: 0, prompt: 1, policy: 2, tool: 3 });
});
