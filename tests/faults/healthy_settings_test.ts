/** Triage is silent about runs of the right trainer under many settings (healthy_settings.json; healthy_settings.ts makes it). */
import { assert, assertEquals } from "@std/assert";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { metricSeries } from "../../src/diagnose/metric_series.ts";
import type { RecordedCheck } from "../../src/diagnose/triage/evaluate.ts";
import { triage, type TriageReport } from "../../src/diagnose/triage/triage.ts";
import { tinyAgentKnowledge } from "../../src/faults/tiny_agent_knowledge.ts";
import { TRIAGE_METRICS } from "../../src/faults/triage_rules.ts";
import type { HealthyRun } from "./healthy_settings.ts";
import data from "./healthy_settings.json" with { type: "json" };

const RUNS: readonly HealthyRun[] = data;
const KNOWLEDGE = tinyAgentKnowledge();

function metricsOf({ name, columns }: HealthyRun) {
  const rows: Record<string, number>[] = [];
  for (const [metric, text] of Object.entries(columns)) {
    text.split(" ").forEach((cell, step) => {
      const row = rows[step] ??= { step };
      if (cell !== "-") row[metric] = Number(cell);
    });
  }
  return metricSeries(rows, { names: TRIAGE_METRICS, source: name });
}

/** What the checks said: all that apply hold. */
function checksOf({ notApplicable }: HealthyRun): RecordedCheck[] {
  return INVARIANTS.map(({ id, name }) => {
    const applies = !notApplicable.includes(id);
    return {
      id,
      name,
      value: applies ? 0 : null,
      bound: 0,
      verdict: applies ? "holds" : "not-applicable",
    };
  });
}

/** With the verdicts, and from a log alone whose setting is told. */
function judge(run: HealthyRun): TriageReport[] {
  const { algorithm, settings } = run;
  const told = { metrics: metricsOf(run), producer: "agentrl", algorithm, settings };
  return [{ ...told, checks: checksOf(run) }, told].map((input) => triage(input, KNOWLEDGE));
}

Deno.test("triage() says nothing against the right trainer, whatever its setting", () => {
  assert(RUNS.length >= 20, "many settings");
  for (const run of RUNS) {
    for (const { conclusion, causes, evidence } of judge(run)) {
      const silent = conclusion === "nothing-fired" || conclusion === "falls-short";
      assert(
        silent && causes.length === 0,
        `${run.name}: ${conclusion} ${JSON.stringify(evidence)}`,
      );
    }
  }
});

Deno.test("triage() holds against the healthy runs those of their setting alone", () => {
  const compared = RUNS.filter((run) => judge(run)[0]?.notCompared.length === 0);
  // Only the learning rate, the seed and how a batch is cut differ from the pinned runs.
  assertEquals(compared.map(({ name }) => name).sort(), ["lr_half", "lr_twice", "micro4"]);
});

Deno.test("triage() would name causes for these runs if their settings were not told", () => {
  // So that the silence above is that of the settings, and not of rules that never fire.
  const named = RUNS.flatMap((run) => triage({ metrics: metricsOf(run) }, KNOWLEDGE).causes);
  const faults = new Set(named.map(({ fault }) => fault));
  assert(faults.has("stale_old_logp") && faults.has("length_bias"), [...faults].join());
});
