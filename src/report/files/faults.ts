/** Reads the catalogue of failures as `agentrl faults` leaves it: a folder of runs with a summary beside them. */
import { z } from "zod";
import { requireSchema } from "../../core/schema.ts";
import { CATALOGUE, type CatalogueName } from "../../faults/catalogue.ts";
import { readJson } from "../../files/json.ts";
import { exists } from "../../files/paths.ts";
import { runPaths } from "../../run/run_directory.ts";
import { type FaultsData, signaturesSchema } from "../faults_data.ts";
import { readRun } from "./run.ts";

/** Name of the file beside the runs. */
const SUMMARY_NAME = "summary.json";

const summarySchema = z.object({
  seed: z.number(),
  runs: z.record(z.string(), z.object({ weightsHash: z.string().default("") })),
  signatures: signaturesSchema,
});

/** True where a folder is one that `agentrl faults` wrote. */
export function isFaultsFolder(path: string): boolean {
  return exists(`${path}/${SUMMARY_NAME}`) &&
    summarySchema.safeParse(readJson(`${path}/${SUMMARY_NAME}`)).success;
}

/**
 * Reads the catalogue.
 *
 * @param path The folder.
 * @throws {UserError} When its summary or a run cannot be read.
 */
export function readFaults(path: string): FaultsData {
  const file = `${path}/${SUMMARY_NAME}`;
  const { seed, runs, signatures } = requireSchema(readJson(file), summarySchema, { source: file });
  const names = (Object.keys(CATALOGUE) as CatalogueName[])
    .filter((name) => Object.hasOwn(runs, name) && exists(runPaths(`${path}/${name}`).metrics));
  return {
    path,
    seed,
    runs: new Map(names.map((name) => [name, readRun(`${path}/${name}`)])),
    weightsHashes: Object.fromEntries(
      Object.entries(runs).map(([name, { weightsHash }]) => [name, weightsHash]),
    ),
    signatures,
  };
}
