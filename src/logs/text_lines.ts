/** Splits a stream of bytes into lines. */
import { UserError } from "../core/errors.ts";
import type { TextLine } from "./reader.ts";

/** The longest line that is kept in memory, in UTF-16 units: no log has one, and some files have nothing else. */
export const MAX_LINE_LENGTH = 16 * 2 ** 20;

/** The encoding that a byte order mark tells: PowerShell writes UTF-16 where other shells write UTF-8. */
function encodingOf(head: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  return "utf-8";
}

/** Text of the first bytes of a file, for detection; a character that they cut off becomes U+FFFD. */
export function textOf(head: Uint8Array): string {
  return new TextDecoder(encodingOf(head)).decode(head);
}

/** True where no text has such bytes: zeros in something that is not UTF-16. */
export function isBinary(head: Uint8Array): boolean {
  return encodingOf(head) === "utf-8" && head.includes(0);
}

/** Text of a stream of bytes, as it arrives; bytes that are not text become U+FFFD. */
export async function* textPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  for await (const piece of bytes) {
    decoder ??= new TextDecoder(encodingOf(piece));
    const text = decoder.decode(piece, { stream: true });
    if (text !== "") yield text;
  }
  const rest = decoder?.decode() ?? "";
  if (rest !== "") yield rest;
}

/** Splits text into lines as it arrives. */
class LineSplitter {
  #rest = "";
  /** True where the text so far ended in a carriage return, which a line feed may follow. */
  #carriageWaits = false;
  #number = 1;
  readonly #name: string;
  readonly #maxLength: number;

  constructor(name: string, maxLength: number) {
    this.#name = name;
    this.#maxLength = maxLength;
  }

  /** The lines that end within the next piece of text. */
  take(piece: string): TextLine[] {
    const lines: TextLine[] = [];
    let start = 0;
    const text = this.#carriageWaits ? `\r${piece}` : piece;
    this.#carriageWaits = text.endsWith("\r");
    const end = this.#carriageWaits ? text.length - 1 : text.length;
    let feed = text.indexOf("\n");
    let carriage = text.indexOf("\r");
    while (feed >= 0 || (carriage >= 0 && carriage < end)) {
      const isCarriage = carriage >= 0 && carriage < end && (feed < 0 || carriage < feed);
      const at = isCarriage ? carriage : feed;
      lines.push({ text: this.#rest + text.slice(start, at), number: this.#number });
      this.#rest = "";
      const isFeed = !isCarriage || feed === carriage + 1;
      if (isFeed) this.#number++;
      start = isFeed && isCarriage ? at + 2 : at + 1;
      if (isFeed) feed = text.indexOf("\n", start);
      if (isCarriage) carriage = text.indexOf("\r", start);
    }
    this.#rest += text.slice(start, end);
    if (this.#rest.length > this.#maxLength) {
      throw new UserError(
        `Cannot read ${this.#name}: line ${this.#number} is longer than ${
          this.#maxLength / 2 ** 20
        } MiB, which no line of such a file is; give the file itself`,
      );
    }
    return lines;
  }

  /** What is left at the end. */
  finish(): TextLine[] {
    const line = { text: this.#rest, number: this.#number };
    if (this.#carriageWaits) return [line];
    return line.text === "" ? [] : [{ ...line, isUnended: true }];
  }
}

/**
 * Splits a stream of bytes into lines, which end in a line feed, a carriage return or both. Bytes that are not UTF-8 (or
 * UTF-16, where a byte order mark says so) become U+FFFD, since a console log can hold anything.
 *
 * @param bytes The pieces.
 * @param options.name The file's, for messages.
 * @param options.maxLength The longest line that is kept, in UTF-16 units (default {@linkcode MAX_LINE_LENGTH}).
 * @returns Batches of lines, one a piece.
 * @throws {UserError} When a line is longer.
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  { name, maxLength = MAX_LINE_LENGTH }: { readonly name: string; readonly maxLength?: number },
): AsyncGenerator<readonly TextLine[]> {
  const splitter = new LineSplitter(name, maxLength);
  for await (const text of textPieces(bytes)) {
    const lines = splitter.take(text);
    if (lines.length > 0) yield lines;
  }
  const lines = splitter.finish();
  if (lines.length > 0) yield lines;
}
