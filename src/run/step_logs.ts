/** What a run writes about each of its steps: metrics, timing, episodes, and the records of steps worth a second look. */
import { Journal } from "../files/journal.ts";
import { type MetricsRow, metricsRow } from "../rl/metrics.ts";
import type { StepReport, Trainer } from "../rl/trainer.ts";
import type { Trajectory } from "../rollout/trajectory.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { episodeRows } from "./episode_rows.ts";
import type { RunDirectory } from "./run_directory.ts";
import { StepRecorder } from "./step_record.ts";
import type { RowLog } from "./tensorboard_log.ts";
import { TimingLog } from "./timing_log.ts";

/** A step that was made. */
export interface SteppedRun {
  /** What the trainer says about it. */
  readonly report: StepReport;
  /** Episodes on held-out tasks, where the step was evaluated. */
  readonly evaluation: readonly Trajectory[] | undefined;
  /** When it began and when it ended, in milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  /** What {@linkcode StepLogs.before} kept of the trainer. */
  readonly before: Checkpoint | undefined;
}

/** True at every `every`-th count; `every` 0: never. */
export function isDue(count: number, every: number): boolean {
  return every > 0 && count % every === 0;
}

/** The files of a run to which its steps are appended. */
export class StepLogs implements Disposable {
  readonly #trainer: Trainer;
  readonly #recorder: StepRecorder;
  readonly #metrics: Journal;
  readonly #episodes: Journal;
  readonly #timing: TimingLog;
  readonly #rowLogs: readonly RowLog[];
  readonly #opened: DisposableStack;

  /**
   * Opens the files.
   *
   * @param trainer Who makes the steps.
   * @param options.directory The run's folder.
   * @param options.rowLogs Take the rows of the metrics as well; they stay the caller's.
   * @throws {UserError} When one cannot be opened, or the rows that the run has cannot be read.
   */
  constructor(
    trainer: Trainer,
    { directory, rowLogs }: {
      readonly directory: RunDirectory;
      readonly rowLogs: readonly RowLog[];
    },
  ) {
    const { config, state: { step } } = trainer;
    using opened = new DisposableStack();
    this.#trainer = trainer;
    this.#rowLogs = rowLogs;
    this.#metrics = opened.use(new Journal(directory.metrics));
    this.#episodes = opened.use(new Journal(directory.episodes));
    this.#timing = opened.use(new TimingLog(directory.timing, { step, lr: config.lr }));
    this.#recorder = new StepRecorder(directory, config);
    this.#opened = opened.move();
  }

  /** What has to be kept of the trainer before a step; undefined where the step cannot be recorded. */
  async before(): Promise<Checkpoint | undefined> {
    return await this.#recorder.before(this.#trainer);
  }

  /**
   * Writes a step down. It asks nothing of the device.
   *
   * @returns Its row.
   * @throws {UserError} When the disk is full.
   */
  write({ report, evaluation, startMs, endMs, before }: SteppedRun): MetricsRow {
    const { config, setup } = this.#trainer;
    const row = metricsRow(report, { evaluation, rules: setup.source });
    this.#metrics.append({ ...row });
    this.#timing.append(report, { startMs, endMs });
    for (const log of this.#rowLogs) log.append(row);
    if (isDue(report.step, config.episodesEvery)) {
      for (const episode of episodeRows(report.step, report.batch)) this.#episodes.append(episode);
    }
    this.#recorder.after(before, report, row);
    return row;
  }

  /** Waits until all rows are on disk. @throws {UserError} When the disk is full or failing. */
  sync(): void {
    for (const log of [this.#metrics, this.#episodes, this.#timing, ...this.#rowLogs]) log.sync();
  }

  /** Closes the files that were opened. */
  [Symbol.dispose](): void {
    this.#opened.dispose();
  }
}
