/** Recording steps on disk, `steps/N/`: the trainer before the step, the episodes and the row that it left. */
import { createHash } from "node:crypto";
import type { MetricsRow } from "../rl/metrics.ts";
import { mayRecord, recordingReasons } from "../faults/replay.ts";
import { writeFileAtomic } from "../files/atomic_file.ts";
import { asUserError } from "../files/file_error.ts";
import { journalText } from "../core/json_lines.ts";
import { writeJson } from "../files/json.ts";
import { exists } from "../files/paths.ts";
import type { TrainConfig } from "../rl/config.ts";
import type { StepReport, Trainer } from "../rl/trainer.ts";
import { type Checkpoint, writeCheckpoint } from "./checkpoint.ts";
import { episodeRows } from "./episode_rows.ts";
import { readMetricsRows } from "./metrics_rows.ts";
import { type RunDirectory, stepPath } from "./run_directory.ts";
import { writeTrainBatch } from "./train_batch_file.ts";
import { snapshotTrainer } from "../rl/snapshot.ts";

/** SHA-256, as hexadecimal, of what a record says and of the text of the episodes beside it. */
export function hashOfRecord(record: unknown, episodes: string): string {
  const { reasons, row } = record as { readonly reasons: unknown; readonly row: unknown };
  return createHash("sha256").update(`${JSON.stringify({ reasons, row })}\n${episodes}`)
    .digest("hex");
}

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

/**
 * Writes the files of a step, each whole or not at all. The record itself goes first and comes last: while it is there, all of the
 * others are its own.
 */
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
    Deno.mkdirSync(files.folder, { recursive: true });
    // A step that is redone after a stop is recorded again.
    if (exists(files.record)) Deno.removeSync(files.record);
  } catch (error) {
    throw asUserError(error, `Cannot write to ${files.folder}`);
  }
  const episodes = journalText(episodeRows(step, batch));
  writeCheckpoint(files.state, before);
  writeTrainBatch(files.batch, batch, update);
  writeFileAtomic(files.episodes, episodes);
  writeJson(files.record, { reasons, row, sha256: hashOfRecord({ reasons, row }, episodes) });
}

/** Watches a run's steps and records those that its rules select. */
export class StepRecorder {
  readonly #directory: RunDirectory;
  readonly #config: TrainConfig;
  readonly #history: MetricsRow[];

  /** @throws {UserError} When the rows that the run has already cannot be read. */
  constructor(directory: RunDirectory, config: TrainConfig) {
    this.#directory = directory;
    this.#config = config;
    // Medians are taken over the rows so far; a run that asks for none need not keep them.
    this.#history = config.recordSpikeFactor > 0 ? readMetricsRows(directory.metrics) : [];
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
    if (this.#config.recordSpikeFactor > 0) this.#history.push(row);
  }
}
