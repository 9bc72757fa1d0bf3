/** Rows of a dump in JSONL: one object per line, with the bare NaN and Infinity that Python writes. */
import type { LogInput } from "../logs/reader.ts";
import { endOfQuoted } from "../logs/literal.ts";
import { isBinary, linesOf, textOf } from "../logs/text_lines.ts";
import { UserError } from "../core/errors.ts";
import { Field } from "./field.ts";
import type { TokenNotes } from "./token_reader.ts";

/** The longest row that is read, in UTF-16 units: a million tokens with six numbers each. */
const MAX_ROW_LENGTH = 128 * 2 ** 20;

const BARE = /["NI]/g;
const WORD = /-?(?:NaN|Infinity)/y;

/** A text of JSON with its bare NaN and Infinity in quotes, which {@linkcode Field} reads as numbers. */
export function quoteNonFinite(text: string): string {
  let quoted = "";
  let done = 0;
  BARE.lastIndex = 0;
  for (let found = BARE.exec(text); found; found = BARE.exec(text)) {
    const at = found.index;
    if (found[0] === '"') {
      const end = endOfQuoted(text, at);
      if (end < 0) break;
      BARE.lastIndex = end + 1;
      continue;
    }
    WORD.lastIndex = text[at - 1] === "-" ? at - 1 : at;
    const start = WORD.lastIndex;
    const word = WORD.exec(text)?.[0];
    if (word === undefined) break;
    quoted += `${text.slice(done, start)}"${word}"`;
    done = BARE.lastIndex = start + word.length;
  }
  return quoted + text.slice(done);
}

/** Parses a row; undefined where it is not JSON. */
function parse(text: string): { readonly value: unknown } | undefined {
  for (const read of [(line: string) => line, quoteNonFinite]) {
    try {
      return { value: JSON.parse(read(text)) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

/**
 * The rows of a dump, one at a time.
 *
 * @yields Each as the field that it is: an object.
 * @throws {UserError} When a line is longer than 128 Mi characters or is not a JSON object. A half-written last line is noted.
 */
export async function* jsonRows(input: LogInput, notes: TokenNotes): AsyncGenerator<Field> {
  const { name } = input;
  const lines = linesOf(input.bytes(), { name, maxLength: MAX_ROW_LENGTH });
  for await (const batch of lines) {
    for (const { text, number, isUnended } of batch) {
      if (text.trim() === "") continue;
      const row = parse(text);
      const isObject = typeof row?.value === "object" && row.value !== null &&
        !Array.isArray(row.value);
      if (row && isObject) yield new Field(row.value, { file: name, row: number });
      else if (isUnended) notes.ignore("a half-written last line", name);
      else {
        throw new UserError(
          `Cannot read ${name}, row ${number}: it is not ${row ? "an object" : "valid JSON"}, ` +
            "but each line must be one object of JSON",
        );
      }
    }
  }
}

/** Keys of the first row of a file of JSONL, as far as its first bytes show them; undefined where it is something else. */
export function firstKeys(head: Uint8Array): ReadonlySet<string> | undefined {
  if (isBinary(head)) return undefined;
  const [line] = textOf(head).trimStart().split("\n", 1);
  if (!line.startsWith("{")) return undefined;
  const keys = new Set<string>();
  let depth = 0;
  let quoted = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (c === '"') {
      const end = endOfQuoted(line, i);
      if (end < 0) break;
      if (depth === 1) quoted = line.slice(i + 1, end);
      i = end;
    } else if (c === "{" || c === "[") depth++;
    else if (c === "}" || c === "]") depth--;
    else if (c === ":" && depth === 1) keys.add(quoted);
  }
  return keys;
}
