/** Logs in memory for the tests of readers. */
import type { LogInput, LogReader, ReadOptions } from "../../src/logs/reader.ts";
import type { RunLog } from "../../src/logs/run_log.ts";
import { seriesOf } from "../../src/logs/run_log.ts";
import { RunLogBuilder } from "../../src/logs/run_log_builder.ts";
import { linesOf } from "../../src/logs/text_lines.ts";

/** A log of these bytes, which arrive in pieces. */
export function memoryInput(
  content: string | Uint8Array,
  { name = "log", pieceBytes = 7 } = {},
): LogInput {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.slice(at, at + pieceBytes);
  };
  return {
    name,
    head: bytes.slice(0, 2 ** 16),
    bytes: pieces,
    lines: () => linesOf(pieces(), name),
  };
}

/** Reads files of one form as one log. */
export async function readWith(
  reader: LogReader,
  contents: readonly (string | Uint8Array)[],
  { options = {} as ReadOptions, pieceBytes = 7 } = {},
): Promise<RunLog> {
  const builder = new RunLogBuilder();
  for (const [index, content] of contents.entries()) {
    const name = `file${index}`;
    builder.beginFile(name);
    await reader.read(memoryInput(content, { name, pieceBytes }), builder, options);
  }
  return builder.finish({ path: "path", form: reader.form });
}

/** Every key's values by step: `{ loss: [[1, 0.5], …] }`; null where the file says that there is none. */
export function valuesOf(log: RunLog): Record<string, (readonly [number, number | null])[]> {
  return Object.fromEntries(Array.from(log.columns.keys(), (key) => {
    const series = seriesOf(log, key)!;
    return [
      key,
      Array.from(
        series.steps,
        (step, i) => [step, series.isNull[i] ? null : series.values[i]] as const,
      ),
    ];
  }));
}
