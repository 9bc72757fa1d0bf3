/**
 * Packs runs of the right trainer into the rows that tests/faults/healthy_settings_test.ts reads: what triage is told of each, and
 * its metrics to four digits. Usage: healthy_settings.ts RUN... > tests/faults/healthy_settings.json
 *
 * The folder of a run is called as its setting, for example `temp07`:
 *   cli/agentrl train --out runs/ok/temp07 --steps 12 --set temperature=0.7 --set episodesEvery=0
 */
import type { ToldValue } from "../../src/diagnose/triage/knowledge.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { readChecks } from "../../src/run/checks_file.ts";
import { triageInput } from "../../src/run/triage_run.ts";

/** A run of the right trainer. */
export interface HealthyRun {
  readonly name: string;
  readonly algorithm: string;
  readonly settings: Readonly<Record<string, ToldValue>>;
  /** Ids of the checks that were not applicable. */
  readonly notApplicable: readonly number[];
  /** Values of each metric that a rule reads, one a step, separated by spaces; `-` where a step has none. */
  readonly columns: Readonly<Record<string, string>>;
}

/** The settings that a need or a person reads; the others are defaults. */
const KEPT = [
  "base",
  "preset",
  "reward",
  "maxTurns",
  "episodes",
  "problems",
  "groupSize",
  "resampleRounds",
  "temperature",
  "aggregation",
  "klCoef",
  "klKind",
  "entropyCoef",
  "clipLow",
  "clipHigh",
  "stepsPerUpdate",
  "microbatches",
  "lr",
];

const DIGITS = 4;

/** The content of healthy_settings.json for some runs. */
export function packRuns(paths: readonly string[]): HealthyRun[] {
  return paths.map((path) => {
    const { metrics, algorithm = "", settings = {} } = triageInput(path);
    const columns = [...metrics.series].map(([name, { steps, values }]) => {
      const valueAt = new Map(steps.map((step, i) => [step, values[i] ?? NaN]));
      const cells = Array.from({ length: metrics.lastStep + 1 }, (_, step) => {
        const value = valueAt.get(step);
        return value === undefined ? "-" : String(Number(value.toPrecision(DIGITS)));
      });
      return [name, cells.join(" ")] as const;
    });
    return {
      name: path.split("/").at(-1) ?? path,
      algorithm,
      settings: Object.fromEntries(
        Object.entries(settings).filter(([key]) => KEPT.includes(key)),
      ),
      notApplicable: readChecks(runPaths(path).checks)
        .filter(({ verdict }) => verdict === "not-applicable").map(({ id }) => id),
      columns: Object.fromEntries(columns),
    };
  });
}

if (import.meta.main) console.log(JSON.stringify(packRuns(Deno.args), null, 1));
