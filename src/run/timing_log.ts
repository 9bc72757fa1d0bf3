/**
 * What each step of a run took, in a file of its own: metrics.jsonl holds nothing that differs between two runs of the same seed.
 */
import { cutJournal, Journal, rowsWhileReadable } from "../files/journal.ts";
import { exists } from "../files/paths.ts";
import type { StepReport } from "../rl/trainer.ts";

/** Bytes of the rows before a step; what follows them is redone. */
function bytesBefore(path: string, step: number): number {
  let end = 0;
  if (!exists(path)) return end;
  for (const placed of rowsWhileReadable(path)) {
    if (!(Number(placed.row.step) < step)) break;
    end = placed.end;
  }
  return end;
}

/** The rows of timing.jsonl, one a step. */
export class TimingLog implements Disposable {
  readonly #journal: Journal;
  readonly #lr: number;

  /**
   * Opens the file, and drops the rows of steps that are redone.
   *
   * @param path The file.
   * @param options.step The next step.
   * @param options.lr Adam's step size.
   * @throws {UserError} When it cannot be written.
   */
  constructor(path: string, { step, lr }: { readonly step: number; readonly lr: number }) {
    cutJournal(path, bytesBefore(path, step));
    this.#journal = new Journal(path);
    this.#lr = lr;
  }

  /**
   * Writes a row: `step`, `time` (UTC, when it ended), `seconds` (sampling and update, without evaluations and files but those of the
   * step before that are written while it samples), `tokens` (of all its episodes, whoever wrote them), `tokens_per_second` and `lr`.
   *
   * @param report The step.
   * @param times.startMs When it began, and `endMs` when it ended, in milliseconds since 1970.
   * @throws {UserError} When the disk is full.
   */
  append(
    { step, batch: { trajectories } }: StepReport,
    { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  ): void {
    const seconds = (endMs - startMs) / 1000;
    const tokens = trajectories.reduce((sum, { ids }) => sum + ids.length, 0);
    this.#journal.append({
      step,
      time: new Date(endMs).toISOString(),
      seconds: Number(seconds.toFixed(6)),
      tokens,
      tokens_per_second: Number((tokens / seconds).toFixed(1)),
      lr: this.#lr,
    });
  }

  /** Waits until the rows are on disk. */
  sync(): void {
    this.#journal.sync();
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#journal[Symbol.dispose]();
  }
}
