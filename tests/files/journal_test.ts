/** Tests of src/files/journal.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { dropRowsFrom, Journal, readJournal } from "../../src/files/journal.ts";
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
      assertThrows(() => readJournal(path), UserError, "line 2 is no row");
    }
    Deno.writeFileSync(path, Uint8Array.of(0x22, 0xff, 0x22, 10));
    assertThrows(() => readJournal(path), UserError, "line 1 is no row");
    assertThrows(() => readJournal(`${folder}/no`), UserError, "no such file");
  }));

Deno.test("dropRowsFrom() keeps the bytes of earlier rows and drops the rest", () =>
  withFolder((folder) => {
    const path = `${folder}/a.jsonl`;
    dropRowsFrom(path, 0); // No file yet: nothing to drop.
    const kept = '{"step":0, "x":1.50}\n{"step":1}\n';
    Deno.writeTextFileSync(path, `${kept}{"step":2}\n{"step":3}\n{"st`);
    dropRowsFrom(path, 2);
    assertEquals(Deno.readTextFileSync(path), kept);
    dropRowsFrom(path, 0);
    assertEquals(Deno.readTextFileSync(path), "");
    Deno.writeTextFileSync(path, '{"stop":2}\n');
    assertThrows(() => dropRowsFrom(path, 2), UserError, 'no integer "step"');
    assertEquals(Deno.readTextFileSync(path), '{"stop":2}\n');
    assertEquals(Array.from(Deno.readDirSync(folder)).length, 1);
  }));
