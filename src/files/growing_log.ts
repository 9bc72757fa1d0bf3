/** Reads a log that grows: a short one as a whole each time, of a long one of lines only what is new. */
import { detectReader } from "../logs/detect.ts";
import type { LogReader } from "../logs/reader.ts";
import { LOG_READERS } from "../logs/readers.ts";
import type { RunLog } from "../logs/run_log.ts";
import { RunLogBuilder } from "../logs/run_log_builder.ts";
import { linesOf } from "../logs/text_lines.ts";
import { FileBytes } from "./file_bytes.ts";
import { fileSize, openLog } from "./log_input.ts";
import {
  formOf,
  locate,
  type ReadLogOptions,
  readRunLog,
  stepKeyOf,
  withSettings,
} from "./log_source.ts";

/** Shorter files are read again as a whole: it takes milliseconds, and what form they are of may still change. */
const LEAST_TAIL_BYTES = 4 * 2 ** 20;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Forms that are read line by line, so that what is new of a file is read as if there had been nothing before it. */
const IN_LINES = /(?:^|_)jsonl$/;

/** A log that grows: of a long one of lines only what is new is read. */
export class GrowingLog implements AsyncDisposable {
  readonly #path: string;
  readonly #options: Omit<ReadLogOptions, "onProgress" | "opened">;
  readonly #leastBytes: number;
  #tail:
    | { readonly bytes: FileBytes; readonly builder: RunLogBuilder; readonly reader: LogReader }
    | undefined;

  /**
   * Reads nothing yet.
   *
   * @param options.leastBytes Shorter files are read as a whole each time (default: 4 MiB).
   */
  constructor(
    path: string,
    { leastBytes = LEAST_TAIL_BYTES, ...options }: Omit<ReadLogOptions, "onProgress" | "opened"> & {
      readonly leastBytes?: number;
    } = {},
  ) {
    this.#path = path;
    this.#options = options;
    this.#leastBytes = leastBytes;
  }

  /**
   * The log as it is now. A file that was cut, replaced or written over is read from its beginning.
   *
   * @throws {UserError} As {@linkcode readRunLog}.
   */
  async read(): Promise<RunLog> {
    const { files, others } = locate(this.#path);
    const [file] = files;
    const isLong = files.length === 1 && fileSize(file) >= this.#leastBytes;
    if (this.#tail && !(isLong && this.#tail.bytes.goesOn(file))) await this.#stop();
    if (isLong) this.#tail ??= await this.#begin(file);
    if (!this.#tail) return await readRunLog(this.#path, this.#options);
    const { bytes, builder, reader } = this.#tail;
    try {
      await bytes.readOn(isJson);
    } catch (error) {
      await this.#stop();
      throw error;
    }
    const log = builder.soFar({ path: this.#path, ...formOf(reader) });
    // A few huge rows may still wait for the key that counts the steps.
    if (log.rows.count === 0) {
      await this.#stop();
      return await readRunLog(this.#path, this.#options);
    }
    return withSettings(log, { ...this.#options, others });
  }

  /** Lets go of the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  /** Begins to read a file of lines; undefined: it is none. */
  async #begin(file: string) {
    const { run, map, settings } = this.#options;
    await using input = await openLog(file);
    const isPacked = input.head[0] === 0x1f && input.head[1] === 0x8b;
    const reader = detectReader(input, LOG_READERS);
    if (isPacked || !IN_LINES.test(reader.form)) return undefined;
    const builder = new RunLogBuilder();
    builder.beginFile(input.name);
    const bytes = new FileBytes(file);
    const { name, head } = input;
    bytes.begin((pieces) =>
      reader.read(
        {
          name,
          head,
          bytes: () => pieces,
          lines: () => linesOf(pieces, { name }),
        },
        builder,
        { run, stepKey: stepKeyOf(map), settings },
      )
    );
    return { bytes, builder, reader };
  }

  async #stop(): Promise<void> {
    await this.#tail?.bytes.stop();
    this.#tail = undefined;
  }
}
