/** The engine `local`: a pool of processes on this machine, one progress line for all of them. */
import { fileURLToPath } from "node:url";
import { UserError } from "../../src/core/errors.ts";
import { oneSentence } from "../../src/core/sentence.ts";
import { type Progress, stderrProgress } from "../../src/files/progress.ts";
import { remark } from "../../src/files/terminal.ts";
import { watchCancel } from "../../src/sweep/cancel.ts";
import { type PoolResult, type PoolState, runPool } from "../../src/sweep/pool.ts";
import type { Sweep, SweepCell } from "../../src/sweep/sweep_folder.ts";
import { StopSignals } from "../stop_signals.ts";
import type { StopCode } from "../stop_signals.ts";
import { rulesOf } from "./cell_commands.ts";

/** How the engine is to work. */
export interface LocalOptions {
  /** The cells to work at; undefined: all. */
  readonly cells: readonly SweepCell[] | undefined;
  readonly jobs: number;
  readonly claimTimeoutMs: number;
  readonly waits: boolean;
  /** Arguments that every process gets beside its cell's. */
  readonly extra: readonly string[];
  /** The scheduler's name of this job; null: none. */
  readonly job: string | null;
}

/** How it ended. */
export interface LocalResult extends PoolResult {
  /** The signal that stopped it; undefined: none did. */
  readonly stopCode: StopCode | undefined;
  readonly isCancelled: boolean;
}

/** Processes at a time where nobody says: a training keeps two processors busy. */
export function defaultJobs(): number {
  return Math.max(1, Math.min(4, Math.floor(navigator.hardwareConcurrency / 2)));
}

/** The launcher, beside this program. */
function launcher(): string {
  const { protocol } = new URL(import.meta.url);
  if (protocol !== "file:") {
    throw new UserError("a sweep starts processes of this program: it needs a checkout of it");
  }
  return fileURLToPath(new URL("../agentrl", import.meta.url));
}

/** One line for all cells. */
class SweepProgress implements Disposable {
  #progress: Progress | undefined;
  #shown = "";

  log(line: string): void {
    if (this.#progress !== undefined) this.#progress.log(line);
    else remark(`agentrl sweep: ${oneSentence(line)}\n`);
  }

  show({ total, done, failed, running, elsewhere }: PoolState): void {
    this.#progress ??= stderrProgress({ label: "sweep", total, alreadyDone: done });
    const left = total - done - failed;
    const others = elsewhere > 0 ? `, ${elsewhere} with others` : "";
    const waiting = left - running - elsewhere;
    const note = `${done} done, ${failed} failed, ${running} running${others}, ${waiting} left`;
    // In a log a line that says nothing new is noise; on a terminal the clock goes on.
    if (note === this.#shown && !Deno.stderr.isTerminal()) return;
    this.#shown = note;
    this.#progress.update(done + failed, note);
  }

  [Symbol.dispose](): void {
    this.#progress?.[Symbol.dispose]();
  }
}

/**
 * Works at a sweep with processes of this machine.
 *
 * @throws {UserError} When the folder cannot be written.
 */
export async function runLocal(sweep: Sweep, options: LocalOptions): Promise<LocalResult> {
  const { cells, jobs, claimTimeoutMs: timeoutMs, waits, extra, job } = options;
  const { argumentsOf, keepsResult } = await rulesOf(sweep.command);
  const program = launcher();
  const nowMs = () => performance.now();
  const isCancelled = watchCancel(sweep.path, nowMs);
  using progress = new SweepProgress();
  using signals = new StopSignals();
  let isHurried = false;
  signals.saveFirst((line) => progress.log(line), {
    doing: "saving the cells that run",
    onSecond: () => isHurried = true,
  });
  const result = await runPool({
    sweep,
    ...(cells && { cells }),
    commandOf: (cell, isBegun) => ({ program, args: [...argumentsOf(cell, isBegun), ...extra] }),
    keepsResult,
    jobs,
    claims: { owner: { host: Deno.hostname(), pid: Deno.pid, job }, timeoutMs, nowMs },
    waits,
    isStopRequested: () => signals.code !== undefined || isCancelled(),
    isHurried: () => isHurried,
    onState: (state) => progress.show(state),
    onRemark: (sentence) => progress.log(sentence.replace(/(?<=failed: )agentrl \w+: /, "")),
  });
  return { ...result, stopCode: signals.code, isCancelled: isCancelled() };
}
