/** Reads a dump from a text, as if it were a file. */
import { assert } from "@std/assert";
import { surestReader } from "../../src/logs/detect.ts";
import { Ignored } from "../../src/logs/ignored.ts";
import type { TokenSequence } from "../../src/tokens/token_batch.ts";
import { TOKEN_READERS } from "../../src/tokens/token_readers.ts";
import { inputOf } from "../logs/read_text.ts";

/** A dump that was read. */
export interface ReadDump {
  readonly form: string;
  readonly sequences: readonly TokenSequence[];
  /** Counts by kind. */
  readonly ignored: Readonly<Record<string, number>>;
}

/** Rows as JSONL. */
export const jsonl = (rows: readonly unknown[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** Reads a dump whose form its content tells. */
export async function readDump(content: string | Uint8Array): Promise<ReadDump> {
  // Small pieces cut rows anywhere; a long dump would be nothing but pieces.
  const pieceBytes = content.length > 2 ** 20 ? 2 ** 16 : 997;
  const input = inputOf(content, "dump.jsonl", { pieceBytes });
  const reader = surestReader(input.head, TOKEN_READERS)?.reader;
  assert(reader, "no reader knows the form");
  const notes = new Ignored();
  const sequences = await Array.fromAsync(reader.read(input, notes));
  const ignored = Object.fromEntries(notes.list().map(({ what, count }) => [what, count]));
  return { form: reader.form, sequences, ignored };
}
