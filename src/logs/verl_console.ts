/** verl's console: `step:12 - actor/entropy:0.41 - …` among thousands of other lines. Also TinyZero, Agent-R1, verl-tool. */
import type { ConsoleForm, ConsoleParser } from "./console_reader.ts";
import { consoleLine } from "./console_text.ts";
import { numberOf } from "./literal.ts";
import type { TextLine } from "./reader.ts";
import type { LogEntry, LogSink } from "./run_log_builder.ts";

/** A progress bar may end right before it; `training/global_step:12` is none. Its fields can begin on the next line. */
const STEP = /(?<![\w/.:-])step:(\d+)(?= -(?: |$)|\s*$)/;

/** A key of the form `actor/lr(1e-4)` gives its values in that unit. */
const UNIT = /^(.+)\(1(?:\.0*)?[eE]([-+]?\d+)\)$/;

/** Keys have no space after the colon; so a list of the user's (` - lr: 0.1`) is not part of a step. */
function isField(text: string): boolean {
  const colon = text.lastIndexOf(":");
  return colon > 0 && colon < text.length - 1 && !/\s/.test(text.slice(colon));
}

/** The entry in `key:value`; undefined where it is none. */
function entryOf(field: string): LogEntry | undefined {
  const colon = field.lastIndexOf(":");
  const key = field.slice(0, colon);
  let written = field.slice(colon + 1);
  const wrapped = /^[\w.]+\(([^()]*)\)$/.exec(written);
  const value = numberOf(written);
  if (colon <= 0 || value === undefined) return undefined;
  if (wrapped) written = wrapped[1];
  const unit = UNIT.exec(key);
  if (!unit) return [key, value, written];
  // 0.010 in units of 1e-4 is read as 0.010e-4: a product would not be the nearest number.
  const scaled = numberOf(`${written}e${unit[2]}`) ?? value * Number(`1e${unit[2]}`);
  return [unit[1], scaled, `${written}e${unit[2]}`];
}

/**
 * Whether a line is the rest of a field that a paste has broken anywhere: only together are they one, and other fields follow.
 *
 * @param tail The last field of the line before.
 */
function isBroken(tail: string, body: string): boolean {
  const [rest, next] = body.trim().split(" - ", 2);
  const isRest = entryOf(tail) === undefined || /^[\d.]+(?:e[-+]?\d+)?$/.test(rest);
  return tail !== "" && next !== undefined && isRest && entryOf(tail + rest) !== undefined &&
    isField(next.trim());
}

/** A step whose line may go on. */
interface OpenStep {
  readonly step: number;
  readonly line: number;
  readonly prefix: string;
  readonly entries: LogEntry[];
  endsInDash: boolean;
  /** The last field of the line before: a paste may have broken it. */
  tail: string;
}

class VerlParser implements ConsoleParser {
  readonly #sink: LogSink;
  #open: OpenStep | undefined;

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  line({ text, number, isUnended }: TextLine): void {
    const mayStart = text.includes("step:");
    if (!mayStart && !this.#open) return;
    const { prefix, body } = consoleLine(text);
    const start = mayStart ? STEP.exec(body) : null;
    if (start) {
      this.end();
      const step = Number(start[1]);
      this.#open = { step, line: number, prefix, entries: [], endsInDash: false, tail: "" };
      this.#fields(body.slice(start.index + start[0].length), isUnended === true);
    } else if (this.#open && this.#continues(prefix, body)) {
      this.#settle();
      this.#fields(body, isUnended === true);
    } else if (this.#open && prefix === "" && isBroken(this.#open.tail, body)) {
      const whole = this.#open.tail + body.trimEnd();
      this.#open.tail = "";
      this.#fields(whole, isUnended === true);
    } else if (this.#open?.prefix === prefix && body.trim() !== "") {
      this.end();
    }
  }

  /** A wrapped step goes on with " - key:value" of the same process, whose name may stand on its first line alone. */
  #continues(prefix: string, body: string): boolean {
    const first = body.trim();
    if (prefix === "" && first.startsWith("- ") && this.#open) prefix = this.#open.prefix;
    if (prefix !== this.#open?.prefix) return false;
    if (!first.startsWith("- ")) {
      return this.#open.endsInDash && isField(first.split(" - ", 1)[0]);
    }
    return isField(first.slice(2).split(" - ", 1)[0]);
  }

  /** @param isCut True where the file ends in this line: then its last number may be a part of one. */
  #fields(text: string, isCut: boolean): void {
    const open = this.#open;
    if (!open) return;
    open.endsInDash = /(?:^|\s)-\s*$/.test(text);
    const fields = ` ${text.trim()} `.split(" - ").map((field) => field.trim())
      .filter((field) => field !== "" && field !== "-");
    const last = open.endsInDash ? "" : fields.pop() ?? "";
    for (const field of fields) this.#field(field);
    if (isCut && last !== "") {
      this.#sink.ignore("a number that may be cut off by the end of the file", last);
    } else open.tail = last;
  }

  #field(field: string): void {
    const entry = entryOf(field);
    if (entry) this.#open?.entries.push(entry);
    else this.#sink.ignore("values that are not numbers", field);
  }

  /** The last field of the line before is whole. */
  #settle(): void {
    const tail = this.#open?.tail ?? "";
    if (this.#open) this.#open.tail = "";
    if (tail !== "") this.#field(tail);
  }

  end(): void {
    this.#settle();
    const open = this.#open;
    this.#open = undefined;
    if (open && open.entries.length > 0) {
      this.#sink.add(open.step, { line: open.line }, open.entries);
    }
  }
}

/** verl's console. */
export const VERL_CONSOLE: ConsoleForm = {
  form: "verl_console",
  title: "verl console log",
  producer: "verl",
  howToGet: [
    'verl: trainer.logger=["console"], and the output of the run in a file: … 2>&1 | tee verl.log',
  ],
  begin: (sink) => new VerlParser(sink),
};
