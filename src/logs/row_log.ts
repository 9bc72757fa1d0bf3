/** Adds rows that are objects to a log: finds their step, and what of them is a number. */
import { UserError } from "../core/errors.ts";
import { numbersOf } from "./fields.ts";
import type { LogField } from "./literal.ts";
import type { ReadOptions } from "./reader.ts";
import type { LogSink } from "./run_log_builder.ts";
import { fieldNumber, findStepKey, hasTwoAxes, TWO_AXES } from "./step_key.ts";

/** Rows that are looked at before the step key is chosen. */
const ROWS_TO_JUDGE = 64;

interface PlacedRow {
  readonly fields: readonly LogField[];
  readonly line: number;
}

/** How a form differs from the plain one. */
export interface RowForm {
  /** The step key, where the form knows it. */
  readonly stepKey?: string;
  /** The step in the text under the step key, where that is not a number itself. */
  readonly readStep?: (text: string, sink: LogSink) => number | undefined;
  /** True where a null stands for a NaN that the writer could not write. */
  readonly nullIsNaN?: boolean;
  /** True where rows without a step speak of the step of the row before. */
  readonly stepCarriesOver?: boolean;
}

/** Takes the rows of one file. */
export class RowLog {
  readonly #sink: LogSink;
  readonly #form: RowForm;
  readonly #name: string;
  readonly #userKey: string | undefined;
  #stepKey: string | undefined;
  /** True where rows count on two axes. */
  #hasTwoAxes = false;
  /** Rows that wait for the step key. */
  #waiting: PlacedRow[] | undefined = [];
  #rows = 0;
  #lastStep: number | undefined;

  /** Takes where rows go, what the user said, and the form. */
  constructor(
    sink: LogSink,
    { name, options, form }: {
      readonly name: string;
      readonly options: ReadOptions;
      readonly form: RowForm;
    },
  ) {
    this.#sink = sink;
    this.#form = form;
    this.#name = name;
    this.#userKey = options.stepKey;
    this.#stepKey = options.stepKey ?? form.stepKey;
    if (this.#stepKey !== undefined) this.#waiting = undefined;
  }

  /** The next row. */
  take(fields: readonly LogField[], line: number): void {
    if (!this.#waiting) return this.#add({ fields, line });
    this.#waiting.push({ fields, line });
    if (this.#waiting.length === ROWS_TO_JUDGE) this.#decide();
  }

  /** There are no more rows. @throws {UserError} When the key that the user named is in none. */
  end(): void {
    this.#decide();
    if (this.#userKey !== undefined && this.#lastStep === undefined && this.#rows > 0) {
      throw new UserError(
        `Cannot read ${this.#name}: none of its ${this.#rows} rows has a number under ${
          JSON.stringify(this.#userKey)
        }; give the key that counts the steps`,
      );
    }
  }

  #decide(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    const rows = waiting.map(({ fields }) => fields);
    this.#hasTwoAxes = hasTwoAxes(rows);
    this.#stepKey = findStepKey(rows);
    for (const row of waiting) this.#add(row);
  }

  #add(row: PlacedRow): void {
    this.#rows++;
    if (this.#hasTwoAxes) return this.#addByAxis(row);
    const { fields, line } = row;
    const key = this.#stepKey;
    if (key === undefined) return this.#addNumbers(fields, { step: this.#rows, line, axis: "row" });
    let step: number | undefined;
    for (const field of fields) {
      if (field.key === key) step = this.#stepIn(field);
    }
    if (step === undefined && this.#form.stepCarriesOver) step = this.#lastStep;
    if (step === undefined) return this.#sink.ignore(`rows without ${key}`, `line ${line}`);
    this.#lastStep = step;
    this.#addNumbers(fields.filter((field) => field.key !== key), { step, line, axis: "step" });
  }

  #stepIn({ value }: LogField): number | undefined {
    if (typeof value === "string" && this.#form.readStep) {
      return this.#form.readStep(value, this.#sink);
    }
    return fieldNumber(value);
  }

  /** Keys of the optimizer's axis go to it, the others to that of the rollouts. */
  #addByAxis({ fields, line }: PlacedRow): void {
    for (const [axis, { isOn, stepKeys }] of Object.entries(TWO_AXES)) {
      const own = fields.filter(({ key }) => isOn(key));
      const step = own.find(({ key, value }) =>
        stepKeys.includes(key) && fieldNumber(value) !== undefined
      );
      const metrics = own.filter(({ key }) => !stepKeys.includes(key));
      if (step) this.#addNumbers(metrics, { step: Number(step.value), line, axis });
      else if (metrics.some(({ key }) => !key.startsWith("_"))) {
        this.#sink.ignore(`rows without ${stepKeys[0]}`, `line ${line}`);
      }
    }
  }

  #addNumbers(
    metrics: readonly LogField[],
    { step, line, axis }: {
      readonly step: number;
      readonly line: number;
      readonly axis: string;
    },
  ): void {
    const entries = numbersOf(metrics, this.#sink);
    this.#sink.add(
      step,
      { line, axis },
      this.#form.nullIsNaN
        ? entries.map(([key, value, written]) => [key, value ?? NaN, written])
        : entries,
    );
  }
}
