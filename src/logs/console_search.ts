/** Reads console logs whose first bytes hold no row of any form, such as those with a megabyte of start-up messages. */
import { UserError } from "../core/errors.ts";
import type { ConsoleForm } from "./console_reader.ts";
import { unreadable } from "./describe_head.ts";
import type { LogInput, LogReader, ReadOptions } from "./reader.ts";
import type { FoundForm, LogSink } from "./run_log_builder.ts";
import { isBinary } from "./text_lines.ts";

/** Any text may be such a log, but every other reader that knows a file knows better. */
const LAST_RESORT = 0.01;

/**
 * All forms look at every line, and the first to find a row reads the rest alone.
 *
 * @returns True where one found a row.
 */
async function searchConsole(
  input: LogInput,
  { forms, sink, options }: {
    readonly forms: readonly ConsoleForm[];
    readonly sink: LogSink;
    readonly options: ReadOptions;
  },
): Promise<boolean> {
  let found: FoundForm | undefined;
  const parsers = forms.map((form) => {
    const isMine = () => found === undefined || found.form === form.form;
    const guarded: LogSink = {
      add(step, place, entries) {
        if (!isMine()) return;
        found = {
          form: form.form,
          ...(form.producer !== undefined && { producer: form.producer }),
        };
        sink.add(step, place, entries);
      },
      // What a form passes over is known to matter only once it has found a row.
      ignore: (what, example, count) => found && isMine() && sink.ignore(what, example, count),
      set: (settings) => isMine() && sink.set(settings),
      identify: () => {},
    };
    return { form, parser: form.begin(guarded, options) };
  });
  const active = () => found ? parsers.filter(({ form }) => form.form === found?.form) : parsers;
  for await (const lines of input.lines()) {
    let parsing = active();
    for (const line of lines) {
      for (const { parser } of parsing) parser.line(line);
      if (found && parsing.length > 1) parsing = active();
    }
  }
  for (const { parser } of active()) parser.end();
  if (found) sink.identify(found);
  return found !== undefined;
}

/** The reader that looks for any of the forms. */
export function consoleSearch(forms: readonly ConsoleForm[]): LogReader {
  return {
    form: "console",
    title: "console log of any of these trainers that starts with other output",
    howToGet: [],
    detect: (head) => head.length === 0 || isBinary(head) ? 0 : LAST_RESORT,
    async read(input, builder, options = {}) {
      if (!await searchConsole(input, { forms, sink: builder, options })) {
        throw new UserError(unreadable(input.name, input.head));
      }
    },
  };
}
