/** `agentrl triage --measure`: the confusion matrix and the healthy reference of runs with known faults. */
import { confusionRows, confusionTable, type TriagedRun } from "../src/faults/confusion.ts";
import { writeFileAtomic } from "../src/files/atomic_file.ts";
import { writeJson } from "../src/files/json.ts";
import { requireOutput } from "../src/files/output.ts";
import { namesIn } from "../src/files/paths.ts";
import { measureTriage, type TriageMeasurement } from "../src/run/triage_measure.ts";
import type { Outcome } from "./command.ts";

/** The measurement as a page in Markdown. */
export function measurementPage({ withChecks, metricsOnly }: TriageMeasurement): string {
  const table = (runs: readonly TriagedRun[]) => confusionTable(confusionRows(runs));
  return [
    "# What triage answers",
    "",
    "Runs of the catalogue by their true cause, with the causes that triage ranks first. Controls and",
    "healthy runs are right where no fault is named and no symptom is without a cause: `nothing-fired`,",
    "or `falls-short` where exploration has not paid. The healthy seeds 0 to 2 are the reference itself;",
    "the other seeds are not in it. Belief is the mean belief in the first-ranked cause.",
    "",
    "    for seed in 0 1 2; do cli/agentrl faults --seed $seed; done",
    "    for seed in 3 4 5 6 7 8 9; do cli/agentrl faults healthy --seed $seed; done",
    "    cli/agentrl triage --measure runs",
    "",
    "regenerates these tables, as `runs/triage_confusion.md`, and the pinned `healthy_reference.json`",
    "beside it.",
    "",
    "## With the invariants' verdicts, as a run's folder holds them",
    "",
    ...table(withChecks),
    "",
    "## From the metrics alone, as anybody's JSONL",
    "",
    ...table(metricsOnly),
    "",
  ].join("\n");
}

/** Measures the runs of a folder, and writes both files into it. */
export function measureRuns(folder: string): Outcome {
  const outputs = [`${folder}/healthy_reference.json`, `${folder}/triage_confusion.md`];
  const inputs = namesIn(folder).filter((name) => /^faults-seed\d+$/.test(name));
  for (const output of outputs) {
    requireOutput(output, { inputs: inputs.map((name) => `${folder}/${name}`) });
  }
  const measurement = measureTriage(folder);
  const page = measurementPage(measurement);
  writeJson(outputs[0], measurement.reference);
  writeFileAtomic(outputs[1], page);
  const { withChecks, metricsOnly } = measurement;
  return { document: { withChecks, metricsOnly }, text: page };
}
