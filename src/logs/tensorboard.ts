/** TensorBoard's event files: TFRecord frames around protocol buffers; every scalar becomes a value of its step. */
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { ByteQueue } from "./byte_queue.ts";
import { maskedCrc32c } from "./crc32.ts";
import { WIRE, WireError, WireReader } from "./protobuf.ts";
import type { LogInput, LogReader } from "./reader.ts";
import type { RunLogBuilder } from "./run_log_builder.ts";

/** A frame: its length in 8 bytes, their checksum in 4, the data, the data's checksum in 4. */
const HEADER_BYTES = 12;
const FOOTER_BYTES = 4;
/** Events beyond this hold images, audio or graphs, never a scalar: they are skipped unread. */
const MAX_EVENT_BYTES = 16 * 2 ** 20;
/** TensorFlow writes no larger message: protocol buffers end at 2 GiB. */
const MAX_FRAME_BYTES = 2 ** 31;

/** Fields of the messages, from TensorFlow's event.proto, summary.proto, tensor.proto and tensor_shape.proto. */
const EVENT = { step: 2, summary: 5, sessionLog: 7 } as const;
const SESSION = { status: 1 } as const;
/** The session began, after a restart perhaps: what stands from its step on is overruled. */
const SESSION_START = 1;
const SUMMARY = { value: 1 } as const;
const VALUE = { tag: 1, simpleValue: 2, tensor: 8 } as const;
const TENSOR = { dtype: 1, shape: 2, content: 4, floats: 5, doubles: 6 } as const;
const SHAPE = { dimension: 2, unknownRank: 3 } as const;
const DIMENSION = { size: 1 } as const;
const DTYPE = { float32: 1, float64: 2 } as const;

const tagDecoder = new TextDecoder();

/** One event, as far as logs need it. */
interface TensorBoardEvent {
  /** 0 where the file leaves it out. */
  readonly step: number;
  readonly isSessionStart: boolean;
  readonly scalars: readonly (readonly [string, number])[];
  /** Tags of values that are not scalars. */
  readonly others: readonly string[];
}

/** Number of elements of a tensor; 1 without dimensions. */
function readShape(wire: WireReader): number {
  let count = 1;
  while (wire.next()) {
    if (!wire.is(SHAPE.dimension, WIRE.bytes)) {
      wire.skip();
      continue;
    }
    let size = 0;
    for (const dimension = wire.message(); dimension.next();) {
      if (dimension.is(DIMENSION.size, WIRE.varint)) size = dimension.int64();
      else dimension.skip();
    }
    count *= size;
  }
  return count;
}

/** The number of a tensor of one float or double; undefined of any other tensor. */
function readTensor(wire: WireReader): number | undefined {
  let dtype = 0;
  let count = 1;
  let content: Uint8Array | undefined;
  let value: number | undefined;
  while (wire.next()) {
    if (wire.is(TENSOR.dtype, WIRE.varint)) dtype = wire.int64();
    else if (wire.is(TENSOR.shape, WIRE.bytes)) count = readShape(wire.message());
    else if (wire.is(TENSOR.content, WIRE.bytes)) content = wire.bytes();
    else if (wire.is(TENSOR.floats, WIRE.fixed32)) value = wire.float32();
    else if (wire.is(TENSOR.doubles, WIRE.fixed64)) value = wire.float64();
    else if (wire.is(TENSOR.floats, WIRE.bytes)) content = wire.bytes();
    else if (wire.is(TENSOR.doubles, WIRE.bytes)) content = wire.bytes();
    else wire.skip();
  }
  if (count !== 1 || (dtype !== DTYPE.float32 && dtype !== DTYPE.float64)) return undefined;
  if (content === undefined) return value;
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  if (dtype === DTYPE.float32) return content.length === 4 ? view.getFloat32(0, true) : undefined;
  return content.length === 8 ? view.getFloat64(0, true) : undefined;
}

/** One value of a summary: a scalar, or the tag of something else. */
function readValue(wire: WireReader): readonly [string, number | undefined] {
  let tag = "";
  let value: number | undefined;
  while (wire.next()) {
    if (wire.is(VALUE.tag, WIRE.bytes)) tag = tagDecoder.decode(wire.bytes());
    else if (wire.is(VALUE.simpleValue, WIRE.fixed32)) value = wire.float32();
    else if (wire.is(VALUE.tensor, WIRE.bytes)) value = readTensor(wire.message());
    else wire.skip();
  }
  return [tag, value];
}

/** Reads an event. @throws {WireError} When the bytes are not a message. */
function readEvent(data: Uint8Array): TensorBoardEvent {
  let step = 0;
  let isSessionStart = false;
  const scalars: (readonly [string, number])[] = [];
  const others: string[] = [];
  for (const wire = new WireReader(data); wire.next();) {
    if (wire.is(EVENT.step, WIRE.varint)) step = wire.int64();
    else if (wire.is(EVENT.summary, WIRE.bytes)) {
      for (const summary = wire.message(); summary.next();) {
        if (!summary.is(SUMMARY.value, WIRE.bytes)) {
          summary.skip();
          continue;
        }
        const [tag, value] = readValue(summary.message());
        if (value === undefined || tag === "") others.push(tag);
        else scalars.push([tag, value]);
      }
    } else if (wire.is(EVENT.sessionLog, WIRE.bytes)) {
      for (const session = wire.message(); session.next();) {
        if (session.is(SESSION.status, WIRE.varint)) {
          isSessionStart = session.int64() === SESSION_START;
        } else session.skip();
      }
    } else wire.skip();
  }
  return { step, isSessionStart, scalars, others };
}

function addEvent(data: Uint8Array, record: number, builder: RunLogBuilder): void {
  const { step, isSessionStart, scalars, others } = readEvent(data);
  if (!Number.isSafeInteger(step)) {
    builder.ignore("events whose step is beyond ±2^53", String(step));
    return;
  }
  if (isSessionStart) builder.restart(step);
  for (const tag of others) {
    builder.ignore("values that are not scalars (text, histograms, …)", tag);
  }
  builder.add(step, { line: record }, scalars);
}

/** Length of the frame's data. @throws {UserError} When its checksum does not match. */
function frameLength(header: Uint8Array, where: string): number {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (view.getUint32(8, true) !== maskedCrc32c(header, { start: 0, end: 8 })) {
    throw new UserError(
      `Cannot read ${where}: the checksum of its length does not match, so the file is damaged from there on`,
    );
  }
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  if (length > MAX_FRAME_BYTES) {
    throw new UserError(
      `Cannot read ${where}: it claims ${length} bytes, and an event has at most 2 GiB`,
    );
  }
  return length;
}

function checkData(frame: Uint8Array, where: string): Uint8Array {
  const end = frame.length - FOOTER_BYTES;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint32(end, true) !== maskedCrc32c(frame, { start: HEADER_BYTES, end })) {
    throw new UserError(
      `Cannot read ${where}: the checksum of its data does not match, so the file is damaged`,
    );
  }
  return frame.subarray(HEADER_BYTES, end);
}

/** Adds every event. A last one that is cut off belongs to a writer that runs or was stopped. */
async function readEvents(input: LogInput, builder: RunLogBuilder): Promise<void> {
  const queue = new ByteQueue();
  let record = 1;
  let toSkip = 0;
  for await (const piece of input.bytes()) {
    queue.push(piece);
    while (true) {
      if (toSkip > 0) {
        const skipped = Math.min(toSkip, queue.length);
        queue.drop(skipped);
        toSkip -= skipped;
        if (toSkip > 0) break;
      }
      if (queue.length < HEADER_BYTES) break;
      const where = `${input.name}: record ${record} at byte ${queue.offset}`;
      const length = frameLength(queue.peek(HEADER_BYTES), where);
      const frameBytes = HEADER_BYTES + length + FOOTER_BYTES;
      if (length > MAX_EVENT_BYTES) {
        builder.ignore("events of more than 16 MiB", where);
        toSkip = frameBytes;
        record++;
        continue;
      }
      if (queue.length < frameBytes) break;
      try {
        addEvent(checkData(queue.peek(frameBytes), where), record, builder);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        throw new UserError(`Cannot read ${where}: it is not an event (${error.message})`);
      }
      queue.drop(frameBytes);
      record++;
    }
  }
  if (queue.length > 0 || toSkip > 0) {
    builder.ignore("a last record that is cut off", `record ${record} at byte ${queue.offset}`);
  }
}

/** Event files of TensorBoard, one or several of one run. */
export const TENSORBOARD: LogReader = {
  form: "tensorboard",
  title: "TensorBoard event files (a file, or one run's folder)",
  howToGet: [
    "TRL, Unsloth, ms-swift, open-r1: report_to=tensorboard; events in OUTPUT_DIR/runs/…",
    "verl: trainer.logger=[console,tensorboard], in $TENSORBOARD_DIR or tensorboard_log/…",
    "OpenRLHF: --use_tensorboard DIR · NeMo-RL: logger.tensorboard_enabled=true",
    sentence`agentrl: train ${setting("log", "tensorboard")}, in RUN/tensorboard`,
  ],
  detect(head) {
    if (head.length < HEADER_BYTES) return 0;
    const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
    return view.getUint32(8, true) === maskedCrc32c(head, { start: 0, end: 8 }) ? 1 : 0;
  },
  read: readEvents,
};
