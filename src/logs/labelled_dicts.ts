/** Console logs whose rows are a label with the step and a dict: `Global step 12: {…}`. */
import type { ConsoleParser } from "./console_reader.ts";
import { consoleLine, OpenDict } from "./console_text.ts";
import type { LogField } from "./literal.ts";
import type { TextLine } from "./reader.ts";
import type { LogSink } from "./run_log_builder.ts";

/** What the rows of a form look like. */
export interface LabelledForm {
  /** A text that each line with a label holds; others are skipped at once. */
  readonly mark: string;
  /** The label; the dict follows it. */
  readonly label: RegExp;
  /** True where the dict may begin on the next line. */
  readonly dictMayFollow?: boolean;
  /** Takes a row. */
  take(
    row: {
      readonly label: RegExpExecArray;
      readonly line: number;
      readonly fields: readonly LogField[];
    },
  ): void;
}

interface OpenRow {
  readonly label: RegExpExecArray;
  readonly line: number;
  /** Undefined where the dict has not begun. */
  readonly dict: OpenDict | undefined;
}

/** Reads such a log. */
export class LabelledDicts implements ConsoleParser {
  readonly #sink: LogSink;
  readonly #form: LabelledForm;
  #open: OpenRow | undefined;

  /** Takes the form, and where notes go. */
  constructor(sink: LogSink, form: LabelledForm) {
    this.#sink = sink;
    this.#form = form;
  }

  /** The next line. */
  line({ text, number }: TextLine): void {
    const isMarked = text.includes(this.#form.mark);
    if (!isMarked && !this.#open) return;
    const { body } = consoleLine(text);
    const label = isMarked ? this.#form.label.exec(body) : null;
    const rest = label ? body.slice(label.index + label[0].length) : "";
    if (label && (rest.startsWith("{") || (rest === "" && this.#form.dictMayFollow))) {
      if (this.#open?.dict) this.#sink.ignore("dicts that never end", this.#open.label[0]);
      this.#begin({ label, line: number }, rest);
    } else if (this.#open?.dict) this.#close(this.#open, this.#open.dict.take(body));
    else if (this.#open) this.#begin(this.#open, body.trimStart());
  }

  /** Begins the dict of a label in `text`, if it begins there; other lines may stand between them only where they are empty. */
  #begin({ label, line }: Omit<OpenRow, "dict">, text: string): void {
    if (text === "") {
      this.#open = { label, line, dict: undefined };
      return;
    }
    this.#open = undefined;
    if (!text.startsWith("{")) return;
    const dict = new OpenDict(text);
    this.#open = { label, line, dict };
    this.#close(this.#open, dict.parse());
  }

  #close({ label, line }: OpenRow, fields: ReturnType<OpenDict["parse"]>): void {
    if (fields === "unclosed") return;
    this.#open = undefined;
    if (fields === "malformed") this.#sink.ignore("dicts that cannot be read", label[0]);
    else this.#form.take({ label, line, fields });
  }

  /** There are no more lines. */
  end(): void {
    if (this.#open?.dict) {
      this.#sink.ignore("a dict that the end of the file truncates", this.#open.label[0]);
    }
  }
}
