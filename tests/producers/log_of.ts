/** Logs for tests, from rows as a reader would add them. */
import { type LogValue, RunLogBuilder } from "../../src/logs/run_log_builder.ts";
import type { RunLog } from "../../src/logs/run_log.ts";

/** A log whose steps are 1, 2, …; keys that a row leaves out have no value there. */
export function logOf(
  rows: readonly Readonly<Record<string, LogValue>>[],
  { form = "jsonl", producer }: { readonly form?: string; readonly producer?: string } = {},
): RunLog {
  const builder = new RunLogBuilder();
  builder.beginFile("log");
  rows.forEach((row, index) => builder.add(index + 1, { line: index + 1 }, Object.entries(row)));
  return builder.finish({ path: "log", form, ...(producer && { producer }) });
}

/** A log of three rows in which every key rises from 0.1234567: many digits, nothing special. */
export function logWithKeys(
  keys: Iterable<string>,
  options: { readonly form?: string } = {},
): RunLog {
  const names = [...keys];
  const rows = [1, 2, 3].map((n) => Object.fromEntries(names.map((key) => [key, n * 0.1234567])));
  return logOf(rows, options);
}
