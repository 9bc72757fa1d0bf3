/** Measures triage on runs whose causes are known: the folders that `agentrl faults` makes, for several seeds. */
import { UserError } from "../core/errors.ts";
import { command, sentence } from "../core/mention.ts";
import { CATALOGUE, CATALOGUE_NAMES, type CatalogueRun } from "../faults/catalogue.ts";
import type { TriagedRun } from "../faults/confusion.ts";
import {
  HEALTHY_BASE,
  healthyReference,
  type HealthyReferenceFile,
  healthyReferenceFile,
} from "../faults/healthy_reference.ts";
import { readMetricsRows } from "./metrics_rows.ts";
import { triage } from "../diagnose/triage/triage.ts";
import type { TriageKnowledge } from "../diagnose/triage/knowledge.ts";
import { tinyAgentKnowledge } from "../faults/tiny_agent_knowledge.ts";
import { exists, namesIn } from "../files/paths.ts";
import { runPaths } from "./run_directory.ts";
import { readSettings } from "./run_settings.ts";
import type { KnownBases } from "../faults/run_facts.ts";
import { triageInput } from "./triage_run.ts";

/** A run of the catalogue on disk. */
interface KnownRun {
  readonly name: keyof typeof CATALOGUE;
  readonly seed: number;
  readonly path: string;
}

/** The seeds of the healthy runs that are pinned. */
const REFERENCE_SEEDS = [0, 1, 2];

/** The runs in `FOLDER/faults-seedS/NAME`, in the order of the catalogue. */
function findRuns(folder: string): KnownRun[] {
  const seeds = namesIn(folder).flatMap((name) => /^faults-seed(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number).sort((a, b) => a - b);
  return CATALOGUE_NAMES.flatMap((name) =>
    seeds.map((seed) => ({ name, seed, path: `${folder}/faults-seed${seed}/${name}` }))
  ).filter(({ path }) => exists(runPaths(path).metrics));
}

function pinHealthyRuns(runs: readonly KnownRun[], folder: string): HealthyReferenceFile {
  const seeds = REFERENCE_SEEDS.map((seed) => {
    const run = runs.find((known) => known.name === "healthy" && known.seed === seed);
    if (run) return { seed, rows: readMetricsRows(runPaths(run.path).metrics) };
    throw new UserError(
      sentence`Cannot measure triage: ${folder}/faults-seed${seed}/healthy is missing; make it with ${
        command("faults", { seed, out: `${folder}/faults-seed${seed}` })
      }`,
    );
  });
  return healthyReferenceFile(seeds);
}

/** The agent that the pinned runs begin with, whatever adapter made it. */
function basesOf(runs: readonly KnownRun[]): KnownBases {
  const hashes = runs.flatMap(({ name, seed, path }) => {
    const { config } = runPaths(path);
    if (name !== "healthy" || !REFERENCE_SEEDS.includes(seed) || !exists(config)) return [];
    return readSettings(config).baseHash ?? [];
  });
  return new Map(hashes.map((hash) => [hash, HEALTHY_BASE]));
}

function triageRuns(
  runs: readonly KnownRun[],
  options: {
    readonly knowledge: TriageKnowledge;
    readonly known: KnownBases;
    readonly withChecks: boolean;
  },
): TriagedRun[] {
  const { knowledge, known, withChecks } = options;
  return runs.map(({ name, seed, path }) => {
    const { fault }: CatalogueRun = CATALOGUE[name];
    const input = triageInput(withChecks ? path : runPaths(path).metrics, { known });
    return { name, seed, fault, report: triage({ ...input, runFolder: path }, knowledge) };
  });
}

/** What a measurement found. */
export interface TriageMeasurement {
  /** The healthy runs to pin. */
  readonly reference: HealthyReferenceFile;
  /** With the invariants' verdicts. */
  readonly withChecks: readonly TriagedRun[];
  /** From the metrics alone. */
  readonly metricsOnly: readonly TriagedRun[];
}

/**
 * Triages runs whose causes are known, against the healthy ones of seeds 0 to 2 among them.
 *
 * @param folder Holds `faults-seedS` folders of `agentrl faults`.
 * @returns Reports, and the reference that they were made with.
 * @throws {UserError} When a healthy run of seeds 0 to 2 is missing, or a file cannot be read.
 */
export function measureTriage(folder: string): TriageMeasurement {
  const runs = findRuns(folder);
  const file = pinHealthyRuns(runs, folder);
  const knowledge = tinyAgentKnowledge(healthyReference(file));
  const known = basesOf(runs);
  return {
    reference: file,
    withChecks: triageRuns(runs, { knowledge, known, withChecks: true }),
    metricsOnly: triageRuns(runs, { knowledge, known, withChecks: false }),
  };
}
