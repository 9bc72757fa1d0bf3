/** Tables as the Hugging Face notebook callback shows them: their titles, and which of several speak of the run. */
import { addTableRow, findStepColumn, type TablePlan } from "./table.ts";
import { parseCell } from "./cell.ts";
import type { RunLogBuilder } from "./run_log_builder.ts";

/** A table in a notebook or a text. */
export interface StepTable {
  readonly titles: readonly string[];
  readonly rows: readonly { readonly cells: readonly string[]; readonly line: number }[];
}

/** What the notebook callback renames. */
const TITLES: Readonly<Record<string, string>> = {
  "Training Loss": "loss",
  "Validation Loss": "eval_loss",
};

/** The key behind a title: the notebook's own names undone, and " / " is "/". */
export function keyOfTitle(title: string): string {
  return TITLES[title] ?? title.replaceAll(" / ", "/");
}

function stepsOf({ titles, rows }: StepTable): number[] {
  const column = findStepColumn(titles);
  return rows.map(({ cells }) => Number(parseCell(cells[column]?.trim() ?? "")));
}

/**
 * Of the tables of one document those of one run: with rewards where any has some (a warm-up on demonstrations often comes
 * first), the last one, and before it those that it continues.
 */
function tablesOfRun(tables: readonly StepTable[]): readonly StepTable[] {
  const isRl = ({ titles }: StepTable) => titles.some((title) => /reward/i.test(title));
  const candidates = tables.some(isRl) ? tables.filter(isRl) : tables;
  const chosen: StepTable[] = [];
  let firstStep = Infinity;
  for (const table of candidates.toReversed()) {
    const steps = stepsOf(table);
    if (chosen.length > 0 && !((steps.at(-1) ?? Infinity) < firstStep)) break;
    chosen.unshift(table);
    firstStep = steps[0] ?? firstStep;
  }
  return chosen;
}

/** Adds the tables of one run, and notes the others. */
export function addStepTables(
  tables: readonly StepTable[],
  { builder, stepKey }: { readonly builder: RunLogBuilder; readonly stepKey: string | undefined },
): void {
  const filled = tables.filter(({ rows }) => rows.length > 0);
  const chosen = new Set(tablesOfRun(filled));
  for (const table of filled) {
    if (!chosen.has(table)) {
      builder.ignore(
        "tables of another run",
        `line ${table.rows[0]?.line}: ${table.titles.join()}`,
      );
      continue;
    }
    const stepColumn = findStepColumn(table.titles, stepKey);
    const keys = table.titles.map((title, column) =>
      column === stepColumn || title === "" ? undefined : keyOfTitle(title)
    );
    const plan: TablePlan = { stepColumn, keys };
    for (const { cells, line } of table.rows) addTableRow(cells, { line, plan, builder });
  }
}
