/** Tests of reading an element that must be there. */
import { assertEquals, assertThrows } from "@std/assert";
import { at } from "../../src/core/element.ts";

Deno.test("at() reads elements of arrays of all kinds, falsy ones too", () => {
  assertEquals(at([0, 7], 0), 0);
  assertEquals(at(new Float32Array([1, NaN]), 1), NaN);
  assertEquals(at(["", "b"], 0), "");
  assertEquals(at("text", 3), "t");
});

Deno.test("at() throws where there is no element", () => {
  for (const index of [-1, 2, 0.5, NaN]) {
    assertThrows(() => at([1, 2], index), RangeError, `element ${index}: there are 2, from 0 to 1`);
  }
});
