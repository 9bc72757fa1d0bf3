/** Readers of console logs: a form is what it makes of one line after the other. */
import type { LogInput, LogReader, ReadOptions, TextLine } from "./reader.ts";
import type { LogSink } from "./run_log_builder.ts";
import { isBinary, textOf } from "./text_lines.ts";

/** Takes the lines of one log. */
export interface ConsoleParser {
  /** The next line. */
  line(line: TextLine): void;
  /** There are no more lines. */
  end(): void;
}

/** One form of console log. */
export interface ConsoleForm extends Pick<LogReader, "form" | "title" | "howToGet" | "producer"> {
  /** Begins a log. */
  begin(sink: LogSink, options: ReadOptions): ConsoleParser;
}

/** Where a head holds a row of a form, it is of that form; but a file of JSON lines may look like it, and is surer of itself. */
const CONSOLE_SURENESS = 0.85;

/** Text of the whole lines of a head. */
export function headLines(head: Uint8Array): readonly TextLine[] {
  const lines = textOf(head).split(/\r\n|\r|\n/);
  return lines.map((text, i) => ({
    text,
    number: i + 1,
    ...(i === lines.length - 1 && { isUnended: true as const }),
  }));
}

/** Counts rows and keeps nothing. */
function countingSink(count: () => void): LogSink {
  const nothing = () => {};
  return { add: count, ignore: nothing, set: nothing, identify: nothing };
}

/** True where the parser of a form finds a row among lines. */
function findsRow(form: ConsoleForm, lines: readonly TextLine[]): boolean {
  let rows = 0;
  const parser = form.begin(countingSink(() => rows++), {});
  for (const line of lines) parser.line(line);
  parser.end();
  return rows > 0;
}

/** The reader of a console form. */
export function consoleReader(form: ConsoleForm): LogReader {
  return {
    form: form.form,
    title: form.title,
    howToGet: form.howToGet,
    ...(form.producer !== undefined && { producer: form.producer }),
    detect(head) {
      if (isBinary(head)) return 0;
      return findsRow(form, headLines(head)) ? CONSOLE_SURENESS : 0;
    },
    async read(input, builder, options = {}) {
      await parseAll(form.begin(builder, options), input);
    },
  };
}

async function parseAll(parser: ConsoleParser, input: LogInput): Promise<void> {
  for await (const lines of input.lines()) {
    for (const line of lines) parser.line(line);
  }
  parser.end();
}
