/** Markdown tables with a column of steps, alone or within a text such as an issue. */
import type { LogInput, LogReader, ReadOptions } from "./reader.ts";
import type { RunLogBuilder } from "./run_log_builder.ts";
import { addStepTables, type StepTable } from "./step_tables.ts";
import { findStepColumn } from "./table.ts";
import { isBinary, textOf } from "./text_lines.ts";

/** Cells of a line of a table, without what dresses them up; undefined where the line is none. */
function cellsOf(line: string): string[] | undefined {
  if (!line.includes("|")) return undefined;
  // An escaped bar belongs to its cell.
  const cells = line.trim().split(/(?<!\\)\|/).map((cell) =>
    cell.replace(/\\([|_*])/g, "$1").replace(/^[\s*`]+|[\s*`]+$/g, "")
  );
  if (cells[0] === "") cells.shift();
  if (cells.at(-1) === "" && /\|\s*$/.test(line)) cells.pop();
  return cells.length >= 2 ? cells : undefined;
}

const isRule = (cells: readonly string[]) => cells.every((cell) => /^:?-+:?$/.test(cell));

interface OpenTable extends StepTable {
  readonly rows: { cells: readonly string[]; line: number }[];
}

async function readTables(
  input: LogInput,
  builder: RunLogBuilder,
  { stepKey }: ReadOptions = {},
): Promise<void> {
  const tables: OpenTable[] = [];
  let open: OpenTable | undefined;
  for await (const batch of input.lines()) {
    for (const { text, number: line, isUnended } of batch) {
      const cells = cellsOf(text);
      if (cells === undefined) {
        open = undefined;
        if (text.trim() !== "") builder.ignore("lines of text", text);
      } else if (open === undefined) {
        if (findStepColumn(cells, stepKey) >= 0) tables.push(open = { titles: cells, rows: [] });
        else builder.ignore("lines of text", text);
      } else if (!isRule(cells)) {
        // Without its closing bar the last cell of a cut line may be cut as well.
        const isCut = isUnended === true && !/\|\s*$/.test(text);
        if (isCut) builder.ignore("a last value that may be cut off", cells.at(-1) ?? "");
        open.rows.push({ cells: isCut ? cells.slice(0, -1) : cells, line });
      }
    }
  }
  addStepTables(tables, { builder, stepKey });
}

/** Markdown tables. */
export const MARKDOWN: LogReader = {
  form: "markdown",
  title: "Markdown tables with a column of steps",
  howToGet: ["a notebook's table pasted into an issue, or pandas' df.to_markdown()"],
  detect(head) {
    if (isBinary(head)) return 0;
    const lines = textOf(head).split(/\r\n|\r|\n/);
    const isTable = lines.some((line, index) => {
      const header = cellsOf(line);
      const rule = cellsOf(lines[index + 1] ?? "");
      return header && rule && isRule(rule) && findStepColumn(header) >= 0;
    });
    return isTable ? 0.7 : 0;
  },
  read: readTables,
};
