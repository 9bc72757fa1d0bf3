/** OpenRLHF's status lines: `Global step 12: {…}`. */
import { numbersOf } from "./fields.ts";
import type { ConsoleForm } from "./console_reader.ts";
import { LabelledDicts } from "./labelled_dicts.ts";

/** The only line of OpenRLHF that holds its metrics; the synchronous trainer puts a sparkle sign before it. */
const LINE = /\bGlobal step (\d+):\s*/;

/** OpenRLHF's console. */
export const OPENRLHF_CONSOLE: ConsoleForm = {
  form: "openrlhf_console",
  title: "OpenRLHF console log",
  producer: "openrlhf",
  howToGet: ["OpenRLHF: the run's output in a file: … 2>&1 | tee openrlhf.log"],
  begin: (sink) =>
    new LabelledDicts(sink, {
      mark: "Global step ",
      label: LINE,
      take({ label, line, fields }) {
        sink.add(Number(label[1]), { line }, numbersOf(fields, sink));
      },
    }),
};
