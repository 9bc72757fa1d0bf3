/** Console of Hugging Face's Trainer (TRL, Unsloth, ms-swift, open-r1): Python dicts between progress bars. */
import type { ConsoleForm, ConsoleParser } from "./console_reader.ts";
import { consoleLine, OpenDict } from "./console_text.ts";
import { isExtraRow, isTrainerRow, stepOf } from "./hf_rows.ts";
import { type BarCounter, TrainerSteps } from "./hf_steps.ts";
import type { LogField } from "./literal.ts";
import type { ReadOptions, TextLine } from "./reader.ts";
import type { LogSink } from "./run_log_builder.ts";

/**
 * tqdm's bar of the training has no title before its percentage, or is called so; those of maps and downloads have others.
 * Where the terminal is narrow the bar itself is left out.
 */
const BAR = /^\s*(?:Train(?:ing)?:?\s+)?\d{1,3}%(?:\|[^|]*\|\s*|\s+)(\d+)\/(\d+)\s*\[/;
/** Where a dict begins, or its first key where the brace is lost. */
const DICT = /\{\s*['"][^'"{}]+['"]\s*:/;
const FIRST_KEY = /^\s*['"][\w/ .@-]+['"]\s*:\s*/;
/** Where a text begins within a dict: the rest of a value, and a key after it. */
const CUT_KEY = /^[^{}]*?,\s*(?=['"][\w/ .@-]+['"]\s*:)/;

class HfParser implements ConsoleParser {
  readonly #steps: TrainerSteps;
  readonly #sink: LogSink;
  #open: { readonly dict: OpenDict; readonly line: number } | undefined;
  #counter: BarCounter | undefined;
  /** True before the first dict: only it can have lost its beginning. */
  #isFirst = true;

  constructor(sink: LogSink, { settings }: ReadOptions) {
    this.#sink = sink;
    this.#steps = new TrainerSteps(sink, settings?.loggingSteps);
  }

  line({ text, number }: TextLine): void {
    if (!this.#open && !text.includes("'") && !text.includes('"') && !text.includes("%")) return;
    const { body } = consoleLine(text);
    if (this.#open && DICT.test(body)) {
      this.#sink.ignore("dicts that never end", body);
      this.#open = undefined;
    }
    // Where a line feed is lost, several dicts and bars stand on one line.
    let rest: string | undefined = this.#open
      ? this.#close(this.#open, this.#open.dict.take(body))
      : body;
    while (rest !== undefined) rest = this.#begin(rest, number);
  }

  /** @returns What follows a dict that begins in `text` and ends there. */
  #begin(text: string, line: number): string | undefined {
    this.#seeBar(text);
    const start = DICT.exec(text)?.index ?? this.#withoutBrace(text);
    if (start < 0) return undefined;
    this.#open = { dict: new OpenDict(text.slice(start)), line };
    return this.#close(this.#open, this.#open.dict.parse());
  }

  /** Where a dict begins whose brace is lost, of the first also what stands before its first whole key; below 0 where none does. */
  #withoutBrace(text: string): number {
    if (FIRST_KEY.test(text)) return text.search(/['"]/);
    const cut = this.#isFirst && text.includes("}") ? CUT_KEY.exec(text.slice(0, 4096)) : null;
    return cut ? cut[0].length : -1;
  }

  #seeBar(body: string): void {
    if (!body.includes("%")) return;
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
    if (isTrainerRow(fields)) this.#take(fields, line);
    return dict.rest;
  }

  #take(fields: readonly LogField[], line: number): void {
    const counter = isExtraRow(fields) ? undefined : this.#counter;
    this.#steps.take({ fields, line, counter });
    this.#counter = undefined;
    this.#isFirst = false;
  }

  end(): void {
    if (this.#open) {
      const { dict, line } = this.#open;
      const fields = dict.fieldsSoFar;
      this.#sink.ignore("a dict that the end of the file truncates", "");
      // A log of nothing else may be of another form; and where rows tell their step, one without it would stand at a guess.
      const isPlaced = !this.#steps.areTold || stepOf(fields) !== undefined;
      if (!this.#isFirst && isPlaced && isTrainerRow(fields)) this.#take(fields, line);
    }
    this.#steps.end();
  }
}

/** The Trainer's console. */
export const HF_CONSOLE: ConsoleForm = {
  form: "hf_console",
  title: "console log of the Hugging Face Trainer (TRL, Unsloth, ms-swift, open-r1)",
  howToGet: [
    "TRL, Unsloth, open-r1: the run's output in a file: python train.py 2>&1 | tee train.log " +
    "(trainer_state.json in the output folder says more)",
  ],
  begin: (sink, options) => new HfParser(sink, options),
};
