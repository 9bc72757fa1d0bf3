/**
 * Counts, over runs of the development half, how often the cause that a rule ranks first is the fault or near it: the numbers of
 * src/faults/triage_beliefs.ts. Usage: deno run -A tests/fault_library/count_beliefs.ts runs/fault-library/faults
 */
import { markdownTable } from "../../src/core/markdown_table.ts";
import type { Cause } from "../../src/diagnose/triage/triage.ts";
import { exists, namesIn } from "../../src/files/paths.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { RULES } from "../../src/faults/triage_rules.ts";
import { triageRun } from "../../src/run/triage_run.ts";
import { halfOf, nearOf } from "./fault.ts";
import { PLANTED } from "./faults.ts";

/** The symptom that makes a cause as likely as it is: the strongest of those that name it. */
function strongestSymptom({ fault, evidence }: Cause): string {
  const seen = new Set(evidence.map(({ symptom }) => symptom));
  const shares = RULES.filter(({ symptom }) => seen.has(symptom)).map(({ symptom, causes }) => ({
    symptom,
    share: Object.entries(causes).find(([name]) => name === fault)?.[1] ?? 0,
  }));
  return shares.sort((a, b) => b.share - a.share)[0]?.symptom ?? "";
}

const [folder = "runs/fault-library/faults"] = Deno.args;
const counts = new Map<string, { right: string[]; wrong: string[] }>();
for (const entry of namesIn(folder).sort()) {
  const [, name = "", seed = ""] = /^(.+)-seed(\d+)$/.exec(entry) ?? [];
  const fault = PLANTED.find((planted) => planted.name === name);
  if (!fault || halfOf(name) !== "development") continue;
  const path = `${folder}/${entry}`;
  if (!exists(runPaths(path).metrics)) continue; // Not begun.
  const { causes: [first] } = triageRun(path).report;
  if (!first) continue;
  const key = `${strongestSymptom(first)}\n${first.fault}`;
  const count = counts.get(key) ?? { right: [], wrong: [] };
  const isRight = [...fault.named, ...nearOf(fault)].includes(first.fault);
  count[isRight ? "right" : "wrong"].push(`${name} ${seed}`);
  counts.set(key, count);
}
const rows = [...counts].map(([key, { right, wrong }]) => [
  ...key.split("\n"),
  String(right.length),
  String(wrong.length),
  [...right, ...wrong.map((name) => `not ${name}`)].join(", "),
]);
console.log(markdownTable(["symptom", "cause", "right", "wrong", "runs"], rows).join("\n"));
