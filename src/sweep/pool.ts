/** Works at the cells of a sweep: a pool of processes, beside those of any other pool that shares the folder. */
import { UserError } from "../core/errors.ts";
import { asUserError } from "../files/file_error.ts";
import { writeJson } from "../files/json.ts";
import { exists } from "../files/paths.ts";
import { type CellCommand, type CellEnd, type CellProcess, startCell } from "./cell_process.ts";
import { Claims, type ClaimsOptions, isLocked } from "./claims.ts";
import { type Outcome, readOutcome, writeOutcome } from "./outcomes.ts";
import { cellLabel } from "./plan.ts";
import type { Sweep, SweepCell } from "./sweep_folder.ts";
import { sweepPaths } from "./sweep_paths.ts";
import { lookAtCells } from "./sweep_index.ts";

/** How far a pool has come. */
export interface PoolState {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Cells that this pool works on now. */
  readonly running: number;
  /** Cells that others work on, as far as this pool has seen. */
  readonly elsewhere: number;
}

/** A sweep's cells, and how to work at them. */
export interface PoolOptions {
  readonly sweep: Sweep;
  /** The cells to work at, in order (default: all). */
  readonly cells?: readonly SweepCell[];
  /** What to start for a cell. @param isBegun True: its run exists and goes on. */
  commandOf(cell: SweepCell, isBegun: boolean): CellCommand;
  /** True: the command makes no folder, and what it prints is kept in result.json of the run's folder. */
  readonly keepsResult?: boolean;
  /** Processes at a time. */
  readonly jobs: number;
  readonly claims: ClaimsOptions;
  /** True: cells that others hold are waited for, and taken over where their owner dies. */
  readonly waits: boolean;
  /** Asked all the time; the first true stops the processes, which save themselves. */
  isStopRequested(): boolean;
  /** True: a second signal came, and the processes are to end at once. */
  isHurried?(): boolean;
  readonly onState?: (state: PoolState) => void;
  /** A cell has ended, is tried again or was taken over: a sentence. */
  readonly onRemark?: (sentence: string) => void;
}

/** How a pool ends. */
export interface PoolResult {
  readonly total: number;
  readonly done: number;
  /** Cells that failed, in the order of the plan, with the reason. */
  readonly failed: readonly { readonly cell: SweepCell; readonly problem: string }[];
  /** Cells that are neither. */
  readonly left: number;
  /** Of those: cells that others hold. */
  readonly elsewhere: number;
}

/** Documents of this length and less stand in the outcome. */
const MAX_RESULT_LENGTH = 65_536;

/** Between two looks at signals and at others' claims. */
const TICK_MS = 200;

/** A claim's beat comes so many times within its time-out. */
const BEATS = 6;

interface Running {
  readonly cell: SweepCell;
  readonly process: CellProcess;
  isLost: boolean;
}

/** The state of one call of {@linkcode runPool}. */
class Pool {
  readonly #options: PoolOptions;
  readonly #cells: readonly SweepCell[];
  /** The cells that have ended, of this pool's only. */
  readonly #ended = new Map<string, Pick<Outcome, "state" | "problem">>();
  /** Attempts that failed before this pool began: those cells are tried again, once. */
  readonly #earlier: ReadonlyMap<string, number>;
  readonly #running = new Map<string, Running>();
  readonly #claims: Claims;
  #queue: SweepCell[];
  /** Cells that others hold. */
  #taken: SweepCell[] = [];
  #hasLookedAgain = false;
  #isStopping = false;
  #failure: unknown;
  #lastBeatMs: number;

  constructor(options: PoolOptions, claims: Claims) {
    const { sweep, cells = sweep.cells, claims: { nowMs } } = options;
    this.#options = options;
    this.#cells = cells;
    this.#claims = claims;
    this.#lastBeatMs = nowMs();
    const earlier = new Map<string, number>();
    const known = lookAtCells(sweep);
    this.#queue = cells.filter(({ id }) => {
      const { state, problem, attempts } = known.get(id) ??
        { state: null, problem: null, attempts: 0 };
      // A run that is whole but was never judged is begun again, which costs a start and nothing more.
      const isDone = state === "done" && attempts > 0;
      if (isDone) this.#ended.set(id, { state, problem });
      else if (state === "failed") earlier.set(id, attempts);
      return !isDone;
    });
    this.#earlier = earlier;
    if (earlier.size > 0) {
      const [noun, verb] = earlier.size === 1 ? ["cell", "is"] : ["cells", "are"];
      options.onRemark?.(`${earlier.size} ${noun} that failed earlier ${verb} tried again`);
    }
  }

  async run(): Promise<PoolResult> {
    const workers = Array.from(
      { length: Math.min(this.#options.jobs, this.#queue.length) },
      () => this.#work(),
    );
    const all = Promise.allSettled(workers);
    let isOver = false;
    all.then(() => isOver = true);
    while (!isOver) {
      this.#tick();
      await Promise.race([all, pause(TICK_MS)]);
    }
    if (this.#failure !== undefined) throw this.#failure;
    this.#options.onState?.(this.#state());
    return this.#result();
  }

  /** Signals, beats and the state for people. */
  #tick(): void {
    const { isStopRequested, isHurried, claims: { timeoutMs, nowMs }, onState } = this.#options;
    if (!this.#isStopping && isStopRequested()) this.#stop();
    else if (this.#isStopping && isHurried?.()) this.#stop();
    if (nowMs() - this.#lastBeatMs >= timeoutMs / BEATS) {
      this.#lastBeatMs = nowMs();
      for (const id of this.#claims.beat()) {
        const running = this.#running.get(id);
        if (running === undefined) continue;
        running.isLost = true;
        running.process.stop();
      }
    }
    onState?.(this.#state());
  }

  #stop(): void {
    this.#isStopping = true;
    for (const { process } of this.#running.values()) process.stop();
  }

  #state(): PoolState {
    const failed =
      Array.from(this.#ended.values()).filter(({ state }) => state === "failed").length;
    return {
      total: this.#cells.length,
      done: this.#ended.size - failed,
      failed,
      running: this.#running.size,
      elsewhere: this.#taken.length,
    };
  }

  /** One worker: cell after cell, until none is left for it. */
  async #work(): Promise<void> {
    try {
      while (!this.#isStopping) {
        const cell = this.#queue.shift();
        if (cell !== undefined) await this.#try(cell);
        else if (this.#taken.length === 0) return;
        else if (!this.#options.waits) {
          // Somebody may have given up meanwhile: one more look, and no wait.
          if (this.#hasLookedAgain) return;
          this.#hasLookedAgain = true;
          this.#requeue();
        } else {
          await pause(Math.min(1000, this.#options.claims.timeoutMs / 4));
          this.#requeue();
        }
      }
    } catch (error) {
      // The machine failed, not a cell: what runs is saved, and nothing more begins.
      this.#failure ??= error;
      this.#stop();
    }
  }

  #requeue(): void {
    this.#queue.push(...this.#taken.splice(0));
  }

  /** False for a cell that is worked on, here or elsewhere. */
  #isFree({ folder }: SweepCell): boolean {
    // A run whose pool was killed goes on alone, and holds the lock of its folder.
    return isLocked(`${folder}/lock`) !== true;
  }

  /** True where the cell has ended by somebody else's work since this pool began. */
  #isSettled({ id }: SweepCell): boolean {
    const outcome = readOutcome(this.#options.sweep.path, id);
    if (outcome === undefined) return false;
    const isNew = outcome.attempts > (this.#earlier.get(id) ?? 0);
    const wasRemoved = outcome.state === "done" &&
      !exists(`${sweepPaths(this.#options.sweep.path).runs}/${id}`);
    if (!isNew || wasRemoved) return false;
    this.#ended.set(id, outcome);
    return true;
  }

  async #try(cell: SweepCell): Promise<void> {
    const { id } = cell;
    if (this.#isSettled(cell)) return;
    if (!this.#isFree(cell) || this.#claims.claim(id) === "taken") {
      this.#taken.push(cell);
      return;
    }
    // Asked again: its last owner may have ended it and given it back between the two looks.
    if (this.#isSettled(cell)) return this.#claims.release(id);
    try {
      await this.#runCell(cell);
    } finally {
      this.#running.delete(id);
      this.#claims.release(id);
    }
  }

  async #runCell(cell: SweepCell): Promise<void> {
    const { sweep, commandOf, claims: { owner } } = this.#options;
    const isBegun = exists(`${cell.folder}/config.json`);
    const attempt = (this.#earlier.get(cell.id) ?? 0) + 1;
    const log = `${sweepPaths(sweep.path).logs}/${cell.id}.log`;
    const title = `--- attempt ${attempt}${isBegun ? ", going on" : ""}: ${cellLabel(cell)} on ` +
      `${owner.host}, ${new Date().toISOString()}`;
    const process = startCell(commandOf(cell, isBegun), { log, title });
    const running: Running = { cell, process, isLost: false };
    this.#running.set(cell.id, running);
    if (this.#isStopping) process.stop();
    const end = await process.end;
    if (running.isLost) {
      this.#options.onRemark?.(
        `${cellLabel(cell)}: another process took it over, since this one was not heard of in time`,
      );
      this.#taken.push(cell);
      return;
    }
    // Stopped by request: it has saved itself, and is left. Where a scheduler signals every process of a job, the cell's may
    // end before this one has heard of it.
    if (end.problem !== null) {
      if (end.isBySignal && !this.#isStopping) await pause(2 * TICK_MS);
      if (this.#isStopping || this.#options.isStopRequested()) return;
    }
    this.#settle(cell, { end, attempt });
  }

  #settle(cell: SweepCell, { end, attempt }: { readonly end: CellEnd; readonly attempt: number }) {
    const { sweep, keepsResult, claims: { owner }, onRemark } = this.#options;
    const { exitCode, document, problem, durationMs } = end;
    const state = problem === null ? "done" : "failed";
    if (state === "done" && keepsResult) {
      makeFolder(cell.folder);
      writeJson(`${cell.folder}/result.json`, document ?? null);
    }
    const isSmall = document !== undefined &&
      JSON.stringify(document).length <= MAX_RESULT_LENGTH;
    const outcome: Outcome = {
      state,
      attempts: attempt,
      exitCode,
      problem,
      durationMs,
      host: owner.host,
      ended: new Date().toISOString(),
      result: isSmall ? document : null,
    };
    writeOutcome(sweep.path, { id: cell.id, outcome });
    this.#ended.set(cell.id, outcome);
    if (problem !== null) onRemark?.(`${cellLabel(cell)} failed: ${problem}`);
  }

  #result(): PoolResult {
    const { total, done, elsewhere } = this.#state();
    const failed = this.#cells.flatMap((cell) => {
      const ended = this.#ended.get(cell.id);
      return ended?.state === "failed" ? [{ cell, problem: ended.problem ?? "" }] : [];
    });
    return { total, done, failed, left: total - done - failed.length, elsewhere };
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

function makeFolder(path: string): void {
  try {
    Deno.mkdirSync(path, { recursive: true });
  } catch (error) {
    throw asUserError(error, `Cannot write to ${path}`);
  }
}

/**
 * Works at the cells of a sweep until all have ended, or a stop is asked for. A cell that fails stops no other one; what is
 * half done goes on where it stands.
 *
 * @param options The sweep and how to work at it.
 * @returns How it ends.
 * @throws {UserError} When the folder cannot be written or the program not be started: the processes have saved themselves by then.
 */
export async function runPool(options: PoolOptions): Promise<PoolResult> {
  const { runs, claims: folder, outcomes, logs } = sweepPaths(options.sweep.path);
  for (const path of [runs, folder, outcomes, logs]) makeFolder(path);
  if (options.jobs < 1) throw new UserError(`Cannot run a pool of ${options.jobs} processes`);
  using claims = new Claims(folder, options.claims);
  return await new Pool(options, claims).run();
}
