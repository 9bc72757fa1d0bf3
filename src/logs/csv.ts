/** CSV files with a row per step: any with a column that counts the steps, and those that W&B's panels export. */
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { csvRecords, separatorOf, splitCells } from "./csv_records.ts";
import { parseCell } from "./cell.ts";
import type { LogInput, LogReader, ReadOptions } from "./reader.ts";
import type { RunLogBuilder } from "./run_log_builder.ts";
import { addTableRow, findStepColumn, listNames, planTable, type TablePlan } from "./table.ts";
import { isBinary, textOf } from "./text_lines.ts";

type Planner = (header: readonly string[]) => TablePlan;

async function readRows(
  input: LogInput,
  { builder, plan: planOf }: { readonly builder: RunLogBuilder; readonly plan: Planner },
): Promise<void> {
  let plan: TablePlan | undefined;
  for await (const records of csvRecords(input, builder)) {
    for (const { cells, line, unfinished } of records) {
      if (plan === undefined) {
        plan = planOf(cells.map((cell) => cell.trim()));
        continue;
      }
      if (unfinished && cells.at(-1) !== "") {
        builder.ignore(
          "a last value that may be cut off (its line has no end)",
          cells.at(-1) ?? "",
        );
      }
      if (cells.length > plan.keys.length) {
        builder.ignore("cells beyond the header", `line ${line}`);
      }
      addTableRow(unfinished ? cells.slice(0, -1) : cells, { line, plan, builder });
    }
  }
}

/** The first two lines of a file as cells; a line that the head cuts off is left out, the first one is not. */
function firstRecords(head: Uint8Array): readonly (readonly string[])[] {
  if (isBinary(head)) return [];
  const lines = textOf(head).split(/\r\n|\r|\n/).slice(0, 3);
  const separator = separatorOf(lines[0]);
  if (separator === undefined) return [];
  return lines.slice(0, Math.max(1, Math.min(2, lines.length - 1)))
    .map((line) => splitCells(line, separator).map((cell) => cell.trim()));
}

const isNumeric = (cell: string) => cell === "" || parseCell(cell) !== undefined;

/** True where a text is a name and neither code nor prose. */
const isName = (cell: string) => cell.length < 200 && !/[{}[\]]/.test(cell) && !isNumeric(cell);

/** CSV with a column that counts the steps. */
export const CSV: LogReader = {
  form: "csv",
  title: "CSV with a column of steps (also with semicolons or tabs)",
  howToGet: [
    "pandas: pd.DataFrame(trainer.state.log_history).to_csv('log.csv')",
    "Lightning: CSVLogger; its metrics.csv",
    sentence`any other: a header and a row per step; ${
      setting("map", "COLUMN=step")
    } names the column of the steps`,
  ],
  detect(head) {
    const [header = [], row] = firstRecords(head);
    const names = header.filter((cell) => cell !== "");
    if (header.length < 2 || names.length < header.length - 1 || !names.every(isName)) return 0;
    const hasStep = findStepColumn(header) >= 0;
    // A header of many columns fills the head alone.
    if (row === undefined) return hasStep ? 0.8 : 0;
    const hasNumbers = row.some((cell) => cell !== "" && isNumeric(cell));
    if (!hasNumbers || row.length !== header.length) return 0;
    return hasStep ? 0.8 : 0.4;
  },
  read: (input, builder, options = {}) =>
    readRows(input, {
      builder,
      plan: (header) => planTable(header, { where: input.name, builder, stepKey: options.stepKey }),
    }),
};

/** Run and key in a column's name; the key is behind the last dash, since names of runs have some. */
function splitColumn(name: string): { readonly run: string; readonly key: string } | undefined {
  const at = name.lastIndexOf(" - ");
  return at > 0 ? { run: name.slice(0, at), key: name.slice(at + 3) } : undefined;
}

/** W&B's bounds of what a pixel of the panel covers. */
const BOUND = /__(?:MIN|MAX)$/;

function chooseRun(runs: readonly string[], { name, run }: { name: string; run?: string }): string {
  const [only] = runs;
  if (run === undefined && runs.length === 1) return only;
  if (run !== undefined && runs.includes(run)) return run;
  const found = run === undefined
    ? `it holds ${runs.length} runs`
    : `it has no run ${JSON.stringify(run)}`;
  throw new UserError(
    sentence`Cannot read ${name}: ${found}; choose one with ${setting("run", "NAME")}: ${
      listNames(runs)
    }`,
  );
}

function planPanel(
  header: readonly string[],
  { input, builder, options }: {
    readonly input: LogInput;
    readonly builder: RunLogBuilder;
    readonly options: ReadOptions;
  },
): TablePlan {
  const columns = header.map(splitColumn);
  const runs = Array.from(new Set(columns.flatMap((column) => column?.run ?? [])));
  const run = chooseRun(runs, { name: input.name, ...(options.run && { run: options.run }) });
  const isOwnStep = (index: number) =>
    columns[index]?.run === run && columns[index]?.key === "_step";
  const named = findStepColumn(header, options.stepKey);
  const stepColumn = named >= 0 ? named : header.findIndex((_, index) => isOwnStep(index));
  if (stepColumn < 0) {
    throw new UserError(
      sentence`Cannot read ${input.name}: its x axis is ${
        JSON.stringify(header[0])
      } and no step; set the panel's x axis to Step and export it again, or say ${
        setting("map", "COLUMN=step")
      }`,
    );
  }
  const keys = columns.map((column, index) => {
    if (column === undefined || column.run !== run || index === stepColumn) return undefined;
    if (BOUND.test(column.key)) builder.ignore("columns of bounds (__MIN, __MAX)", column.key);
    else if (column.key !== "_step") return column.key;
    return undefined;
  });
  const others = runs.filter((name) => name !== run);
  for (const other of others) builder.ignore("other runs of the file", other);
  return { stepColumn, keys };
}

/** CSV files of W&B's panels. */
export const WANDB_CSV: LogReader = {
  form: "wandb_csv",
  title: sentence`Weights & Biases panel export (CSV, one run or ${
    setting("run", "NAME")
  } of several)`,
  howToGet: [
    "in a panel's menu: Export, CSV; x axis Step. The export samples long runs:",
    "the whole history is in the offline file, or in run.scan_history() as JSONL",
  ],
  detect(head) {
    const [header = []] = firstRecords(head);
    const [, ...series] = header;
    return series.length > 0 && series.every((name) => splitColumn(name) !== undefined) ? 0.9 : 0;
  },
  read: (input, builder, options = {}) =>
    readRows(input, {
      builder,
      plan: (header) => planPanel(header, { input, builder, options }),
    }),
};
