/** Writes TensorBoard's event files: the bytes of each record, as `tensorboard.ts` and TensorBoard itself read them. */
import { maskedCrc32c } from "./crc32.ts";

/** Varints, texts and messages of protocol buffers, appended to a list of bytes. */
class WireWriter {
  readonly bytes: number[] = [];

  /** A number from 0 to 2^53. */
  varint(value: number): this {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.bytes.push(rest % 128 | 0x80);
    this.bytes.push(rest);
    return this;
  }

  /** A field with a number. */
  number(field: number, value: number): this {
    return this.varint(field * 8).varint(value);
  }

  /** A field with bytes. */
  field(field: number, content: Iterable<number>): this {
    const bytes = [...content];
    this.varint(field * 8 + 2).varint(bytes.length);
    for (const byte of bytes) this.bytes.push(byte);
    return this;
  }

  /** A field with a double. */
  float64(field: number, value: number): this {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.varint(field * 8 + 1).bytes.push(...bytes);
    return this;
  }

  /** A field with a float. */
  float32(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    this.varint(field * 8 + 5).bytes.push(...bytes);
    return this;
  }
}

/** The frame of TFRecord: length, its masked CRC-32C, the data, their masked CRC-32C. */
function frame(data: readonly number[]): Uint8Array<ArrayBuffer> {
  const record = new Uint8Array(data.length + 16);
  const view = new DataView(record.buffer);
  view.setUint32(0, data.length, true);
  view.setUint32(8, maskedCrc32c(record, { start: 0, end: 8 }), true);
  record.set(data, 12);
  const end = data.length + 12;
  view.setUint32(end, maskedCrc32c(record, { start: 12, end }), true);
  return record;
}

/** An event: when it was written, and for which step; a step of 0 is left out, as protocol buffers do. */
function beginEvent(wallSeconds: number, step: number): WireWriter {
  const event = new WireWriter().float64(1, wallSeconds);
  return step === 0 ? event : event.number(2, step);
}

const encoder = new TextEncoder();

/** The record with which a file begins. */
export function versionRecord(wallSeconds: number): Uint8Array<ArrayBuffer> {
  return frame(beginEvent(wallSeconds, 0).field(3, encoder.encode("brain.Event:2")).bytes);
}

/** The record that says that the run starts over at a step: TensorBoard forgets what earlier files say from there on. */
export function sessionStartRecord(wallSeconds: number, step: number): Uint8Array<ArrayBuffer> {
  const status = new WireWriter().number(1, 1);
  return frame(beginEvent(wallSeconds, step).field(7, status.bytes).bytes);
}

/**
 * The record of a step.
 *
 * @param wallSeconds Seconds since 1970.
 * @param step 0 or more.
 * @param scalars Tags and values; they are kept as float32.
 */
export function scalarsRecord(
  wallSeconds: number,
  step: number,
  { scalars }: { readonly scalars: Iterable<readonly [string, number]> },
): Uint8Array<ArrayBuffer> {
  const summary = new WireWriter();
  for (const [tag, value] of scalars) {
    summary.field(1, new WireWriter().field(1, encoder.encode(tag)).float32(2, value).bytes);
  }
  return frame(beginEvent(wallSeconds, step).field(5, summary.bytes).bytes);
}
