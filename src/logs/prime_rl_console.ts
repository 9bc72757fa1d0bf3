/** prime-rl's console: `Step 12 |  8.4s | Loss 0.0123 | …`, before 2026 with colons: `Step 12 | Time: 8.42s | Loss: 0.0123 | …`. */
import type { ConsoleForm, ConsoleParser } from "./console_reader.ts";
import { consoleLine } from "./console_text.ts";
import { numberOf } from "./literal.ts";
import type { TextLine } from "./reader.ts";
import type { LogEntry, LogSink } from "./run_log_builder.ts";

const STEP = /(?:^|[\s\]])Step (\d+)\s*\|/;
/** A name, with or without a colon, a number, and perhaps a unit. */
const FIELD =
  /^(?:(\S.*?):?\s+)?([-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|nan|inf))(?:\s?[A-Za-z%/]+)?(?:\s*\([^()]*\))?$/i;
/** No field is longer; the pattern would be slow on a line of junk. */
const MAX_FIELD_LENGTH = 200;

function entryOf(field: string): LogEntry | undefined {
  const match = field.length > MAX_FIELD_LENGTH ? null : FIELD.exec(field);
  const value = match ? numberOf(match[2]) : undefined;
  if (!match || value === undefined) return undefined;
  // The time of the step stands without its name in new versions.
  return [match[1] ?? "Time", value, match[2]];
}

class PrimeParser implements ConsoleParser {
  readonly #sink: LogSink;

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  line({ text, number, isUnended }: TextLine): void {
    if (!text.includes("Step ") || !text.includes("|")) return;
    const { body } = consoleLine(text);
    const step = STEP.exec(body);
    if (!step) return;
    const fields = body.slice(step.index + step[0].length).split("|").map((field) => field.trim());
    const entries: LogEntry[] = [];
    for (const [i, field] of fields.entries()) {
      if (field === "") continue;
      const entry = entryOf(field);
      if (isUnended && i === fields.length - 1) {
        this.#sink.ignore("a number that may be cut off by the end of the file", field);
      } else if (entry) entries.push(entry);
      else this.#sink.ignore("values that are not numbers", field);
    }
    this.#sink.add(Number(step[1]), { line: number }, entries);
  }

  end(): void {}
}

/** prime-rl's console. */
export const PRIME_RL_CONSOLE: ConsoleForm = {
  form: "prime_rl_console",
  title: "prime-rl console log (trainer or orchestrator)",
  producer: "prime_rl",
  howToGet: ["prime-rl: logs/attempt_N/ in the output folder; metrics.jsonl beside it says more"],
  begin: (sink) => new PrimeParser(sink),
};
