/** A run's metrics as TensorBoard's event files: one file for each start of the run, in the folder `tensorboard`. */
import { asUserError } from "../files/file_error.ts";
import { exists } from "../files/paths.ts";
import { scalarsRecord, sessionStartRecord, versionRecord } from "../logs/tensorboard_events.ts";
import type { MetricsRow } from "../rl/metrics.ts";

/** Takes the rows of a run's metrics as they are made. */
export interface RowLog {
  /** Writes a row, whole. */
  append(row: MetricsRow): void;
  /** Waits until the rows are on disk. */
  sync(): void;
}

/** The folder of the event files in a run's folder. */
export function tensorboardPath(runPath: string): string {
  return `${runPath}/tensorboard`;
}

/** True where an earlier start of the run wrote event files. */
export function hasTensorboardLog(runPath: string): boolean {
  return exists(tensorboardPath(runPath));
}

const EVENT_FILE = /^events\.out\.tfevents\.(\d+)\./;

/** Event files of the earlier starts of a run, and of the next one. */
export class TensorboardLog implements RowLog {
  readonly #folder: string;
  readonly #nowMs: () => number;
  #file: Deno.FsFile | undefined;

  /**
   * Takes where the files go; {@linkcode TensorboardLog.begin} makes the first.
   *
   * @param runPath The run's folder.
   * @param options.nowMs Milliseconds since 1970.
   */
  constructor(runPath: string, { nowMs }: { readonly nowMs: () => number }) {
    this.#folder = tensorboardPath(runPath);
    this.#nowMs = nowMs;
  }

  get #wallSeconds(): number {
    return this.#nowMs() / 1000;
  }

  /**
   * Begins the file of this start. What earlier files say from its first step on is overruled: those steps are redone.
   *
   * @param step The first step of this start.
   * @throws {UserError} When it cannot be written.
   */
  begin(step: number): void {
    try {
      Deno.mkdirSync(this.#folder, { recursive: true });
      const starts = Array.from(
        Deno.readDirSync(this.#folder),
        ({ name }) => Number(EVENT_FILE.exec(name)?.[1] ?? -1),
      );
      // Later than every earlier start, also where a clock was set back or two starts share a second: readers sort by it.
      const seconds = Math.max(Math.floor(this.#wallSeconds), Math.max(-1, ...starts) + 1);
      const name = `events.out.tfevents.${String(seconds).padStart(10, "0")}.agentrl.0`;
      this.#file = Deno.openSync(`${this.#folder}/${name}`, { write: true, createNew: true });
    } catch (error) {
      throw asUserError(error, `Cannot write to ${this.#folder}`);
    }
    this.#write(versionRecord(this.#wallSeconds));
    this.#write(sessionStartRecord(this.#wallSeconds, step));
  }

  /** Writes the numbers of a row. @throws {UserError} When the disk is full. */
  append({ step, ...metrics }: MetricsRow): void {
    const scalars = Object.entries(metrics).filter((entry): entry is [string, number] =>
      typeof entry[1] === "number"
    );
    this.#write(scalarsRecord(this.#wallSeconds, step, { scalars }));
  }

  #write(record: Uint8Array): void {
    if (this.#file === undefined) throw new TypeError("begin() comes before rows are appended");
    try {
      for (let rest = record; rest.length > 0;) rest = rest.subarray(this.#file.writeSync(rest));
    } catch (error) {
      throw asUserError(error, `Cannot append to an event file in ${this.#folder}`);
    }
  }

  /** Waits until the rows are on disk, so that a checkpoint is never ahead of them. */
  sync(): void {
    try {
      this.#file?.syncSync();
    } catch (error) {
      throw asUserError(error, `Cannot write to ${this.#folder}`);
    }
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
  }
}
