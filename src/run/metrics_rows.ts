/** The rows of a metrics.jsonl that agentrl wrote, held to their type. */
import { UserError } from "../core/errors.ts";
import { type JournalRow, rowsOf } from "../files/journal.ts";
import { missingKey, OWN_METRIC } from "../producers/agentrl.ts";
import { METRICS } from "../rl/metric_dictionary.ts";
import type { MetricsRow } from "../rl/metrics.ts";

/**
 * A row as the type has it. JSON has null for what was not finite: it becomes NaN. Keys that are not a metric stay away.
 *
 * @param row As it was read.
 * @param options.source What error sentences call the place that it comes from.
 * @throws {UserError} When its step is not a whole number, a metric of every row is missing, or one is not a number.
 */
export function asMetricsRow(row: JournalRow, { source }: { readonly source: string }): MetricsRow {
  const { step } = row;
  if (typeof step !== "number" || !Number.isInteger(step) || step < 0) {
    throw new UserError(
      `Cannot use ${source}: step is ${
        JSON.stringify(step)
      }, but must be a whole number of at least 0`,
    );
  }
  const missing = missingKey((name) => Object.hasOwn(row, name));
  if (missing !== undefined) {
    throw new UserError(`Cannot use ${source}: ${missing} is missing in step ${step}`);
  }
  const metrics = Object.entries(row).flatMap(([name, value]) => {
    if (!Object.hasOwn(METRICS, name) && !OWN_METRIC.test(name)) return [];
    if (typeof value === "number" || value === null) return [[name, value ?? NaN] as const];
    throw new UserError(
      `Cannot use ${source}: ${name} is ${
        JSON.stringify(value)
      } in step ${step}, but must be a number`,
    );
  });
  // Every key of the type is there, and is a number: checked above.
  return { step, ...Object.fromEntries(metrics) } as unknown as MetricsRow;
}

/**
 * Reads all rows.
 *
 * @param path The metrics.jsonl.
 * @throws {UserError} When it cannot be read, or a row is not a row of ours.
 */
export function readMetricsRows(path: string): MetricsRow[] {
  return Array.from(
    rowsOf(path),
    (row, i) => asMetricsRow(row, { source: `${path}, row ${i + 1}` }),
  );
}
