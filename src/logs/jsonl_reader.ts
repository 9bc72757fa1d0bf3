/** Readers of JSONL logs: one object per line. */
import { headLines } from "./console_reader.ts";
import { jsonFields } from "./fields.ts";
import { fieldsSoFar, type LogField } from "./literal.ts";
import type { LogReader } from "./reader.ts";
import { type RowForm, RowLog } from "./row_log.ts";
import { isBinary } from "./text_lines.ts";

/** One form of JSONL. */
export interface JsonlForm extends Pick<LogReader, "form" | "title" | "howToGet" | "producer"> {
  /** How surely the first rows are of this form. */
  readonly sureness: (rows: readonly (readonly LogField[])[]) => number;
  /** How rows are read. */
  readonly rows: RowForm;
  /** Makes one row's fields those of a log, where they are not. */
  readonly unwrap?: (fields: readonly LogField[]) => readonly LogField[];
}

/** The rows in the first lines of a file; undefined where they are mostly something else. */
export function headRows(head: Uint8Array): readonly (readonly LogField[])[] | undefined {
  if (isBinary(head)) return undefined;
  const rows: (readonly LogField[])[] = [];
  let others = 0;
  for (const { text, isUnended } of headLines(head)) {
    if (text.trim() === "") continue;
    const fields = jsonFields(text);
    if (fields) rows.push(fields);
    else if (!isUnended) others++;
    // A first row that is longer than the head.
    else if (rows.length + others === 0 && text.startsWith('{"')) rows.push(fieldsSoFar(text));
  }
  return rows.length > others ? rows : undefined;
}

/** The reader of a form of JSONL. */
export function jsonlReader(form: JsonlForm): LogReader {
  return {
    form: form.form,
    title: form.title,
    howToGet: form.howToGet,
    ...(form.producer !== undefined && { producer: form.producer }),
    detect(head) {
      const rows = headRows(head);
      return rows ? form.sureness(rows) : 0;
    },
    async read(input, builder, options = {}) {
      const log = new RowLog(builder, { name: input.name, options, form: form.rows });
      for await (const lines of input.lines()) {
        for (const { text, number, isUnended } of lines) {
          const fields = jsonFields(text);
          if (fields) log.take(form.unwrap ? form.unwrap(fields) : fields, number);
          else if (text.trim() !== "") {
            builder.ignore(
              isUnended ? "a half-written last line" : "lines that are not JSON objects",
              text,
            );
          }
        }
      }
      log.end();
    },
  };
}

/** True where at least half of the rows have a key. */
export function mostHave(
  rows: readonly (readonly LogField[])[],
  pattern: RegExp,
): boolean {
  const having = rows.filter((row) => row.some(({ key }) => pattern.test(key))).length;
  return having > 0 && having * 2 >= rows.length;
}
