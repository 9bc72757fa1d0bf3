/** later_checks.jsonl: the checks again at chosen steps of a run, and at the first one after it was taken up. */
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { violated } from "../diagnose/invariants.ts";
import { checkStep, type StateBefore, stateBefore } from "../faults/step_checks.ts";
import { cutJournal, Journal, journalRows } from "../files/journal.ts";
import { exists } from "../files/paths.ts";
import type { StepReport, Trainer } from "../rl/trainer.ts";

/** What is checked in a run, and when. */
export interface LaterChecksOptions {
  /** Steps between checks; 0: none. */
  readonly every: number;
  /** The weights that the run's KL reference was made from. */
  readonly reference_W: Float32Array<ArrayBuffer>;
  /** The state from which a run that goes on should begin: its first step is checked as well. */
  readonly resumed?: StateBefore | undefined;
  /** True: violated checks are written down, and the run goes on. */
  readonly isIgnored: boolean;
}

/** The checks of a run's steps. */
export class LaterChecks {
  readonly #path: string;
  readonly #options: LaterChecksOptions;
  #resumed: StateBefore | undefined;

  /** @param path The file; it is made when there is a verdict to write. */
  constructor(path: string, options: LaterChecksOptions) {
    this.#path = path;
    this.#options = options;
    this.#resumed = options.resumed;
  }

  /** The state before a step, where the step is to be checked. */
  async before(trainer: Trainer): Promise<StateBefore | undefined> {
    const resumed = this.#resumed;
    this.#resumed = undefined;
    if (resumed) return resumed;
    const { every } = this.#options;
    const isDue = every > 0 && (trainer.state.step + 1) % every === 0;
    return isDue ? await stateBefore(trainer) : undefined;
  }

  /**
   * Checks a step and writes the verdicts down.
   *
   * @returns Why the run must not go on; undefined where it may.
   * @throws {UserError} When the file cannot be written.
   */
  async after(
    trainer: Trainer,
    before: StateBefore | undefined,
    report: StepReport,
  ): Promise<UserError | undefined> {
    if (!before) return undefined;
    const { reference_W, isIgnored } = this.#options;
    const results = await checkStep(trainer, report, { before, reference_W });
    using journal = new Journal(this.#path);
    for (const { boundReason, ...result } of results) {
      journal.append({ step: report.step, ...result, bound_reason: boundReason });
    }
    journal.sync();
    const broken = violated(results);
    if (broken.length === 0 || isIgnored) return undefined;
    const list = broken.map(({ id, name, value }) => `${id} ${name} (${value?.toPrecision(3)})`);
    return new UserError(
      sentence`Cannot continue training: in step ${report.step} the trainer violates ${
        list.join(", ")
      }; see ${this.#path}, or continue with ${setting("resume")} ${setting("ignoreChecks")}`,
      1,
    );
  }
}

/**
 * Drops the verdicts about a step and those behind it, which are given again.
 *
 * @param path The file; where it is missing nothing happens.
 * @param step The step that a run goes on with.
 * @throws {UserError} When the file cannot be read or written.
 */
export function cutLaterChecks(path: string, step: number): void {
  if (!exists(path)) return;
  let end = 0;
  for (const { row, end: rowEnd } of journalRows(path)) {
    if (!(typeof row.step === "number" && row.step < step)) break;
    end = rowEnd;
  }
  cutJournal(path, end);
}
