/** Reads a run for the report from its folder; a lone JSONL file of metrics is a run of which nothing else is known. */
import { z } from "zod";
import { requireSchema } from "../../core/schema.ts";
import { rowsOf } from "../../files/journal.ts";
import { readJson } from "../../files/json.ts";
import { exists, namesIn } from "../../files/paths.ts";
import { readChecks } from "../../run/checks_file.ts";
import { readLaterChecks } from "../../run/later_checks_file.ts";
import { checkpointSteps, runPaths } from "../../run/run_directory.ts";
import { readSettings } from "../../run/run_settings.ts";
import {
  type EpisodeData,
  metricsOf,
  type RecordedStepData,
  type RunData,
  runOfRows,
} from "../run_data.ts";
import { shownSteps } from "../transcripts.ts";

const episodeSchema = z.object({
  step: z.int(),
  episode: z.int(),
  group: z.int(),
  tokens: z.array(z.int()),
  owners: z.array(z.int()),
  /** null: a log-prob that was not finite. */
  logps: z.array(z.number().nullable()),
  /** null: a lost episode, which has none. */
  reward: z.number().nullable(),
  error: z.string().optional(),
  info: z.record(z.string(), z.unknown()).optional(),
}).refine(
  ({ tokens, owners, logps }) => owners.length === tokens.length && logps.length === tokens.length,
  "must hold as many owners and logps as tokens",
);

type EpisodeRow = z.infer<typeof episodeSchema>;

const recordSchema = z.object({ reasons: z.array(z.string()) });

/** The episodes of some of the steps that have some: a run may have more than the memory holds. */
function readEpisodes(path: string, most: number): EpisodeData[] {
  const options = { maxBytes: Infinity };
  const steps = new Set<unknown>();
  let index = 0;
  for (const row of rowsOf(path, options)) {
    requireSchema(row, episodeSchema, { source: `${path}, row ${++index}` });
    steps.add(row.step);
  }
  const shown = shownSteps([...steps], most);
  const episodes: EpisodeData[] = [];
  for (const row of rowsOf(path, options)) {
    if (!shown.has(row.step)) continue;
    // Checked above; a schema costs more than reading the row again.
    const { logps, reward, error, info = {}, ...rest } = row as unknown as EpisodeRow;
    // A lost episode is no part of the batch.
    if (error !== undefined || reward === null) continue;
    episodes.push({ ...rest, reward, info, logps: logps.map((logp) => logp ?? NaN) });
  }
  return episodes;
}

function readRecorded(path: string): RecordedStepData[] {
  const folder = `${path}/steps`;
  if (!exists(folder)) return [];
  const steps = namesIn(folder)
    .filter((name) => /^\d+$/.test(name) && exists(`${folder}/${name}/record.json`))
    .map(Number)
    .sort((a, b) => a - b);
  return steps.map((step) => {
    const result = recordSchema.safeParse(readJson(`${folder}/${step}/record.json`));
    return { step, reasons: result.data?.reasons ?? [] };
  });
}

/** `runs/grpo-seed0` → `grpo-seed0`; a file's name goes without its ending. */
function nameOf(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1)?.replace(/\.jsonl$/, "") || path;
}

/**
 * Reads a run.
 *
 * @param path Its folder, or a JSONL file of metrics.
 * @param options.episodeSteps Steps whose episodes are read, evenly over the run (default 3; 0: the file is not looked at).
 * @returns What is there; files that a run need not have may be missing.
 * @throws {UserError} When metrics are missing, or a file holds something else.
 */
export function readRun(
  path: string,
  { episodeSteps = 3 }: { readonly episodeSteps?: number } = {},
): RunData {
  const name = nameOf(path);
  if (path.endsWith(".jsonl")) {
    return runOfRows(rowsOf(path), { name, path });
  }
  const paths = runPaths(path);
  return {
    name,
    path,
    settings: exists(paths.config) ? readSettings(paths.config) : undefined,
    ...metricsOf(rowsOf(paths.metrics), paths.metrics),
    checks: exists(paths.checks) ? readChecks(paths.checks) : [],
    ...(exists(paths.laterChecks) && { laterChecks: readLaterChecks(paths.laterChecks) }),
    episodes: episodeSteps > 0 && exists(paths.episodes)
      ? readEpisodes(paths.episodes, episodeSteps)
      : [],
    checkpoints: checkpointSteps(path),
    recorded: readRecorded(path),
  };
}
