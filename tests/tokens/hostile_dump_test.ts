/** Dumps made to hurt: long rows and deep rows. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { readDump } from "./read_dump.ts";

Deno.test("a row of a million tokens is read", async () => {
  const count = 1_000_000;
  const list = (item: string) => `[${`${item},`.repeat(count).slice(0, -1)}]`;
  const { sequences: [{ ids, mask }] } = await readDump(
    `{"v":1,"ids":${list("7")},"mask":${list("1")}}\n`,
  );
  assertEquals([ids.length, mask?.length, ids.at(-1), mask?.at(-1)], [count, count, 7, 1]);
});

Deno.test("a row nested a hundred thousand deep is refused in one sentence", async () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  for (const row of [`{"v":1,"ids":${deep}}`, `{"v":1,"ids":[1],"mask":${deep}}`]) {
    await assertRejects(() => readDump(`${row}\n`), UserError, "but must");
  }
  await assertRejects(() => readDump(`{"v":1,"ids":[1]}\n${deep}\n`), UserError, "not an object");
});
