/** Tests of src/logs/text_lines.ts. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import type { TextLine } from "../../src/logs/reader.ts";
import { isBinary, linesOf, textOf } from "../../src/logs/text_lines.ts";

async function linesIn(pieces: readonly Uint8Array[]): Promise<TextLine[]> {
  const stream = ReadableStream.from(pieces);
  return (await Array.fromAsync(linesOf(stream, { name: "log" }))).flat();
}

Deno.test("linesOf() splits at \\n, \\r and \\r\\n, whatever the pieces are", async () => {
  const bytes = new TextEncoder().encode("a\r\nä\rb\n\nc\r\r\nlast");
  const expected: TextLine[] = [
    { text: "a", number: 1 },
    { text: "ä", number: 2 },
    { text: "b", number: 2 },
    { text: "", number: 3 },
    { text: "c", number: 4 },
    { text: "", number: 4 },
    { text: "last", number: 5, isUnended: true },
  ];
  for (let length = 1; length <= bytes.length; length++) {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.slice(at, at + length));
    assertEquals(await linesIn(pieces), expected, `pieces of ${length}`);
  }
});

Deno.test("linesOf() marks only a last line without an end as unended", async () => {
  const text = (value: string) => [new TextEncoder().encode(value)];
  assertEquals(await linesIn([]), []);
  assertEquals(await linesIn(text("a\n")), [{ text: "a", number: 1 }]);
  assertEquals(await linesIn(text("a\r")), [{ text: "a", number: 1 }]);
  assertEquals(await linesIn(text("a")), [{ text: "a", number: 1, isUnended: true }]);
});

Deno.test("linesOf() reads UTF-16 with a byte order mark, and anything else as it can", async () => {
  const utf16 = Uint8Array.of(0xff, 0xfe, ...Uint8Array.from("a\nb", (c) => c.charCodeAt(0)))
    .subarray(0, 2);
  const units = [..."é\nb"].flatMap((c) => [c.charCodeAt(0) & 255, c.charCodeAt(0) >> 8]);
  assertEquals((await linesIn([Uint8Array.of(...utf16, ...units)])).map(({ text }) => text), [
    "é",
    "b",
  ]);
  assertEquals(textOf(Uint8Array.of(0x61, 0xff, 0x62)), "a\ufffdb");
  assertEquals(isBinary(Uint8Array.of(0x61, 0)), true);
  assertEquals(isBinary(Uint8Array.of(0xff, 0xfe, 0x61, 0)), false);
});

Deno.test("linesOf() refuses a line of more than 16 MiB in one sentence", async () => {
  const piece = new Uint8Array(2 ** 20).fill(97);
  await assertRejects(
    () => linesIn(Array.from({ length: 17 }, () => piece)),
    UserError,
    "line 1 is longer than 16 MiB",
  );
});
