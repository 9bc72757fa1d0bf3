/** `agentrl triage --measure`: the confusion matrix and the healthy reference of runs with known faults. */
import { writeFileAtomic } from "../src/files/atomic_file.ts";
import { writeJson } from "../src/files/json.ts";
import { requireOutput } from "../src/files/output.ts";
import { namesIn } from "../src/files/paths.ts";
import { measurementPage, measureTriage } from "../src/run/triage_measure.ts";
import type { Outcome } from "./command.ts";

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
