/** The metrics of a run of this program as triage reads them: JSON has null for what is NaN or infinite, and that is a finding. */
import { UserError } from "../core/errors.ts";
import { METRICS } from "../rl/metric_dictionary.ts";
import { metricSeries, type RunMetrics } from "../diagnose/metric_series.ts";
import type { NotFinite } from "../diagnose/triage/triage.ts";
import { TRIAGE_METRICS } from "./triage_rules.ts";

/**
 * Takes the metrics that rules read out of the rows of a metrics.jsonl.
 *
 * @param rows One a step.
 * @param options.source What error sentences call the place that the rows come from.
 * @returns The finite numbers as series, and which numbers of the run, whether a rule reads them or not, were not finite.
 * @throws {UserError} When there is no row, none of the metrics has a finite number, or a row is wrong in itself.
 */
export function triageMetrics(
  rows: Iterable<Readonly<Record<string, unknown>>>,
  { source }: { readonly source: string },
): { readonly metrics: RunMetrics; readonly notFinite: readonly NotFinite[] } {
  const notFinite: NotFinite[] = [];
  function* finiteRows(): Generator<Readonly<Record<string, unknown>>> {
    let index = 0;
    let isMeasured = false;
    let firstNull: string | undefined;
    for (const row of rows) {
      const entries = Object.entries(row);
      const finite = entries.filter(([name, value]) =>
        value !== null || !Object.hasOwn(METRICS, name)
      );
      for (const [metric, value] of entries) {
        if (value !== null || !Object.hasOwn(METRICS, metric)) continue;
        notFinite.push({ metric, step: typeof row.step === "number" ? row.step : index });
        firstNull ??= `row ${index + 1}: ${metric}`;
      }
      isMeasured ||= TRIAGE_METRICS.some((name) => typeof row[name] === "number");
      yield finite.length === entries.length ? row : Object.fromEntries(finite);
      index++;
    }
    if (isMeasured || firstNull === undefined) return;
    throw new UserError(
      `Cannot use ${source}, ${firstNull} is null, which stands for NaN or infinity, and no metric has a finite number`,
    );
  }
  const metrics = metricSeries(finiteRows(), { names: TRIAGE_METRICS, source });
  return { metrics, notFinite };
}
