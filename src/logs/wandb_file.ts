/** W&B's offline files `run-ID.wandb`: LevelDB's log blocks around protocol buffers whose values are JSON texts. */
import { UserError } from "../core/errors.ts";
import { ByteQueue } from "./byte_queue.ts";
import { crc32 } from "./crc32.ts";
import { parseCell } from "./cell.ts";
import { WIRE, WireError, WireReader } from "./protobuf.ts";
import { jsonFields } from "./fields.ts";
import type { LogField } from "./literal.ts";
import type { LogInput, LogReader, ReadOptions } from "./reader.ts";
import { RowLog } from "./row_log.ts";
import type { LogSettings } from "./run_log.ts";
import type { RunLogBuilder } from "./run_log_builder.ts";

/** `:W&B`, the number 0xBEE1 and version 0. */
const FILE_HEADER = Uint8Array.of(0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0);
const BLOCK_BYTES = 32 * 2 ** 10;
/** Before each part: checksum of type and data in 4 bytes, length in 2, type in 1. Less room in a block stays empty. */
const PART_HEADER_BYTES = 7;
const PART = { full: 1, first: 2, middle: 3, last: 4 } as const;
/** Longer records hold tables and console output; a row of metrics is far below. */
const MAX_RECORD_BYTES = 64 * 2 ** 20;

/** Fields of W&B's messages, from wandb_internal.proto. */
const RECORD = { history: 2, config: 5, run: 17 } as const;
const RUN = { config: 4 } as const;
const CONFIG = { update: 1 } as const;
const HISTORY = { item: 1, step: 2 } as const;
const STEP = { number: 1 } as const;
const ITEM = { key: 1, nestedKey: 2, valueJson: 16 } as const;

/** W&B's own count of the calls of its log function; it may stand beside the row. */
const STEP_KEY = "_step";

const decoder = new TextDecoder();

/** Puts records together from the parts in the blocks. */
class RecordParts {
  #parts: Uint8Array[] = [];
  #sizeBytes = 0;

  /** True where the end of a record is missing; its first part may be empty, where a block had room for a header only. */
  get isOpen(): boolean {
    return this.#parts.length > 0;
  }

  /** Takes a part. @returns The record that it completes. @throws {WireError} When it does not follow the one before. */
  add(type: number, data: Uint8Array): Uint8Array | undefined {
    const begins = type === PART.full || type === PART.first;
    if (begins === this.isOpen || type < PART.full || type > PART.last) {
      throw new WireError(`a part of kind ${type} is out of place`);
    }
    if (type === PART.full) return data;
    this.#sizeBytes += data.length;
    if (this.#sizeBytes > MAX_RECORD_BYTES) throw new WireError("it has more than 64 MiB");
    this.#parts.push(data.slice());
    if (type !== PART.last) return undefined;
    const record = new Uint8Array(this.#sizeBytes);
    let offset = 0;
    for (const part of this.#parts) {
      record.set(part, offset);
      offset += part.length;
    }
    this.#parts = [];
    this.#sizeBytes = 0;
    return record;
  }
}

interface Item {
  readonly key: string;
  readonly json: string;
}

function readItem(wire: WireReader): Item {
  let key = "";
  const nested: string[] = [];
  let json = "";
  while (wire.next()) {
    if (wire.is(ITEM.key, WIRE.bytes)) key = decoder.decode(wire.bytes());
    else if (wire.is(ITEM.nestedKey, WIRE.bytes)) nested.push(decoder.decode(wire.bytes()));
    else if (wire.is(ITEM.valueJson, WIRE.bytes)) json = decoder.decode(wire.bytes());
    else wire.skip();
  }
  return { key: nested.length > 0 ? nested.join("/") : key, json };
}

/** Marks one of W&B's own objects (a table, a picture, a histogram), as a key within it or as a key of its own. */
const OBJECT_MARK = "/_type";

function fieldsOf({ key, json }: Item): readonly LogField[] {
  return jsonFields(`{${JSON.stringify(key)}:${json}}`) ?? [{ key, value: undefined }];
}

/** A row without the insides of W&B's own objects: their sizes are not metrics. */
function withoutObjects(fields: readonly LogField[]): readonly LogField[] {
  const objects = fields.filter(({ key }) => key.endsWith(OBJECT_MARK))
    .map(({ key }) => key.slice(0, -OBJECT_MARK.length));
  if (objects.length === 0) return fields;
  const outside = fields.filter(({ key }) => !objects.some((name) => key.startsWith(`${name}/`)));
  return [...outside, ...objects.map((key) => ({ key, value: undefined }))];
}

/** The number in a step; 0 is left out on the wire. */
function readStep(wire: WireReader): number {
  let number = 0;
  while (wire.next()) {
    if (wire.is(STEP.number, WIRE.varint)) number = wire.int64();
    else wire.skip();
  }
  return number;
}

function addHistory(wire: WireReader, record: number, rows: RowLog): void {
  const fields: LogField[] = [];
  let step: number | undefined;
  while (wire.next()) {
    if (wire.is(HISTORY.item, WIRE.bytes)) {
      for (const field of fieldsOf(readItem(wire.message()))) fields.push(field);
    } else if (wire.is(HISTORY.step, WIRE.bytes)) step = readStep(wire.message());
    else wire.skip();
  }
  const hasStep = fields.some(({ key }) => key === STEP_KEY);
  if (step !== undefined && !hasStep) fields.push({ key: STEP_KEY, value: step });
  rows.take(withoutObjects(fields), record);
}

/** Settings of a trainer's configuration, by the names that the Hugging Face family gives them. */
function settingsOf({ key, json }: Item): LogSettings {
  const value = parseCell(json);
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return {};
  if (key === "beta") return { klCoef: value };
  if (value === 0 || !Number.isInteger(value)) return {};
  if (key === "max_steps") return { plannedSteps: value };
  if (key === "logging_steps") return { loggingSteps: value };
  if (key === "num_generations") return { groupSize: value };
  if (key === "max_completion_length") return { maxLength: value };
  return {};
}

function addConfig(wire: WireReader, builder: RunLogBuilder): void {
  while (wire.next()) {
    if (wire.is(CONFIG.update, WIRE.bytes)) builder.set(settingsOf(readItem(wire.message())));
    else wire.skip();
  }
}

function addRecord(
  data: Uint8Array,
  record: number,
  { rows, builder }: { readonly rows: RowLog; readonly builder: RunLogBuilder },
): void {
  for (const wire = new WireReader(data); wire.next();) {
    if (wire.is(RECORD.history, WIRE.bytes)) addHistory(wire.message(), record, rows);
    else if (wire.is(RECORD.config, WIRE.bytes)) addConfig(wire.message(), builder);
    else if (wire.is(RECORD.run, WIRE.bytes)) {
      for (const run = wire.message(); run.next();) {
        if (run.is(RUN.config, WIRE.bytes)) addConfig(run.message(), builder);
        else run.skip();
      }
    } else wire.skip();
  }
}

function hasFileHeader(bytes: Uint8Array): boolean {
  return bytes.length >= FILE_HEADER.length &&
    FILE_HEADER.every((byte, index) => index === 6 || bytes[index] === byte);
}

/** Reads the parts of one file, block by block. */
class WandbFile {
  readonly #name: string;
  readonly #builder: RunLogBuilder;
  readonly #rows: RowLog;
  readonly #parts = new RecordParts();
  #record = 1;

  constructor(name: string, builder: RunLogBuilder, options: ReadOptions) {
    this.#name = name;
    this.#builder = builder;
    this.#rows = new RowLog(builder, { name, options, form: { stepCarriesOver: true } });
  }

  /** There are no more blocks. */
  end(): void {
    this.#rows.end();
  }

  /**
   * Takes the parts of a block.
   *
   * @param block The block; of the last one what there is.
   * @param options.offset Where in the file it stands.
   * @param options.start Where in the block its first part stands.
   */
  addBlock(block: Uint8Array, { offset, start }: { offset: number; start: number }): void {
    const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
    let position = start;
    while (block.length - position >= PART_HEADER_BYTES) {
      const length = view.getUint16(position + 4, true);
      const type = block[position + 6];
      const dataStart = position + PART_HEADER_BYTES;
      const end = dataStart + length;
      if (end > block.length) {
        if (block.length < BLOCK_BYTES) break; // The last part of the file is cut off.
        throw this.#damaged(offset + position, "its length leaves the block");
      }
      if (view.getUint32(position, true) !== crc32(block, { start: dataStart - 1, end })) {
        throw this.#damaged(offset + position, "its checksum does not match");
      }
      this.#addPart(type, block.subarray(dataStart, end), offset + position);
      position = end;
    }
    const rest = block.length - position;
    if (block.length < BLOCK_BYTES && (rest > 0 || this.#parts.isOpen)) {
      const where = `record ${this.#record} at byte ${offset + position}`;
      this.#builder.ignore("a last record that is cut off", where);
    }
  }

  #addPart(type: number, data: Uint8Array, offset: number): void {
    try {
      const record = this.#parts.add(type, data);
      if (record === undefined) return;
      addRecord(record, this.#record, { rows: this.#rows, builder: this.#builder });
      this.#record++;
    } catch (error) {
      if (error instanceof WireError) throw this.#damaged(offset, error.message);
      throw error;
    }
  }

  #damaged(offset: number, reason: string): UserError {
    return new UserError(
      `Cannot read ${this.#name}: record ${this.#record} at byte ${offset} is damaged (${reason})`,
    );
  }
}

async function readWandb(
  input: LogInput,
  builder: RunLogBuilder,
  options: ReadOptions = {},
): Promise<void> {
  if (input.head[6] !== 0) {
    throw new UserError(
      `Cannot read ${input.name}: it is a W&B file of version ${
        input.head[6]
      }, and only version 0 can be read; ` +
        "export the run's history as CSV instead",
    );
  }
  if (input.head.length === FILE_HEADER.length) {
    throw new UserError(
      `Cannot read ${input.name}: it holds only the header of a W&B run, ` +
        "so the run ended before it logged anything; name another run's file",
    );
  }
  const queue = new ByteQueue();
  const file = new WandbFile(input.name, builder, options);
  const take = (count: number) => {
    const start = queue.offset === 0 ? FILE_HEADER.length : 0;
    file.addBlock(queue.peek(count), { offset: queue.offset, start });
    queue.drop(count);
  };
  for await (const piece of input.bytes()) {
    queue.push(piece);
    while (queue.length >= BLOCK_BYTES) take(BLOCK_BYTES);
  }
  if (queue.length > 0) take(queue.length);
  file.end();
}

/** W&B's offline files. */
export const WANDB_FILE: LogReader = {
  form: "wandb_file",
  title: "Weights & Biases offline runs (wandb/offline-run-*/run-ID.wandb)",
  howToGet: [
    "any framework that logs to W&B: WANDB_MODE=offline; the file is in wandb/offline-run-…",
    "online runs leave the same file in wandb/run-…",
  ],
  detect: (head) => hasFileHeader(head) ? 1 : 0,
  read: readWandb,
};
