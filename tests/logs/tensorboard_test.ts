/** TensorBoard's event files: every way to write a scalar, and files that are cut off or damaged. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { TENSORBOARD } from "../../src/logs/tensorboard.ts";
import { allPoints, readFiles } from "./read_text.ts";
import {
  bytesField,
  bytesOf,
  float32Field,
  float64Field,
  frame,
  littleEndian,
  numberField,
  scalarEvent,
  slowMaskedCrc,
  varint,
} from "./wire_bytes.ts";

const f32 = Math.fround;
const version = frame(bytesOf(float64Field(1, 1.7e9), bytesField(3, "brain.Event:2")));

/** A framed event with one value of any kind. */
function event(step: number, value: Uint8Array): Uint8Array {
  return frame(bytesOf(numberField(2, step), bytesField(5, bytesField(1, value))));
}

function tensorEvent(step: number, tag: string, tensor: Uint8Array): Uint8Array {
  const plugin = bytesField(9, bytesField(1, bytesField(1, "scalars")));
  return event(step, bytesOf(bytesField(1, tag), bytesField(8, tensor), plugin));
}

const shape = (...sizes: number[]) =>
  bytesField(2, bytesOf(...sizes.map((size) => bytesField(2, numberField(1, size)))));

Deno.test("tensorboard reads a file that was written by hand", async () => {
  // Step 3, tag "kl", simple_value 0.5; both checksums as TensorFlow writes them.
  const data = bytesOf(
    [0x10, 3, 0x2a, 0x0b, 0x0a, 9],
    [0x0a, 2, 0x6b, 0x6c, 0x15, 0, 0, 0, 0x3f],
  );
  assertEquals(data.length, 15);
  const log = await readFiles(TENSORBOARD, [bytesOf(version, frame(data))]);
  assertEquals(allPoints(log), { kl: [[3, 0.5]] });
  assertEquals(log.rows.lines[0], 2);
});

Deno.test("tensorboard merges the tags of a step, and takes a missing step as 0", async () => {
  const file = bytesOf(
    version,
    scalarEvent(0, "train/loss", 2),
    scalarEvent(0, "train/kl", -0.25),
    scalarEvent(1, "train/loss", NaN),
    scalarEvent(1, "train/kl", Infinity),
  );
  const log = await readFiles(TENSORBOARD, [file]);
  assertEquals(allPoints(log), {
    "train/loss": [[0, 2], [1, NaN]],
    "train/kl": [[0, -0.25], [1, Infinity]],
  });
  assertEquals(log.rows.count, 2);
});

Deno.test("tensorboard reads tensors of one float or double, and passes over every other value", async () => {
  const content = (field: number, byteCount: number, set: (view: DataView) => void) => {
    const bytes = new Uint8Array(byteCount);
    set(new DataView(bytes.buffer));
    return bytesField(field, bytes);
  };
  const float = (field: number, value: number) =>
    content(field, 4, (view) => view.setFloat32(0, value, true));
  const double = (field: number, value: number) =>
    content(field, 8, (view) => view.setFloat64(0, value, true));
  const [dtFloat, dtDouble, dtString] = [1, 2, 7].map((dtype) => numberField(1, dtype));
  const file = bytesOf(
    tensorEvent(1, "a", bytesOf(dtFloat, bytesField(2, new Uint8Array()), float(4, 0.1))),
    tensorEvent(1, "b", bytesOf(dtDouble, double(4, 0.1))),
    tensorEvent(1, "c", bytesOf(dtFloat, float(5, 0.2))),
    tensorEvent(1, "d", bytesOf(dtDouble, shape(1), double(6, 0.2))),
    tensorEvent(1, "e", bytesOf(dtFloat, float32Field(5, 0.3))),
    tensorEvent(1, "text", bytesOf(dtString, bytesField(8, "hello"))),
    tensorEvent(1, "filled", bytesOf(dtFloat, shape(100), float(5, 7))),
    tensorEvent(1, "histogram", bytesOf(dtDouble, shape(2, 3), bytesField(4, new Uint8Array(48)))),
    event(1, bytesOf(bytesField(1, "histo"), bytesField(5, float64Field(1, 3)))),
  );
  const log = await readFiles(TENSORBOARD, [file]);
  assertEquals(allPoints(log), {
    a: [[1, f32(0.1)]],
    b: [[1, 0.1]],
    c: [[1, f32(0.2)]],
    d: [[1, 0.2]],
    e: [[1, f32(0.3)]],
  });
  assertEquals(log.source.ignored, [
    { what: "values that are not scalars (text, histograms, …)", count: 4, example: "text" },
  ]);
});

Deno.test("tensorboard lets the later file win where the files of a run overlap, and tells the seam", async () => {
  const first = bytesOf(version, ...[1, 2, 3, 4].map((step) => scalarEvent(step, "loss", step)));
  const second = bytesOf(version, ...[3, 4, 5].map((step) => scalarEvent(step, "loss", 10 * step)));
  const log = await readFiles(TENSORBOARD, [first, second]);
  assertEquals(allPoints(log), { loss: [[1, 1], [2, 2], [3, 30], [4, 40], [5, 50]] });
  assertEquals(log.seams, [{ axis: 0, row: 4, lastStep: 4, nextStep: 3 }]);
  assertEquals(log.source.files, ["file0", "file1"]);
});

Deno.test("tensorboard drops what a session start overrules, also where nothing follows it", async () => {
  const first = bytesOf(version, ...[1, 2, 3, 4].map((step) => scalarEvent(step, "loss", step)));
  const start = frame(bytesOf(numberField(2, 3), bytesField(7, numberField(1, 1))));
  const stop = frame(bytesOf(numberField(2, 1), bytesField(7, numberField(1, 2))));
  const log = await readFiles(TENSORBOARD, [first, bytesOf(version, start, stop)]);
  assertEquals(allPoints(log), { loss: [[1, 1], [2, 2]] });
  const fresh = await readFiles(TENSORBOARD, [bytesOf(version, start, first)]);
  assertEquals(fresh.seams, []);
});

Deno.test("tensorboard reads every file that is cut off as far as it goes, and no value that is not in the whole one", async () => {
  const file = bytesOf(
    version,
    scalarEvent(1, "loss", 0.123),
    scalarEvent(2, "loss", 4.56),
    tensorEvent(3, "kl", bytesOf(numberField(1, 1), bytesField(5, littleEndian(0x3f000000, 4)))),
  );
  const whole = [[1, f32(0.123)], [2, f32(4.56)], [3, 0.5]];
  let values = 0;
  for (let length = 0; length <= file.length; length++) {
    const log = await readFiles(TENSORBOARD, [file.slice(0, length)]);
    const found = Object.values(allPoints(log)).flat();
    assertEquals<unknown>(found, whole.slice(0, found.length));
    assert(found.length >= values);
    values = found.length;
  }
  assertEquals(values, 3);
});

Deno.test("tensorboard refuses every flipped bit in one sentence and never reads another value", async () => {
  const file = bytesOf(scalarEvent(1, "loss", 0.123), scalarEvent(2, "loss", 4.56));
  const whole = [[1, f32(0.123)], [2, f32(4.56)]];
  let refused = 0;
  for (let bit = 0; bit < file.length * 8; bit++) {
    const bytes = file.slice();
    bytes[bit >> 3] ^= 1 << (bit & 7);
    try {
      const log = await readFiles(TENSORBOARD, [bytes], { pieceBytes: 64 });
      const found = Object.values(allPoints(log)).flat();
      assertEquals<unknown>(found, whole.slice(0, found.length));
      assert(found.length < 2);
    } catch (error) {
      assert(error instanceof UserError, String(error));
      assert(/^Cannot read file0: record [12] at byte \d+: the checksum/.test(error.message));
      refused++;
    }
  }
  assertEquals(refused, file.length * 8);
});

Deno.test("tensorboard refuses lengths and numbers that nothing holds", async () => {
  const length = littleEndian(2n ** 63n, 8);
  const huge = bytesOf(length, littleEndian(slowMaskedCrc(length), 4), new Uint8Array(100));
  await assertRejects(() => readFiles(TENSORBOARD, [huge]), UserError, "2 GiB");
  const endless = frame(bytesOf([0x10], new Uint8Array(12).fill(0xff)));
  await assertRejects(() => readFiles(TENSORBOARD, [endless]), UserError, "does not end");
  const inner = frame(bytesOf(varint(5 * 8 + 2), varint(2n ** 62n), [1, 2, 3]));
  await assertRejects(() => readFiles(TENSORBOARD, [inner]), UserError, "does not fit");
  const group = frame(Uint8Array.of(0x0b, 0x0b, 0x0b));
  await assertRejects(() => readFiles(TENSORBOARD, [group]), UserError, "unknown kind 3");
  const negative = frame(bytesOf(numberField(2, -1n), bytesField(5, new Uint8Array())));
  assertEquals((await readFiles(TENSORBOARD, [negative])).rows.count, 0);
});

Deno.test("tensorboard skips an event of more than 16 MiB without keeping it", async () => {
  const imageBytes = 17 * 2 ** 20;
  const length = littleEndian(imageBytes, 8);
  const before = bytesOf(
    scalarEvent(1, "loss", 1),
    length,
    littleEndian(slowMaskedCrc(length), 4),
  );
  const after = scalarEvent(2, "loss", 2);
  const file = new Uint8Array(before.length + imageBytes + 4 + after.length);
  file.set(before);
  file.set(after, before.length + imageBytes + 4);
  const log = await readFiles(TENSORBOARD, [file], { pieceBytes: 2 ** 16 });
  assertEquals(allPoints(log), { loss: [[1, 1], [2, 2]] });
  assertEquals(log.source.ignored[0].what, "events of more than 16 MiB");
});

Deno.test("tensorboard is known by the checksum of its first length alone", () => {
  assertEquals(TENSORBOARD.detect(version), 1);
  assertEquals(TENSORBOARD.detect(version.slice(0, 11)), 0);
  assertEquals(TENSORBOARD.detect(new TextEncoder().encode("events.out.tfevents")), 0);
});
