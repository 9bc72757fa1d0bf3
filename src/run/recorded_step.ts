/** Reading recorded steps, held to what a run of that configuration writes. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { OWNER } from "../core/owner.ts";
import { requireSchema } from "../core/schema.ts";
import type { RecordedStep } from "../faults/replay.ts";
import { rowsOf } from "../files/journal.ts";
import { readJson } from "../files/json.ts";
import { exists } from "../files/paths.ts";
import { MAX_JSON_BYTES, readText } from "../files/read_file.ts";
import { bugFixSpec } from "../gym/bugfix.ts";
import type { EpisodeInfo } from "../gym/environment.ts";
import type { BugFixInfo } from "../gym/episode_info.ts";
import { OPERATION_NAMES } from "../gym/calls.ts";
import { makeTasks } from "../gym/tasks.ts";
import { WORDS } from "../gym/vocabulary.ts";
import { ALGORITHMS } from "../rl/algorithms.ts";
import { episodesPerStep, type TrainConfig } from "../rl/config.ts";
import type { Trajectory } from "../rollout/trajectory.ts";
import type { EnvironmentRecord } from "./environment_record.ts";
import { asMetricsRow } from "./metrics_rows.ts";
import { hashOfRecord, stepFiles } from "./step_record.ts";

const TASK_NAMES = new Set<string>(makeTasks("train").map(({ name }) => name));

const count = z.int().min(0);

/** The info of an episode of BugFix. */
const gymInfoSchema = z.looseObject({
  task: z.string().refine((name) => TASK_NAMES.has(name), "names no task for training"),
  turns: count.min(1),
  malformed: count,
  ops: z.array(z.enum(OPERATION_NAMES)),
  reads: count,
  tests: count,
  submitted: z.boolean(),
  hidden_pass: z.boolean(),
  public_pass: z.boolean(),
  stop: z.enum(["submit", "budget"]),
  calls: z.array(z.string()),
});

/** The info of an episode in an environment of a user's: what every environment tells, and what it adds. */
const ownInfoSchema = z.looseObject({
  task: z.string(),
  turns: count,
  malformed: count,
  stop: z.string().nullable(),
  calls: z.array(z.string()),
});

const episodeSchema = z.object({
  step: count,
  episode: count,
  group: count,
  task: count.optional(),
  error: z.string().optional(),
  tokens: z.array(count).min(1),
  owners: z.array(count.min(OWNER.prompt).max(OWNER.tool)),
  // The weights of a run that overflows may give a log-prob that is none; JSON has null for it.
  logps: z.array(z.number().nullable().transform((logp) => logp ?? NaN)),
  // An episode that was lost has none.
  reward: z.number().nullable(),
  info: z.looseObject({}),
}).refine(
  ({ tokens, owners, logps }) => owners.length === tokens.length && logps.length === tokens.length,
  "must hold as many owners and logps as tokens",
);

type Episodes = NonNullable<RecordedStep["episodes"]>;

/** What a row must hold in the environment of its run. */
interface EpisodeBounds {
  readonly wordCount: number;
  readonly maxTokens: number;
  /** Tasks for training; undefined in the gym, whose tasks are known by their names. */
  readonly taskCount: number | undefined;
}

function boundsOf({ config: { maxTurns }, environment }: RecordOptions): EpisodeBounds {
  return environment === undefined
    ? {
      wordCount: WORDS.length,
      maxTokens: bugFixSpec(TASK_NAMES.size, maxTurns).maxEpisodeTokens,
      taskCount: undefined,
    }
    : {
      wordCount: environment.words.length,
      maxTokens: environment.spec.maxEpisodeTokens,
      taskCount: environment.tasks.train,
    };
}

/** The group of an episode, as the trainer draws tasks. */
function groupOf(episode: number, { algorithm, groupSize }: TrainConfig): number {
  return ALGORITHMS[algorithm].grouped ? Math.floor(episode / groupSize) : episode;
}

type EpisodeRow = z.infer<typeof episodeSchema>;

/** Holds a row to what its environment allows. */
function requireWithin(
  row: EpisodeRow,
  { wordCount, maxTokens, taskCount }: EpisodeBounds,
  source: string,
): void {
  const { tokens, task, error, reward } = row;
  const bad = tokens.findIndex((id) => id >= wordCount);
  const problem = tokens.length > maxTokens
    ? `it has ${tokens.length} tokens, but an episode of this run has at most ${maxTokens}`
    : bad >= 0
    ? `tokens.${bad} is ${tokens[bad]}, but must be at most ${wordCount - 1}`
    : taskCount !== undefined && !(task !== undefined && task < taskCount)
    ? `task is ${task ?? "missing"}, but must be one of ${taskCount} for training`
    : taskCount === undefined && (error !== undefined || task !== undefined)
    ? "it is of an environment, but this run trains in the gym that ships"
    : error === undefined && reward === null
    ? "reward is null, but only a lost episode has none"
    : undefined;
  if (problem !== undefined) throw new UserError(`Cannot use ${source}: ${problem}`);
}

/** An episode as the trainer had it. */
function trajectoryOf(row: EpisodeRow, { taskCount }: EpisodeBounds, source: string): Trajectory {
  const { tokens, owners, logps, reward, task, error } = row;
  const info = { source: `${source}: info` };
  return {
    ids: Uint32Array.from(tokens),
    owners: Uint8Array.from(owners),
    logps: Float32Array.from(logps),
    reward: reward ?? NaN,
    info: taskCount === undefined
      ? gymInfo(row.info, info)
      : requireSchema(row.info, ownInfoSchema, info) as EpisodeInfo,
    ...(task !== undefined && { task }),
    ...(error !== undefined && { error }),
  };
}

function gymInfo(value: unknown, options: { readonly source: string }): BugFixInfo {
  const { hidden_pass: hiddenPass, public_pass: publicPass, ...rest } = requireSchema(
    value,
    gymInfoSchema,
    options,
  );
  return { ...rest, hiddenPass, publicPass };
}

function readEpisodes(path: string, options: RecordOptions): Episodes {
  const { step, config } = options;
  const expected = episodesPerStep(config);
  const bounds = boundsOf(options);
  const rows: (EpisodeRow & { readonly trajectory: Trajectory })[] = [];
  for (const row of rowsOf(path)) {
    const index = rows.length;
    const source = `${path}, row ${index + 1}`;
    const episode = requireSchema(row, episodeSchema, { source });
    const place = [episode.step, episode.episode, episode.group];
    const expectedPlace = [step, index, groupOf(index, config)];
    if (place.join() !== expectedPlace.join()) {
      throw new UserError(
        `Cannot use ${source}: it is of step, episode and group ${
          place.join(", ")
        }, but in this run must be of ${expectedPlace.join(", ")}`,
      );
    }
    requireWithin(episode, bounds, source);
    rows.push({ ...episode, trajectory: trajectoryOf(episode, bounds, source) });
  }
  if (rows.length !== expected) {
    throw new UserError(
      `Cannot use ${path}: it holds ${rows.length} episodes, but a step of this run has ${expected}`,
    );
  }
  return {
    groupId_B: rows.map(({ group }) => group),
    trajectories: rows.map(({ trajectory }) => trajectory),
  };
}

const recordSchema = z.object({
  reasons: z.array(z.string()),
  row: z.looseObject({ step: count }).catchall(z.number().nullable()),
  sha256: z.string().optional(),
});

/** Which record to read. */
interface RecordOptions {
  readonly step: number;
  /** The run's. */
  readonly config: TrainConfig;
  /** The run's; undefined: the gym that ships. */
  readonly environment?: EnvironmentRecord | undefined;
}

/** A record that was read. */
export interface ReadStepRecord extends RecordedStep {
  /** The state before the step. */
  readonly statePath: string;
  /** True: its SHA-256 was right. False: it carries none, as those of older versions. */
  readonly isVerified: boolean;
}

/**
 * Reads a recorded step.
 *
 * @param path The run's folder.
 * @returns Its row and episodes, and where the state before it lies; undefined where the step was not recorded.
 * @throws {UserError} When the record cannot be read, is damaged, or is none of a run of this configuration.
 */
export function readStepRecord(path: string, options: RecordOptions): ReadStepRecord | undefined {
  const { step } = options;
  const files = stepFiles(path, step);
  if (!exists(files.record)) return undefined;
  const content = readJson(files.record);
  const { row, sha256 } = requireSchema(content, recordSchema, { source: files.record });
  if (row.step !== step) {
    throw new UserError(
      `Cannot use ${files.record}: it is of step ${row.step}, but its folder says ${step}`,
    );
  }
  if (sha256 !== undefined) {
    const episodes = readText(files.episodes, { maxBytes: MAX_JSON_BYTES });
    if (hashOfRecord(content, episodes) !== sha256) {
      throw new UserError(
        `Cannot use ${files.record}: it is damaged, since it and ${files.episodes} do not have the SHA-256 that it ` +
          "carries; delete it, and the step is replayed from a checkpoint",
      );
    }
  }
  return {
    row: asMetricsRow(row, { source: files.record }),
    episodes: readEpisodes(files.episodes, options),
    statePath: files.state,
    isVerified: sha256 !== undefined,
  };
}
