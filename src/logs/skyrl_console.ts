/** SkyRL's console: `Step 12:` and then a dict of texts over many lines. */
import type { ConsoleForm } from "./console_reader.ts";
import { numbersOf } from "./fields.ts";
import { LabelledDicts } from "./labelled_dicts.ts";

const LINE = /\bStep (\d+):\s*/;

/** SkyRL's console. */
export const SKYRL_CONSOLE: ConsoleForm = {
  form: "skyrl_console",
  title: "SkyRL console log",
  producer: "skyrl",
  howToGet: [
    'SkyRL: trainer.logger="console", and the output of the run in a file: … 2>&1 | tee skyrl.log',
  ],
  begin: (sink) =>
    new LabelledDicts(sink, {
      mark: "Step ",
      label: LINE,
      dictMayFollow: true,
      take({ label, line, fields }) {
        sink.add(Number(label[1]), { line }, numbersOf(fields, sink));
      },
    }),
};
