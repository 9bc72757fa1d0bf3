/** Texts with objects or dicts of metrics over several lines and without a label, as READMEs and printed results show them. */
import { type ConsoleForm, type ConsoleParser, consoleReader } from "./console_reader.ts";
import { consoleLine, OpenDict } from "./console_text.ts";
import { numbersOf } from "./fields.ts";
import type { LogField } from "./literal.ts";
import type { LogReader, TextLine } from "./reader.ts";
import type { LogSink } from "./run_log_builder.ts";
import { fieldNumber, STEP_KEYS } from "./step_key.ts";

/** A key with a folder, as trackers group metrics; settings are nested objects instead. */
const FOLDER_KEY = /['"][\w.@-]+\/[^'"]*['"]\s*:/g;
/** Fewest of them by which an object is one of metrics. */
const LEAST_KEYS = 3;

/** Steps that a trainer writes beside its metrics, in a folder of their own. */
const isStep = (key: string) => STEP_KEYS.includes(key) || /^(?:eval|perf)\/step$/.test(key);

class ObjectsParser implements ConsoleParser {
  readonly #sink: LogSink;
  #open: { readonly dict: OpenDict; readonly line: number; folderKeys: number } | undefined;
  /** The row that objects belong to, and the keys that it has: one that comes again begins the next. */
  #row = 1;
  #keys = new Set<string>();

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  line({ text, number }: TextLine): void {
    if (!this.#open && !text.includes("{")) return;
    const body = consoleLine(text).body.trim();
    const folderKeys = body.match(FOLDER_KEY)?.length ?? 0;
    if (this.#open) {
      this.#open.folderKeys += folderKeys;
      this.#close(this.#open.dict.take(body));
    } else if (/^\{\s*(?:$|['"])/.test(body)) {
      this.#open = { dict: new OpenDict(body), line: number, folderKeys };
      this.#close(this.#open.dict.parse());
    }
  }

  #close(fields: ReturnType<OpenDict["parse"]>): void {
    const open = this.#open;
    if (fields === "unclosed" || !open) return;
    this.#open = undefined;
    if (fields !== "malformed" && open.folderKeys >= LEAST_KEYS) this.#take(fields, open.line);
  }

  #take(fields: readonly LogField[], line: number): void {
    const own = fields.filter(({ key }) => !isStep(key));
    const told = fields.find(({ key, value }) =>
      STEP_KEYS.includes(key) && fieldNumber(value) !== undefined
    );
    const step = told && fieldNumber(told.value);
    if (step !== undefined) return this.#sink.add(step, { line }, numbersOf(own, this.#sink));
    if (own.some(({ key }) => this.#keys.has(key))) {
      this.#row++;
      this.#keys = new Set();
    }
    for (const { key } of own) this.#keys.add(key);
    this.#sink.add(this.#row, { line, axis: "row" }, numbersOf(own, this.#sink));
  }

  end(): void {
    if (this.#open) this.#sink.ignore("an object that the end of the file truncates", "");
  }
}

const FORM: ConsoleForm = {
  form: "metric_objects",
  title:
    "texts with JSON objects or Python dicts of metrics (keys such as train/loss) over several lines",
  howToGet: ["print(json.dumps(metrics, indent=2)) or pprint(metrics) after each step"],
  begin: (sink) => new ObjectsParser(sink),
};

/** Every other reader that finds a row knows it better. */
const BELOW_OTHERS = 0.3;

/** Objects of metrics in a text. */
export const METRIC_OBJECTS: LogReader = {
  ...consoleReader(FORM),
  detect: (head) => consoleReader(FORM).detect(head) > 0 ? BELOW_OTHERS : 0,
};
