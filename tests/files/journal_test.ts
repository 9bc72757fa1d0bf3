/** Tests of src/files/journal.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { cutJournal, Journal, journalRows, readJournal } from "../../src/files/journal.ts";
import { withFolder } from "./with_folder.ts";

const HOSTILE = 'line\nfeed \r\u2028\u0000 "quote" \\ </script> \ud800 {"step": 9}';

Deno.test("Journal appends rows that readJournal() returns when texts are hostile", () =>
  withFolder((folder) => {
    const path = `${folder}/a.jsonl`;
    const rows = [{ step: 0, text: HOSTILE, __proto: 1 }, { step: 1, text: "", list: [1, null] }];
    {
      using journal = new Journal(path);
      for (const row of rows) journal.append(row);
      journal.sync();
      assertEquals(readJournal(path), rows); // Readable while it is open.
    }
    assertEquals(Deno.readTextFileSync(path).split("\n").length, rows.length + 1);
  }));

Deno.test("readJournal() leaves out the last line at every length to which it was cut", () =>
  withFolder((folder) => {
    const path = `${folder}/a.jsonl`;
    const first = '{"step":0}\n';
    const last = new TextEncoder().encode('{"step":1,"text":"é"}\n');
    for (let length = 0; length < last.length - 1; length++) {
      const cut = [...new TextEncoder().encode(first), ...last.subarray(0, length)];
      Deno.writeFileSync(path, Uint8Array.from(cut));
      assertEquals(readJournal(path), [{ step: 0 }]);
      {
        using journal = new Journal(path);
        journal.append({ step: 1 });
      }
      assertEquals(readJournal(path), [{ step: 0 }, { step: 1 }]);
    }
  }));

Deno.test("readJournal() keeps a whole last row when only its line feed is missing", () =>
  withFolder((folder) => {
    const path = `${folder}/a.jsonl`;
    Deno.writeTextFileSync(path, '{"step":0}\n{"step":1}');
    assertEquals(readJournal(path), [{ step: 0 }, { step: 1 }]);
    {
      using journal = new Journal(path);
      journal.append({ step: 2 });
    }
    assertEquals(readJournal(path), [{ step: 0 }, { step: 1 }, { step: 2 }]);
  }));

Deno.test("readJournal() refuses a broken line in the middle with its number", () =>
  withFolder((folder) => {
    const path = `${folder}/a.jsonl`;
    for (const line of ['{"step":', "7", "null", "[]", "", "\ufffe{}"]) {
      Deno.writeTextFileSync(path, `{"step":0}\n${line}\n{"step":1}\n`);
      assertThrows(() => readJournal(path), UserError, "line 2 is not a row");
    }
    Deno.writeFileSync(path, Uint8Array.of(0x22, 0xff, 0x22, 10));
    assertThrows(() => readJournal(path), UserError, "line 1 is not a row");
    assertThrows(() => readJournal(`${folder}/no`), UserError, "no such file");
  }));

Deno.test("cutJournal() keeps the bytes of earlier rows and drops the rest", () =>
  withFolder((folder) => {
    const path = `${folder}/a.jsonl`;
    cutJournal(path, 0); // No file yet: nothing to drop.
    const kept = '{"step":0, "x":1.50}\n{"step":1}\n';
    Deno.writeTextFileSync(path, `${kept}{"step":2}\n{"step":3}\n{"st`);
    const [, , third] = journalRows(path);
    assertEquals(third?.begin, kept.length);
    cutJournal(path, third?.begin ?? 0);
    assertEquals(Deno.readTextFileSync(path), kept);
    cutJournal(path, Infinity);
    assertEquals(Deno.readTextFileSync(path), kept);
    cutJournal(path, 0);
    assertEquals(Deno.readTextFileSync(path), "");
  }));

Deno.test("journalRows() gives the same rows and places at every boundary of its pieces", () =>
  withFolder((folder) => {
    const path = `${folder}/a.jsonl`;
    // Lines around the size of a piece, 2¹⁸ bytes, and one of several pieces.
    for (const length of [2 ** 18 - 9, 2 ** 18 - 8, 2 ** 18, 2 ** 19 + 1, 2 ** 20]) {
      const rows = [{ a: "x".repeat(length) }, { b: 1 }, { a: "y".repeat(length) }, { c: 2 }];
      const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
      Deno.writeTextFileSync(path, lines.join(""));
      let begin = 0;
      const expected = rows.map((row, i) => ({ row, begin, end: begin += lines[i].length }));
      assertEquals([...journalRows(path)], expected);
    }
  }));

Deno.test("readJournal() refuses what is not a journal before it reads it", () =>
  withFolder((folder) => {
    const sparse = `${folder}/sparse.jsonl`;
    Deno.writeTextFileSync(sparse, "");
    Deno.truncateSync(sparse, 4e9);
    assertThrows(() => readJournal(sparse), UserError, "it holds 4.0 GB; at most 2.1 GB are read");
    Deno.truncateSync(sparse, 1e9);
    assertThrows(() => readJournal(sparse), UserError, "a line holds more than 16.8 MB");
    assertThrows(() => readJournal(folder), UserError, "it is a folder, but must be a regular");
  }));
