/** Tests of cli/style.ts. */
import { assertEquals } from "@std/assert";
import { emphasized } from "../../cli/style.ts";

const EMPHASIS = [{ pattern: /^ {2}FAILS\b/gm, style: "red" }] as const;

Deno.test("emphasized() colours what matches, and nothing where colours are not wanted", () => {
  const text = "  FAILS  a\n  holds  FAILS\n  FAILS  b";
  assertEquals(
    emphasized(text, EMPHASIS, { isColoured: true }),
    "\x1b[31m  FAILS\x1b[0m  a\n  holds  FAILS\n\x1b[31m  FAILS\x1b[0m  b",
  );
  assertEquals(emphasized(text, EMPHASIS, { isColoured: false }), text);
});
