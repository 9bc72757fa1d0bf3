/** Tables in HTML: in the outputs of a notebook, and in what a notebook was exported to (.html, .md). */
import { unreadable } from "./describe_head.ts";
import { UserError } from "../core/errors.ts";
import type { LogInput, LogReader, ReadOptions } from "./reader.ts";
import type { RunLogBuilder } from "./run_log_builder.ts";
import { addStepTables, type StepTable } from "./step_tables.ts";
import { findStepColumn } from "./table.ts";
import { isBinary, textOf } from "./text_lines.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: " ",
};

function textOfHtml(html: string): string {
  return html.replace(/<[^<>]*>/g, "")
    .replace(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity).trim();
}

/** Rows of cells in a piece of HTML: what follows each `<tr` and in it behind each `<th` or `<td`. */
function rowsOfHtml(html: string): string[][] {
  return html.split(/<tr\b/i).slice(1).map((row) =>
    row.split(/<t[hd]\b/i).slice(1).map((cell) => textOfHtml(`<td${cell.split(/<\/t[hd]>/i)[0]}`))
  );
}

/**
 * The tables with a column of steps in a piece of HTML.
 *
 * @param line Where it is in its file.
 */
export function tablesOfHtml(html: string, line: number): StepTable[] {
  return html.split(/<table\b/i).slice(1).flatMap((table) => {
    const [titles, ...rows] = rowsOfHtml(table).filter((cells) => cells.length > 0);
    if (titles === undefined || findStepColumn(titles) < 0) return [];
    return [{ titles, rows: rows.map((cells) => ({ cells, line })) }];
  });
}

/** Tables of trainings have some thousand rows; what is longer without an end is none. */
const MAX_TABLE_LENGTH = 32 * 2 ** 20;

async function readHtml(
  input: LogInput,
  builder: RunLogBuilder,
  { stepKey }: ReadOptions = {},
): Promise<void> {
  const tables: StepTable[] = [];
  let open: { parts: string[]; length: number; readonly line: number } | undefined;
  for await (const batch of input.lines()) {
    for (const { text, number: line } of batch) {
      const start = open ? 0 : text.search(/<table\b/i);
      if (start < 0) continue;
      open ??= { parts: [], length: 0, line };
      open.parts.push(text);
      open.length += text.length;
      if (/<\/table>/i.test(text)) tables.push(...tablesOfHtml(open.parts.join("\n"), open.line));
      else if (open.length <= MAX_TABLE_LENGTH) continue;
      open = undefined;
    }
  }
  if (open) {
    // The last cell of a table without an end may be cut; whole rows are whole.
    const whole = open.parts.join("\n").replace(/(<\/tr>)(?![\s\S]*<\/tr>)[\s\S]*$/i, "$1");
    if (/<\/tr>$/i.test(whole)) tables.push(...tablesOfHtml(whole, open.line));
    builder.ignore("a table that the end of the file truncates", `line ${open.line}`);
  }
  if (tables.length === 0) throw new UserError(unreadable(input.name, input.head));
  addStepTables(tables, { builder, stepKey });
}

/** Exports of notebooks begin with a style sheet that fills the head: any other reader that knows a file knows better. */
const PERHAPS = 0.02;

/** Texts with tables in HTML. The place of a row is the line at which its table begins. */
export const HTML_TABLES: LogReader = {
  form: "html_tables",
  title: "exported notebooks (.html, .md) and other texts with an HTML table of steps",
  howToGet: ["a notebook with its outputs: jupyter nbconvert --to markdown (or html) NOTEBOOK"],
  detect(head) {
    if (isBinary(head)) return 0;
    const text = textOf(head);
    if (/<table\b/i.test(text) && tablesOfHtml(text, 1).length > 0) return 0.7;
    return /^\s*<(?:!doctype html|html)\b/i.test(text) ? PERHAPS : 0;
  },
  read: readHtml,
};
