/** Recorded steps on disk, `steps/N/`: the trainer before the step, the episodes and the row that it left. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import type { MetricsRow } from "../rl/metrics.ts";
import { mayRecord, type RecordedStep, recordingReasons } from "../faults/replay.ts";
import type { TrainConfig } from "../rl/config.ts";
import type { StepReport, Trainer } from "../rl/trainer.ts";
import { asUserError } from "../files/file_error.ts";
import { type Checkpoint, writeCheckpoint } from "./checkpoint.ts";
import { episodeRows } from "./episode_rows.ts";
import { Journal, readJournal } from "../files/journal.ts";
import { exists } from "../files/paths.ts";
import { type RunDirectory, stepPath } from "./run_directory.ts";
import { readJson, writeJson } from "../files/json.ts";
import { writeTrainBatch } from "./train_batch_file.ts";
import { snapshotTrainer } from "./trainer_file.ts";

/** Files of a recorded step. */
export function stepFiles(path: string, step: number) {
  const folder = stepPath(path, step);
  return {
    folder,
    /** Weights, moments and state before the step. */
    state: `${folder}/state.safetensors`,
    /** As in episodes.jsonl. */
    episodes: `${folder}/episodes.jsonl`,
    /** The same episodes for `agentrl score` and `agentrl grad`, with mask and advantages. */
    batch: `${folder}/batch.safetensors`,
    /** The step's metrics, and why it was recorded. Written last: where it is, the record is whole. */
    record: `${folder}/record.json`,
  };
}

function writeRecord(
  directory: RunDirectory,
  record: {
    readonly before: Checkpoint;
    readonly report: StepReport;
    readonly row: MetricsRow;
    readonly reasons: readonly string[];
  },
): void {
  const { before, report: { step, batch, update }, row, reasons } = record;
  const files = stepFiles(directory.path, step);
  try {
    // A step that is done again after a stop is recorded again.
    Deno.mkdirSync(files.folder, { recursive: true });
    Deno.writeTextFileSync(files.episodes, "");
  } catch (error) {
    throw asUserError(error, `Cannot write to ${files.folder}`);
  }
  writeCheckpoint(files.state, before);
  writeTrainBatch(files.batch, batch, update);
  using episodes = new Journal(files.episodes);
  episodeRows(step, batch).forEach((row) => episodes.append(row));
  episodes.sync();
  writeJson(files.record, { reasons, row });
}

/** Watches a run's steps and records those that its rules select. */
export class StepRecorder {
  readonly #directory: RunDirectory;
  readonly #config: TrainConfig;
  readonly #history: MetricsRow[];

  /** @param options.history The rows that the run has already. */
  constructor(
    directory: RunDirectory,
    options: { readonly config: TrainConfig; readonly history: readonly MetricsRow[] },
  ) {
    this.#directory = directory;
    this.#config = options.config;
    this.#history = [...options.history];
  }

  /** What has to be kept of the trainer before a step; undefined where the step cannot be selected. */
  async before(trainer: Trainer): Promise<Checkpoint | undefined> {
    return mayRecord(trainer.state.step, this.#config) ? await snapshotTrainer(trainer) : undefined;
  }

  /** Records the step where a rule says so. @throws {UserError} When it cannot be written. */
  after(before: Checkpoint | undefined, report: StepReport, row: MetricsRow): void {
    if (before) {
      const reasons = recordingReasons(row, { history: this.#history, config: this.#config });
      if (reasons.length > 0) writeRecord(this.#directory, { before, report, row, reasons });
    }
    this.#history.push(row);
  }
}

const infoSchema = z.looseObject({
  task: z.string(),
  hidden_pass: z.boolean(),
  public_pass: z.boolean(),
});

const episodeSchema = z.object({
  group: z.int().min(0),
  tokens: z.array(z.int().min(0)),
  owners: z.array(z.int().min(0).max(3)),
  logps: z.array(z.number()),
  reward: z.number(),
  info: infoSchema,
});

type Episodes = NonNullable<RecordedStep["episodes"]>;

function readEpisodes(path: string): Episodes {
  const rows = readJournal(path).map((row, index) => {
    const result = episodeSchema.safeParse(row);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    throw new UserError(
      `Cannot use ${path}, row ${index + 1}: ${issue?.path.join(".")}: ${issue?.message}`,
    );
  });
  return {
    groupId_B: rows.map(({ group }) => group),
    trajectories: rows.map(({ tokens, owners, logps, reward, info }) => {
      const { hidden_pass: hiddenPass, public_pass: publicPass, ...rest } = info;
      return {
        ids: Uint32Array.from(tokens),
        owners: Uint8Array.from(owners),
        logps: Float32Array.from(logps),
        reward,
        // The rest is what episodeRows wrote.
        info: { ...rest, hiddenPass, publicPass } as unknown as Episodes["trajectories"][0]["info"],
      };
    }),
  };
}

const recordSchema = z.object({
  reasons: z.array(z.string()),
  row: z.looseObject({ step: z.int().min(0) }),
});

/**
 * Reads a recorded step.
 *
 * @param path The run's folder.
 * @param step The step.
 * @returns Its row and episodes, and where the state before it lies; undefined where the step was not recorded.
 * @throws {UserError} When the record cannot be read.
 */
export function readStepRecord(
  path: string,
  step: number,
): (RecordedStep & { readonly statePath: string }) | undefined {
  const files = stepFiles(path, step);
  if (!exists(files.record)) return undefined;
  const result = recordSchema.safeParse(readJson(files.record));
  if (!result.success) throw new UserError(`Cannot use ${files.record}: it holds no record`);
  return {
    row: result.data.row as unknown as MetricsRow,
    episodes: readEpisodes(files.episodes),
    statePath: files.state,
  };
}
