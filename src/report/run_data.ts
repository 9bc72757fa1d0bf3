/** A run as the report shows it, read from its folder; a lone JSONL file of metrics is a run of which nothing else is known. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import type { CheckResult } from "../diagnose/invariants.ts";
import { readChecks } from "../run/checks_file.ts";
import { readJournal } from "../files/journal.ts";
import { exists } from "../files/paths.ts";
import { checkpointSteps, runPaths } from "../run/run_directory.ts";
import { readJson } from "../files/json.ts";
import { readSettings, type RunSettings } from "../run/run_settings.ts";
import type { Point } from "./downsample.ts";

/** A sampled episode. */
export interface EpisodeData {
  readonly step: number;
  readonly episode: number;
  readonly group: number;
  readonly tokens: readonly number[];
  /** As in OWNER of src/gym/vocabulary.ts. */
  readonly owners: readonly number[];
  /** The sampler's, in nats. */
  readonly logps: readonly number[];
  readonly reward: number;
  readonly info: Readonly<Record<string, unknown>>;
}

/** A recorded step, and why it was recorded. */
export interface RecordedStepData {
  readonly step: number;
  readonly reasons: readonly string[];
}

/** All that is known of a run. */
export interface RunData {
  /** For headings: the end of its path. */
  readonly name: string;
  /** The folder or file, for commands. */
  readonly path: string;
  readonly settings: RunSettings | undefined;
  readonly stepCount: number;
  /** (step, value) by metric, in the order of the first row; a value that was not finite is NaN. */
  readonly metrics: ReadonlyMap<string, readonly Point[]>;
  readonly checks: readonly CheckResult[];
  readonly episodes: readonly EpisodeData[];
  readonly checkpoints: readonly number[];
  readonly recorded: readonly RecordedStepData[];
}

const episodeSchema = z.object({
  step: z.int(),
  episode: z.int(),
  group: z.int(),
  tokens: z.array(z.int()),
  owners: z.array(z.int()),
  logps: z.array(z.number().nullable().transform((logp) => logp ?? NaN)),
  reward: z.number(),
  info: z.record(z.string(), z.unknown()).default({}),
}).refine(
  ({ tokens, owners, logps }) => owners.length === tokens.length && logps.length === tokens.length,
  "tokens, owners and logps must be equally many",
);

const recordSchema = z.object({ reasons: z.array(z.string()) });

/** Metrics by name from rows of them; `source` is what error sentences call them. */
function metricsOf(rows: readonly Readonly<Record<string, unknown>>[], source: string) {
  const metrics = new Map<string, Point[]>();
  for (const [index, { step = index, ...values }] of rows.entries()) {
    if (typeof step !== "number") {
      throw new UserError(
        `Cannot use ${source}, row ${index + 1}: step is ${
          JSON.stringify(step)
        }, but must be a number`,
      );
    }
    for (const [name, value] of Object.entries(values)) {
      // null stands for what is not finite. Texts and lists are notes of other programs.
      if (typeof value !== "number" && value !== null) continue;
      const points = metrics.get(name) ?? [];
      points.push([step, value ?? NaN]);
      metrics.set(name, points);
    }
  }
  return { stepCount: rows.length, metrics };
}

function readEpisodes(path: string): EpisodeData[] {
  return readJournal(path).map((row, index) => {
    const result = episodeSchema.safeParse(row);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    throw new UserError(
      `Cannot use ${path}, row ${index + 1}: ${
        issue?.path.join(".") || "the row"
      }: ${issue?.message}`,
    );
  });
}

function readRecorded(path: string): RecordedStepData[] {
  const folder = `${path}/steps`;
  if (!exists(folder)) return [];
  const steps = Array.from(Deno.readDirSync(folder), ({ name }) => name)
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
 * A run of which nothing but its metrics is known.
 *
 * @param rows One a step; without a `step` they count from 0.
 * @throws {UserError} When a step is no number.
 */
export function runOfRows(
  rows: readonly Readonly<Record<string, unknown>>[],
  { name, path }: { readonly name: string; readonly path: string },
): RunData {
  const none = { settings: undefined, checks: [], episodes: [], checkpoints: [], recorded: [] };
  return { name, path, ...metricsOf(rows, path), ...none };
}

/**
 * Reads a run.
 *
 * @param path Its folder, or a JSONL file of metrics.
 * @returns What is there; files that a run need not have may be missing.
 * @throws {UserError} When metrics are missing, or a file holds something else.
 */
export function readRun(path: string): RunData {
  const name = nameOf(path);
  if (path.endsWith(".jsonl")) {
    return runOfRows(readJournal(path), { name, path });
  }
  const paths = runPaths(path);
  return {
    name,
    path,
    settings: exists(paths.config) ? readSettings(paths.config) : undefined,
    ...metricsOf(readJournal(paths.metrics), paths.metrics),
    checks: exists(paths.checks) ? readChecks(paths.checks) : [],
    episodes: exists(paths.episodes) ? readEpisodes(paths.episodes) : [],
    checkpoints: checkpointSteps(path),
    recorded: readRecorded(path),
  };
}
