/** Tables with a row per step, whatever they are written in: which column counts the steps, which keys the others are. */
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { escapeControls } from "../core/sentence.ts";
import { parseCell } from "./cell.ts";
import { STEP_KEYS } from "./step_key.ts";
import type { LogEntry, RunLogBuilder } from "./run_log_builder.ts";

/** How a table is read. */
export interface TablePlan {
  /** Index of the column of the steps. */
  readonly stepColumn: number;
  /** The key of each column; undefined where it is none. */
  readonly keys: readonly (string | undefined)[];
}

/**
 * Finds the column that counts the steps.
 *
 * @param names The names of the columns.
 * @param stepKey The name that the user gives.
 * @returns Its index; −1 where none does.
 */
export function findStepColumn(names: readonly string[], stepKey?: string): number {
  if (stepKey !== undefined) return names.indexOf(stepKey);
  const written = names.map((name) => name.toLowerCase().replaceAll(" ", "_"));
  const key = STEP_KEYS.find((name) => written.includes(name));
  return key === undefined ? -1 : written.indexOf(key);
}

/** Names for a sentence: the first few of many. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 8).map((name) => escapeControls(name.slice(0, 60))).join(", ");
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}

/** Plans a table whose columns are called as the keys are. @throws {UserError} When no column counts the steps. */
export function planTable(
  names: readonly string[],
  { where, stepKey, builder }: {
    readonly where: string;
    readonly stepKey: string | undefined;
    readonly builder: RunLogBuilder;
  },
): TablePlan {
  const stepColumn = findStepColumn(names, stepKey);
  if (stepColumn < 0 && stepKey !== undefined) {
    throw new UserError(
      `Cannot read ${where}: it has no column ${JSON.stringify(stepKey)} to count the steps ` +
        `(there are ${listNames(names)})`,
    );
  }
  if (stepColumn < 0) {
    throw new UserError(
      sentence`Cannot read ${where}: no column counts the steps (there are ${
        listNames(names)
      }); say which one does with ${setting("map", "COLUMN=step")}`,
    );
  }
  const seen = new Set<string>();
  const keys = names.map((name, column) => {
    if (column === stepColumn || name === "") return undefined;
    if (seen.has(name)) builder.ignore("columns whose name occurs twice", name);
    else if (seen.add(name)) return name;
    return undefined;
  });
  return { stepColumn, keys };
}

/** Adds a row of a table. An empty cell says nothing. */
export function addTableRow(
  cells: readonly string[],
  { line, plan: { stepColumn, keys }, builder }: {
    readonly line: number;
    readonly plan: TablePlan;
    readonly builder: RunLogBuilder;
  },
): void {
  const step = parseCell(cells[stepColumn]?.trim() ?? "");
  if (typeof step !== "number" || !Number.isFinite(step)) {
    if (cells.length > 1) builder.ignore("rows without a step", `line ${line}`);
    return;
  }
  const entries: LogEntry[] = [];
  for (let column = 0; column < keys.length && column < cells.length; column++) {
    const key = keys[column];
    const text = cells[column].trim();
    if (key === undefined || text === "") continue;
    const value = parseCell(text);
    if (value === undefined) builder.ignore("cells that are not numbers", `${key}: ${text}`);
    else entries.push([key, value, text]);
  }
  builder.add(step, { line }, entries);
}
