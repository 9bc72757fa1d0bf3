/** The checksums of binary logs, against published check values and a slow computation. */
import { assertEquals } from "@std/assert";
import { crc32, maskedCrc32c } from "../../src/logs/crc32.ts";
import { slowCrc, slowMaskedCrc } from "./wire_bytes.ts";

const digits = new TextEncoder().encode("123456789");

Deno.test("crc32() gives the check value of CRC-32 for the digits 1 to 9", () => {
  assertEquals(crc32(digits, { start: 0, end: 9 }), 0xcbf43926);
  assertEquals(slowCrc(digits, 0xedb88320n), 0xcbf43926n);
});

Deno.test("maskedCrc32c() rotates the check value of CRC-32C and adds TensorFlow's constant", () => {
  // 0xE3069283 rotated right by 15 bits is 0x2507C60D.
  assertEquals(slowCrc(digits, 0x82f63b78n), 0xe3069283n);
  assertEquals(maskedCrc32c(digits, { start: 0, end: 9 }), (0x2507c60d + 0xa282ead8) % 2 ** 32);
});

Deno.test("maskedCrc32c() gives the bytes with which every event file of TensorFlow 2 begins", () => {
  // A version event of 24 bytes: 18 00 00 00 00 00 00 00 A3 7F 4B 22.
  const length = Uint8Array.of(24, 0, 0, 0, 0, 0, 0, 0);
  assertEquals(maskedCrc32c(length, { start: 0, end: 8 }), 0x224b7fa3);
});

Deno.test("both checksums look at their range alone", () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => i * 7 + (i >> 3));
  for (const [start, end] of [[0, 0], [0, 1], [3, 300], [17, 290]]) {
    const part = bytes.slice(start, end);
    assertEquals(BigInt(crc32(bytes, { start, end })), slowCrc(part, 0xedb88320n));
    assertEquals(BigInt(maskedCrc32c(bytes, { start, end })), slowMaskedCrc(part));
  }
});
