/** Says in words what a file is that no reader knows. */
import { command, type Sentence, sentence } from "../core/mention.ts";
import { headRows } from "./jsonl_reader.ts";
import { isBinary, textOf } from "./text_lines.ts";

/** First bytes of files that people take for logs, as Latin-1. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ["\x1f\x8b", "a gzip file"],
  ["PK\x03\x04", "a ZIP archive (or a PyTorch file, which is one)"],
  ["PAR1", "a Parquet file"],
  ["\x80\x02", "a Python pickle"],
  ["\x80\x03", "a Python pickle"],
  ["\x80\x04", "a Python pickle"],
  ["\x80\x05", "a Python pickle"],
  ["\x28\xb5\x2f\xfd", "a Zstandard file"],
  ["SQLite format 3", "an SQLite database"],
  ["\x89PNG", "a PNG image"],
  ["%PDF", "a PDF document"],
  ["\x7fELF", "a program"],
];

const MAX_SHOWN = 60;

/** Text that is fit for a terminal: on one line, and short. */
function shown(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\ufffd]+/gu, " ").trim();
  const short = plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN)}…` : plain;
  return JSON.stringify(short);
}

/** What the first bytes of a file show, for example `JSON lines with the keys input, output, score`. */
export function describeHead(head: Uint8Array): string {
  if (head.length === 0) return "empty";
  const latin = Array.from(head.subarray(0, 16), (byte) => String.fromCharCode(byte)).join("");
  const signature = SIGNATURES.find(([bytes]) => latin.startsWith(bytes));
  if (signature) return signature[1];
  if (isBinary(head)) {
    // After eight bytes of its length the header is JSON.
    if (latin.startsWith('{"', 8)) return "a safetensors file";
    const bytes = Array.from(head.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0"));
    return `binary data (its first bytes are ${bytes.join(" ")})`;
  }
  const rows = headRows(head);
  if (rows && rows.length > 0) {
    const keys = rows[0].slice(0, 6).map(({ key }) => shown(key).slice(1, -1));
    return keys.length === 0
      ? "JSON lines without keys"
      : `JSON lines with the keys ${keys.join(", ")}`;
  }
  const first = textOf(head).split(/[\r\n]+/).find((line) => line.trim() !== "");
  return first === undefined ? "nothing but whitespace" : `text that begins with ${shown(first)}`;
}

/** The sentence for a file that no reader knows. */
export function unreadable(name: string, head: Uint8Array): Sentence {
  return sentence`Cannot read ${name}: it is ${
    describeHead(head)
  }, and holds no metrics in a known form; \`${command("formats")}\` lists what is read`;
}
