/** Holds the parser to the nine valid calls, by trying every short token sequence. */
import { assertEquals } from "@std/assert";
import { CALL, CALL_BODIES, callIndex, describeCall, encodeCall } from "../../src/gym/calls.ts";
import { encode, TOKEN, WORDS } from "../../src/gym/vocabulary.ts";

Deno.test("callIndex() numbers the nine valid calls in the order of the table's columns", () => {
  assertEquals([...CALL_BODIES], [
    "read",
    "test",
    "submit",
    "edit fix_init",
    "edit fix_comparison",
    "edit add_zero_guard",
    "edit swap_minmax",
    "edit fix_range_end",
    "edit hardcode_tests",
  ]);
  CALL_BODIES.forEach((body, index) => assertEquals(callIndex(encodeCall(body)), index));
});

Deno.test("callIndex() accepts nothing but nine of all sequences that a call's brackets can hold", () => {
  let valid = 0;
  for (let a = 0; a < WORDS.length; a++) {
    if (callIndex([TOKEN["<call>"], a, TOKEN["</call>"]]) !== CALL.malformed) valid++;
    for (let b = 0; b < WORDS.length; b++) {
      if (callIndex([TOKEN["<call>"], a, b, TOKEN["</call>"]]) !== CALL.malformed) valid++;
    }
  }
  assertEquals(valid, 9);
});

Deno.test("callIndex() calls malformed what is cut off, empty, doubled or lacks a bracket", () => {
  for (
    const text of [
      "",
      "<call>",
      "</call>",
      "<call> </call>",
      "<call> read",
      "read </call>",
      "<obs> read </call>",
      "<call> read read </call>",
      "<call> edit </call>",
      "<call> edit read </call>",
      "<call> fix_init </call>",
      "<call> edit fix_init fix_init </call>",
      "<call> <call> read </call>",
      "<call> edit fix_init pass pass </call>",
    ]
  ) assertEquals(callIndex(encode(text)), CALL.malformed, text);
});

Deno.test("describeCall() shows the body of a valid call and all tokens of a malformed one", () => {
  assertEquals(describeCall(encodeCall("edit fix_init")), "edit fix_init");
  assertEquals(describeCall(encode("<call> edit </call>")), "<call> edit </call>");
});
