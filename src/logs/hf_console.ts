/** Console of Hugging Face's Trainer (TRL, Unsloth, ms-swift, open-r1): Python dicts between progress bars. */
import type { ConsoleForm, ConsoleParser } from "./console_reader.ts";
import { consoleLine, OpenDict } from "./console_text.ts";
import { isExtraRow, isTrainerRow, stepOf, trainerEntries } from "./hf_rows.ts";
import type { LogField } from "./literal.ts";
import type { ReadOptions, TextLine } from "./reader.ts";
import type { LogSink } from "./run_log_builder.ts";

/** tqdm's bar of the training has no title before its percentage; or is called so; those of maps and downloads have others. */
const BAR = /^\s*(?:Train(?:ing)?:?\s+)?\d{1,3}%\|[^|]*\|\s*(\d+)\/(\d+)\s*\[/;
/** Where a dict begins, or its first key where the brace is lost. */
const DICT = /\{\s*['"][^'"{}]+['"]\s*:/;
const FIRST_KEY = /^\s*['"][\w/ .@-]+['"]\s*:\s*/;

interface Counter {
  readonly step: number;
  readonly planned: number;
}

interface Row {
  readonly fields: readonly LogField[];
  readonly line: number;
  /** The latest bar since the row before. */
  readonly counter: Counter | undefined;
}

/** Finds the step of rows that do not tell it. */
class StepFinder {
  readonly #sink: LogSink;
  readonly #loggingSteps: number | undefined;
  /** The first row (and the evaluations behind it) waits for the second: only then is it known whether bars stand between rows. */
  #waiting: Row[] = [];
  #axis: "unknown" | "bars" | "rows" = "unknown";
  #planned = 0;
  #rows = 0;
  #step = 0;
  #interval: number | undefined;

  constructor(sink: LogSink, loggingSteps: number | undefined) {
    this.#sink = sink;
    this.#loggingSteps = loggingSteps;
  }

  take(row: Row): void {
    const told = stepOf(row.fields);
    if (told) {
      if (told.plannedSteps !== undefined) this.#sink.set({ plannedSteps: told.plannedSteps });
      this.#step = told.step;
      this.#axis = "bars";
      this.#add(row);
    } else if (isExtraRow(row.fields)) {
      // It speaks of the step of the row before it.
      if (this.#waiting.length > 0) this.#waiting.push(row);
      else this.#add(row);
    } else if (this.#axis === "unknown" && this.#waiting.length === 0) {
      this.#waiting.push(row);
    } else {
      this.#decide(row.counter !== undefined);
      this.#train(row);
    }
  }

  end(): void {
    this.#decide(true);
  }

  /** Bars between the rows give steps; where rows come in a block, because stdout and stderr were buffered apart, they do not. */
  #decide(barsStandBetween: boolean): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [i, row] of waiting.entries()) {
      if (i === 0) this.#axis = row.counter && barsStandBetween ? "bars" : "rows";
      if (i === 0) this.#train(row);
      else this.#add(row);
    }
  }

  #train(row: Row): void {
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

  #add({ fields, line }: Row): void {
    const axis = this.#axis === "rows" && this.#loggingSteps === undefined ? "row" : "step";
    this.#sink.add(this.#step, { line, axis }, trainerEntries(fields, this.#sink));
  }
}

class HfParser implements ConsoleParser {
  readonly #steps: StepFinder;
  readonly #sink: LogSink;
  #open: { readonly dict: OpenDict; readonly line: number } | undefined;
  #counter: Counter | undefined;

  constructor(sink: LogSink, { settings }: ReadOptions) {
    this.#sink = sink;
    this.#steps = new StepFinder(sink, settings?.loggingSteps);
  }

  line({ text, number }: TextLine): void {
    if (!this.#open && !text.includes("'") && !text.includes('"') && !text.includes("%|")) return;
    const { body } = consoleLine(text);
    if (this.#open && DICT.test(body)) {
      this.#sink.ignore("dicts without an end", body);
      this.#open = undefined;
    }
    // Where a line feed is lost, several dicts and bars stand on one line.
    let rest: string | undefined = this.#open
      ? this.#close(this.#open, this.#open.dict.take(body))
      : body;
    while (rest !== undefined) rest = this.#begin(rest, number);
  }

  /** @returns What stands behind a dict that begins in `text` and ends there. */
  #begin(text: string, line: number): string | undefined {
    this.#seeBar(text);
    const start = DICT.exec(text)?.index ?? (FIRST_KEY.test(text) ? text.search(/['"]/) : -1);
    if (start < 0) return undefined;
    this.#open = { dict: new OpenDict(text.slice(start)), line };
    return this.#close(this.#open, this.#open.dict.parse());
  }

  #seeBar(body: string): void {
    if (!body.includes("%|")) return;
    const bar = BAR.exec(body);
    if (bar) this.#counter = { step: Number(bar[1]), planned: Number(bar[2]) };
  }

  #close(
    { dict, line }: { readonly dict: OpenDict; readonly line: number },
    fields: ReturnType<OpenDict["parse"]>,
  ): string | undefined {
    if (fields === "unclosed") return undefined;
    this.#open = undefined;
    if (fields === "malformed") return undefined;
    if (isTrainerRow(fields)) {
      const counter = isExtraRow(fields) ? undefined : this.#counter;
      this.#steps.take({ fields, line, counter });
      this.#counter = undefined;
    }
    return dict.rest;
  }

  end(): void {
    if (this.#open) this.#sink.ignore("a dict that the end of the file cuts off", "");
    this.#steps.end();
  }
}

/** The Trainer's console. */
export const HF_CONSOLE: ConsoleForm = {
  form: "hf_console",
  title: "console log of the Hugging Face Trainer (TRL, Unsloth, ms-swift, open-r1)",
  howToGet: [
    "TRL, Unsloth, open-r1: the output of the run in a file: python train.py 2>&1 | tee train.log " +
    "(trainer_state.json in the output folder says more)",
  ],
  begin: (sink, options) => new HfParser(sink, options),
};
