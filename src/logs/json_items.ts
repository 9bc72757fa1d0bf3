/** Reads the rows of a JSON document: of a list, or of an object that has a list under a key. */
import { type JsonParts, JsonStream } from "./json_stream.ts";
import type { LogInput } from "./reader.ts";
import type { LogSink } from "./run_log_builder.ts";
import { isBinary, textOf, textPieces } from "./text_lines.ts";

/** The first row in the first bytes of a document. */
export interface FirstItem {
  /** Empty where the first bytes hold none. */
  readonly text: string;
  /** True where the document is an object with the key; false where it is a list. */
  readonly isUnderKey: boolean;
}

/** What the first bytes of a JSON document with rows hold; undefined where they are something else. */
export function firstJsonItem(head: Uint8Array, listKey: string): FirstItem | undefined {
  if (isBinary(head)) return undefined;
  const text = textOf(head);
  const document = text.trimStart();
  const isUnderKey = document.startsWith("{") && text.includes(`"${listKey}"`);
  if (!isUnderKey && !document.startsWith("[")) return undefined;
  let item: string | undefined;
  const parts: JsonParts = { item: (text) => item ??= text, scalar: () => {} };
  new JsonStream(parts, { listKey, name: "" }).take(text);
  return item === undefined && !isUnderKey ? undefined : { text: item ?? "", isUnderKey };
}

/** Reads the rows as they stream by. @throws {UserError} When one is longer than 16 MiB. */
export async function readJsonItems(
  input: LogInput,
  { sink, parts, listKey }: {
    readonly sink: LogSink;
    readonly parts: JsonParts;
    readonly listKey: string;
  },
): Promise<void> {
  const stream = new JsonStream(parts, { listKey, name: input.name });
  for await (const text of textPieces(input.bytes())) stream.take(text);
  if (stream.isOpen) sink.ignore("a document that the end of the file truncates", input.name);
}
