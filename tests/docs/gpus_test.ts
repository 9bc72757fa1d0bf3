/** Holds docs/gpus.md to the files of docs/gpus. */
import { assertEquals } from "@std/assert";
import { adaptersPage } from "./gpus.ts";

Deno.test("docs/gpus.md has a row of every file in docs/gpus", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/gpus.md", import.meta.url));
  assertEquals(page, adaptersPage(page));
});
