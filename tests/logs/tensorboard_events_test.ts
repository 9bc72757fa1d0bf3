/** The writer of event files: bytes written by hand, and every float through the reader. */
import { assertEquals } from "@std/assert";
import {
  scalarsRecord,
  sessionStartRecord,
  versionRecord,
} from "../../src/logs/tensorboard_events.ts";
import { TENSORBOARD } from "../../src/logs/tensorboard.ts";
import { allPoints, readFiles } from "./read_text.ts";
import { bytesOf, frame, scalarEvent } from "./wire_bytes.ts";

Deno.test("versionRecord() writes the first record of every event file", () => {
  // Time 0; field 3: "brain.Event:2". Length 24, whose masked checksum is A3 7F 4B 22 in TensorFlow's own files.
  const record = versionRecord(0);
  assertEquals(Array.from(record.slice(0, 12)), [24, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22]);
  const data = [9, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a, 13, ...new TextEncoder().encode("brain.Event:2")];
  assertEquals(Array.from(record.slice(12, -4)), data);
  assertEquals(record, frame(Uint8Array.from(data)));
});

Deno.test("sessionStartRecord() writes a session log with the status START", () => {
  // Time 2.0 is 0x4000000000000000; step 300 is AC 02; field 7 holds field 1 = 1.
  const data = Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x10, 0xac, 2, 0x3a, 2, 8, 1);
  assertEquals(sessionStartRecord(2, 300), frame(data));
  assertEquals(sessionStartRecord(2, 0), frame(bytesOf(data.slice(0, 9), data.slice(12))));
});

Deno.test("scalarsRecord() writes a summary with a value for each tag", () => {
  // "kl" = 0.5 (0x3F000000), "é" = −2 (0xC0000000) in step 3.
  const data = Uint8Array.of(
    ...[9, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x10, 3, 0x2a, 22],
    ...[0x0a, 9, 0x0a, 2, 0x6b, 0x6c, 0x15, 0, 0, 0, 0x3f],
    ...[0x0a, 9, 0x0a, 2, 0xc3, 0xa9, 0x15, 0, 0, 0, 0xc0],
  );
  assertEquals(scalarsRecord(2, 3, { scalars: [["kl", 0.5], ["é", -2]] }), frame(data));
  assertEquals(scalarsRecord(1.5e9, 0, { scalars: [["a", 7]] }), scalarEvent(0, "a", 7));
});

Deno.test("scalarsRecord() and the reader give every value back as a float", async () => {
  const values = [0, -0, 1e-45, 1e-8, 0.1, Math.PI, -3.4e38, 1e39, NaN, Infinity, -Infinity];
  const steps = [0, 1, 127, 128, 16383, 16384, 2 ** 31, 2 ** 32 + 1, 2 ** 40, 2 ** 52, 2 ** 53 - 1];
  const file = bytesOf(
    versionRecord(1.7e9),
    ...steps.map((step, i) => scalarsRecord(1.7e9, step, { scalars: [["x", values[i]]] })),
  );
  const log = await readFiles(TENSORBOARD, [file]);
  assertEquals(allPoints(log), {
    x: steps.map((step, i) => [step, Math.fround(values[i])] as const),
  });
});
