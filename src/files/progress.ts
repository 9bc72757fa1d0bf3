/** Progress of long work: one bar that is redrawn on a terminal, plain lines elsewhere. */
import { escapeControls } from "../core/sentence.ts";
import { remark, stderrColumns } from "./terminal.ts";

/** Where progress goes and what time it is. */
export interface ProgressOptions {
  /** What is done, for example `train`. */
  readonly label: string;
  /** Number of units of the whole work. */
  readonly total: number;
  /** Number of units that an earlier start did already; the time left is judged by the others. */
  readonly alreadyDone: number;
  /** True: the line is redrawn in place. False: a line of its own each time. */
  readonly interactive: boolean;
  /** Columns of the terminal, asked for each line: its window may change. */
  readonly columns: () => number;
  /** Receives text, line breaks and carriage returns included. */
  readonly write: (text: string) => void;
  /** Milliseconds since any fixed moment. */
  readonly nowMs: () => number;
}

/** Shortest time between two updates: redrawing faster cannot be read, and more lines fill a log. */
const INTERVAL_MS = { interactive: 100, lines: 2000 } as const;

/** Leaves the notes of a training step their room. */
const BAR_COLUMNS = 10;

/**
 * Writes a duration for people.
 *
 * @param durationMs Milliseconds, 0 or more.
 * @returns `7s`, `3m05s` or `2h07m`.
 */
export function formatDuration(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h${two(Math.floor(seconds / 60) % 60)}m`;
}

/** Shows how far long work has come, the time passed and the time left. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #startMs: number;
  #lastMs = -Infinity;
  #done = 0;
  #lineIsOpen = false;

  /** Starts the clock. */
  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#startMs = options.nowMs();
  }

  /**
   * Shows the state, unless an update was shown a moment ago; the last one (`done` = total) always shows.
   *
   * @param done Units done since the start, 0 to total.
   * @param note A few words about the work, for example `reward 0.31`; cut off where the line is full.
   */
  update(done: number, note = ""): void {
    const { total, interactive, nowMs } = this.#options;
    this.#done = done;
    const interval = interactive ? INTERVAL_MS.interactive : INTERVAL_MS.lines;
    if (nowMs() - this.#lastMs < interval && done < total) return;
    this.#lastMs = nowMs();
    this.#draw(note);
  }

  /** Shows a line above the progress, at once. */
  log(line: string): void {
    this.#options.write(`${this.#lineIsOpen ? "\r\x1b[K" : ""}${escapeControls(line)}\n`);
    this.#lineIsOpen = false;
    this.#lastMs = -Infinity; // The next update redraws the bar below.
  }

  /** Ends an open line, so that what follows begins on its own. */
  [Symbol.dispose](): void {
    if (this.#lineIsOpen) this.#options.write("\n");
    this.#lineIsOpen = false;
  }

  #draw(note: string): void {
    const { label, total, alreadyDone, interactive, columns, write, nowMs } = this.#options;
    const share = total > 0 ? Math.min(1, this.#done / total) : 1;
    const passedMs = nowMs() - this.#startMs;
    const doneNow = this.#done - alreadyDone;
    const left = doneNow > 0 && this.#done < total
      ? `, ${formatDuration(passedMs / doneNow * (total - this.#done))} left`
      : "";
    const filled = Math.round(share * BAR_COLUMNS);
    const bar = interactive ? `[${"#".repeat(filled)}${".".repeat(BAR_COLUMNS - filled)}] ` : "";
    // A note must not break the line, whatever it holds.
    const plainNote = note === "" ? "" : ` | ${note.replace(/[\p{Cc}\s]+/gu, " ")}`;
    const line = `${label} ${bar}${this.#done}/${total} | ${
      formatDuration(passedMs)
    }${left}${plainNote}`
      // Some terminals wrap on the last column, and what has wrapped cannot be redrawn.
      .slice(0, columns() - 1);
    write(interactive ? `\r\x1b[K${line}` : `${line}\n`);
    this.#lineIsOpen = interactive;
  }
}

/**
 * Progress on stderr, in the form that suits it.
 *
 * @param work What is done, and how much of it.
 * @returns The progress; dispose of it when the work ends.
 */
export function stderrProgress(
  work: Pick<ProgressOptions, "label" | "total" | "alreadyDone">,
): Progress {
  return new Progress({
    ...work,
    interactive: Deno.stderr.isTerminal(),
    columns: stderrColumns,
    write: remark,
    nowMs: () => performance.now(),
  });
}
