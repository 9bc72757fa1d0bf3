/** The steps of rows of Hugging Face's Trainer: told by the row, by a progress bar before it, or by counting rows. */
import { isExtraRow, stepOf, trainerEntries } from "./hf_rows.ts";
import type { LogField } from "./literal.ts";
import type { LogSink } from "./run_log_builder.ts";

/** Where the training's bar stood. */
export interface BarCounter {
  readonly step: number;
  readonly planned: number;
}

/** A row of the Trainer. */
export interface TrainerRow {
  readonly fields: readonly LogField[];
  readonly line: number;
  /** The latest bar since the row before. */
  readonly counter?: BarCounter | undefined;
}

/** Adds rows of the Trainer to a log, and finds the step of those that do not tell it. */
export class TrainerSteps {
  readonly #sink: LogSink;
  readonly #loggingSteps: number | undefined;
  /** The first row (and the evaluations around it) waits for the second: only then is it known whether bars stand between rows. */
  #waiting: TrainerRow[] = [];
  #axis: "unknown" | "steps" | "rows" = "unknown";
  #planned = 0;
  #rows = 0;
  #step = 0;
  #interval: number | undefined;
  #areTold = false;

  /** Takes where rows go, and the steps from one row to the next where the user told them. */
  constructor(sink: LogSink, loggingSteps: number | undefined) {
    this.#sink = sink;
    this.#loggingSteps = loggingSteps;
  }

  /** True where rows have told their steps themselves. */
  get areTold(): boolean {
    return this.#areTold;
  }

  /** The next row. */
  take(row: TrainerRow): void {
    const told = stepOf(row.fields);
    if (told) {
      this.#areTold = true;
      this.#decide(true);
      if (told.plannedSteps !== undefined) this.#sink.set({ plannedSteps: told.plannedSteps });
      this.#step = told.step;
      this.#axis = "steps";
      this.#add(row);
      return;
    }
    const isExtra = isExtraRow(row.fields);
    const isFirst = !this.#waiting.some(({ fields }) => !isExtraRow(fields));
    if (this.#axis === "unknown" && (isExtra || isFirst)) {
      this.#waiting.push(row);
      return;
    }
    this.#decide(row.counter !== undefined);
    // An evaluation speaks of the step of the row before it.
    if (isExtra) this.#add(row);
    else this.#train(row);
  }

  /** There are no more rows. */
  end(): void {
    this.#decide(true);
  }

  /** Bars between the rows give steps; where rows come in a block, because stdout and stderr were buffered apart, they do not. */
  #decide(barsStandBetween: boolean): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    const first = waiting.find(({ fields }) => !isExtraRow(fields));
    this.#axis = first?.counter && barsStandBetween ? "steps" : "rows";
    for (const row of waiting) {
      // A log of evaluations alone has nothing but their order.
      if (row === first || first === undefined) this.#train(row);
      else this.#add(row);
    }
  }

  #train(row: TrainerRow): void {
    this.#rows++;
    if (this.#axis === "rows") this.#step = this.#rows * (this.#loggingSteps ?? 1);
    else {
      const before = this.#step;
      // The bar is drawn again after each row, so one that stands where it stood says nothing; and one that is drawn too rarely
      // leaves a row out. Rows come at equal distances.
      const isNew = row.counter !== undefined && (this.#rows === 1 || row.counter.step !== before);
      this.#step = isNew && row.counter
        ? row.counter.step
        : before + (this.#interval ?? this.#loggingSteps ?? 1);
      if (isNew && this.#rows > 1 && this.#step > before) this.#interval = this.#step - before;
      if (row.counter && row.counter.planned !== this.#planned) {
        this.#planned = row.counter.planned;
        this.#sink.set({ plannedSteps: this.#planned });
      }
    }
    this.#add(row);
  }

  #add({ fields, line }: TrainerRow): void {
    const axis = this.#axis === "rows" && this.#loggingSteps === undefined ? "row" : "step";
    this.#sink.add(this.#step, { line, axis }, trainerEntries(fields, this.#sink));
  }
}
