/** Tests of src/files/atomic_file.ts. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { writeFileAtomic, writeFilePartsAtomic } from "../../src/files/atomic_file.ts";
import { asUserError } from "../../src/files/file_error.ts";
import { withFolder } from "./with_folder.ts";

function names(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder), (entry) => entry.name).sort();
}

Deno.test("writeFileAtomic() replaces the content and leaves no temporary file", () =>
  withFolder((folder) => {
    writeFileAtomic(`${folder}/a`, "first, and longer");
    writeFileAtomic(`${folder}/a`, "sécond");
    assertEquals(Deno.readTextFileSync(`${folder}/a`), "sécond");
    writeFileAtomic(`${folder}/b`, Uint8Array.of(0, 255));
    assertEquals(Deno.readFileSync(`${folder}/b`), Uint8Array.of(0, 255));
    assertEquals(names(folder), ["a", "b"]);
  }));

Deno.test("writeFilePartsAtomic() changes nothing when a part throws", () =>
  withFolder((folder) => {
    writeFileAtomic(`${folder}/a`, "old");
    const parts = function* () {
      yield Uint8Array.of(1);
      throw new RangeError("stopped here");
    };
    assertThrows(() => writeFilePartsAtomic(`${folder}/a`, parts()), RangeError, "stopped here");
    assertEquals(Deno.readTextFileSync(`${folder}/a`), "old");
    assertEquals(names(folder), ["a"]);
  }));

Deno.test("writeFileAtomic() says what stands in the way when the folder is missing", () =>
  withFolder((folder) => {
    assertThrows(() => writeFileAtomic(`${folder}/no/a`, ""), UserError, "no such file or folder");
    writeFileAtomic(`${folder}/file`, "");
    assertThrows(() => writeFileAtomic(`${folder}/file/a`, ""), UserError, "Cannot write");
    Deno.mkdirSync(`${folder}/folder`);
    assertThrows(() => writeFileAtomic(`${folder}/folder`, ""), UserError, "Cannot write");
    assertEquals(names(folder), ["file", "folder"]);
  }));

Deno.test("asUserError() keeps errors that do not come from the file system", () => {
  const refused = asUserError(new Deno.errors.PermissionDenied("os"), "Cannot write x");
  assert(
    refused instanceof UserError && refused.message.startsWith("Cannot write x: permission denied"),
  );
  const noSpace = Object.assign(new Error("No space left on device (os error 28)"), {
    code: "ENOSPC",
  });
  const full = asUserError(noSpace, "Cannot write x");
  assert(full instanceof UserError && full.message.includes("the disk is full"));
  assertEquals(full.exitCode, 4, "a full disk is not bad input");
  const odd = asUserError(new Error("Something else (os error 99)"), "Cannot write x");
  assert(odd instanceof UserError && odd.message.includes("Something else"));
  const mistake = new TypeError("x is undefined");
  assertEquals(asUserError(mistake, "Cannot write x"), mistake);
});
