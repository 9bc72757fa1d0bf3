/** Reads a text as a log, as the commands do with a file. */
import { assert } from "@std/assert";
import { detectReader } from "../../src/logs/detect.ts";
import type { LogInput, LogReader, ReadOptions } from "../../src/logs/reader.ts";
import { LOG_READERS } from "../../src/logs/readers.ts";
import { type RunLog, seriesOf } from "../../src/logs/run_log.ts";
import { RunLogBuilder } from "../../src/logs/run_log_builder.ts";
import { linesOf } from "../../src/logs/text_lines.ts";

/** A file in memory. */
export function inputOf(
  content: string | Uint8Array,
  name = "log",
  { pieceBytes = 4099 } = {},
): LogInput {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    // Small pieces, so that what a line or a character is cut by is seen.
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      yield await Promise.resolve(bytes.subarray(at, at + pieceBytes));
    }
  }
  return {
    name,
    head: bytes.subarray(0, 65536),
    bytes: pieces,
    lines: () => linesOf(pieces(), { name }),
  };
}

/** How to read. */
export interface ReadTextOptions extends ReadOptions {
  /** The reader; found by content where it is left out. */
  readonly reader?: LogReader;
}

/** The log in a text. */
export async function readText(
  content: string | Uint8Array,
  { reader, ...options }: ReadTextOptions = {},
): Promise<RunLog> {
  const input = inputOf(content);
  const chosen = reader ?? detectReader(input, LOG_READERS);
  const builder = new RunLogBuilder();
  builder.beginFile(input.name);
  await chosen.read(input, builder, options);
  const { form, producer } = chosen;
  return builder.finish({ path: "log", form, ...(producer !== undefined && { producer }) });
}

/** The log in several files of one form, which arrive in small pieces. */
export async function readFiles(
  reader: LogReader,
  contents: readonly (string | Uint8Array)[],
  { options = {}, pieceBytes = 7 }: {
    readonly options?: ReadOptions;
    readonly pieceBytes?: number;
  } = {},
): Promise<RunLog> {
  const builder = new RunLogBuilder();
  for (const [index, content] of contents.entries()) {
    const input = inputOf(content, `file${index}`, { pieceBytes });
    builder.beginFile(input.name);
    await reader.read(input, builder, options);
  }
  return builder.finish({ path: "log", form: reader.form });
}

/** Steps and values of a key. */
export function points(log: RunLog, key: string): (readonly [number, number | null])[] {
  const series = seriesOf(log, key);
  assert(series, `no ${key} among ${[...log.columns.keys()].join(", ")}`);
  return Array.from(series.steps, (step, i) => [step, series.isNull[i] ? null : series.values[i]]);
}

/** Every series of a log, by key. */
export function allPoints(log: RunLog): Record<string, (readonly [number, number | null])[]> {
  return Object.fromEntries([...log.columns.keys()].map((key) => [key, points(log, key)]));
}

/** What was skipped, by kind. */
export function ignoredOf(log: RunLog): Record<string, number> {
  return Object.fromEntries(log.source.ignored.map(({ what, count }) => [what, count]));
}
