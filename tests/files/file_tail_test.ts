/** Tests of the end of a growing file. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { lastRows, readTail } from "../../src/files/file_tail.ts";
import { withFolder } from "./with_folder.ts";

Deno.test("readTail() gives whole lines and what follows the last line feed", () =>
  withFolder((folder) => {
    const path = `${folder}/a.jsonl`;
    const tail = (text: string, maxBytes: number) => {
      Deno.writeTextFileSync(path, text);
      return readTail(path, { maxBytes });
    };
    assertEquals(tail("", 10), { lines: [], rest: "" });
    assertEquals(tail("ab", 10), { lines: [], rest: "ab" });
    assertEquals(tail("ab\n", 10), { lines: ["ab"], rest: "" });
    assertEquals(tail("ab\ncd\nef", 10), { lines: ["ab", "cd"], rest: "ef" });
    // A line whose beginning is not among the bytes is no line.
    assertEquals(tail("abcd\nef\ngh", 7), { lines: ["ef"], rest: "gh" });
    assertEquals(tail("abcdefgh", 3), { lines: [], rest: "fgh" });
    assertThrows(() => readTail(`${folder}/none`, { maxBytes: 1 }), UserError, "none");
  }));

Deno.test("lastRows() leaves out what is not a JSON object", () =>
  withFolder((folder) => {
    const path = `${folder}/a.jsonl`;
    Deno.writeTextFileSync(path, '{"step":1}\nnonsense\n[2]\n{"step":3}\n{"step":');
    assertEquals(lastRows(path, { maxBytes: 1000 }), [{ step: 1 }, { step: 3 }]);
  }));
