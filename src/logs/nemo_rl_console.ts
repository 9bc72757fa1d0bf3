/** NeMo-RL's console: `Step 3/100`, then `Training Results:` and bullets: `• Loss: 0.0123`. */
import type { ConsoleForm, ConsoleParser } from "./console_reader.ts";
import { consoleLine } from "./console_text.ts";
import { numberOf } from "./literal.ts";
import type { TextLine } from "./reader.ts";
import type { LogEntry, LogSink } from "./run_log_builder.ts";

const STEP = /(?:^|=\s*)\s?Step (\d+)\/(\d+)\b/;
/** What stands before the bullets of a step; an excerpt may begin with it, so that its steps are only counted. */
const RESULTS = /^\W*Training Results:\s*$/;
const BULLET = /^\s*[•*]\s+([^:]+):\s*(\S+)(?:\s|$)/;
/** No bullet is longer; the pattern would be slow on a line of junk. */
const MAX_BULLET_LENGTH = 400;
/** `12.34s`, `41.5%`. */
const UNIT = /(?<=[\d.])(?:s|ms|%|x)?,?$/;

class NemoParser implements ConsoleParser {
  readonly #sink: LogSink;
  #step: { readonly number: number; readonly line: number; readonly axis: string } | undefined;
  /** Blocks of results without a step before them. */
  #counted = 0;
  #hasResults = false;
  #entries: LogEntry[] = [];

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  line({ text, number, isUnended }: TextLine): void {
    const isBullet = this.#step !== undefined && (text.includes("•") || text.includes("* "));
    const mayBegin = text.includes("Step ") || text.includes("Training Results:");
    if (!isBullet && !mayBegin) return;
    const { body } = consoleLine(text);
    if (mayBegin && RESULTS.test(body)) return this.#results(number);
    const step = STEP.exec(body);
    if (step) {
      this.end();
      if (isUnended) return; // 1/10 may be the beginning of 1/100.
      this.#step = { number: Number(step[1]), line: number, axis: "step" };
      this.#sink.set({ plannedSteps: Number(step[2]) });
      return;
    }
    const bullet = body.length > MAX_BULLET_LENGTH ? null : BULLET.exec(body);
    if (!bullet || !this.#step) return;
    const written = bullet[2].replace(UNIT, "");
    const value = numberOf(written);
    if (value === undefined) this.#sink.ignore("bullets without a number", body.trim());
    else if (isUnended) {
      this.#sink.ignore("a number that may be cut off by the end of the file", body);
    } else this.#entries.push([bullet[1].trim(), value, written]);
  }

  /** The results of the step that was named, or of the next one that was not. */
  #results(line: number): void {
    if (this.#step === undefined || this.#hasResults) {
      this.end();
      this.#step = { number: ++this.#counted, line, axis: "row" };
    }
    this.#hasResults = true;
  }

  end(): void {
    if (this.#step) this.#sink.add(this.#step.number, this.#step, this.#entries);
    this.#step = undefined;
    this.#entries = [];
    this.#hasResults = false;
  }
}

/** NeMo-RL's console. */
export const NEMO_RL_CONSOLE: ConsoleForm = {
  form: "nemo_rl_console",
  title: "NeMo-RL console log",
  producer: "nemo_rl",
  howToGet: [
    "NeMo-RL: the run's output in a file: … 2>&1 | tee nemo.log; logger.wandb_enabled=true or " +
    "logger.tensorboard_enabled=true writes many more metrics",
  ],
  begin: (sink) => new NemoParser(sink),
};
