/** `agentrl formats`: the forms of logs that are read, and how each framework is told to write one. */
import { escapeControls } from "../../src/core/sentence.ts";
import { wrapText } from "../../src/core/wrap_text.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import type { LogReader } from "../../src/logs/reader.ts";
import { LOG_READERS } from "../../src/logs/readers.ts";
import { defineCommand } from "../command.ts";
import { say } from "../words.ts";

function describeReader({ form, title, howToGet }: LogReader, columns: number): string[] {
  const wrap = (text: string, indent: number) =>
    wrapText(escapeControls(text), { columns, indent, hanging: indent + 2 });
  return [
    ...wrap(`${form}: ${say(title)}`, 0),
    ...howToGet.flatMap((line) => wrap(say(line), 4)),
  ];
}

const INTRODUCTION =
  "A path may be a file of any name, gzip or not, - for standard input, or a folder: of a checkpoint, a " +
  "run or TensorBoard's events. The content tells the form.";

/** The command `formats`. */
export const command = defineCommand({
  flags: {},
  run: () => {
    const columns = terminalColumns();
    return Promise.resolve({
      document: {
        formats: LOG_READERS.map(({ form, title, howToGet, producer }) => ({
          form,
          title: say(title),
          howToGet: howToGet.map(say),
          producer: producer ?? null,
        })),
      },
      text: [
        ...wrapText(INTRODUCTION, { columns }),
        "",
        ...LOG_READERS.flatMap((reader) => describeReader(reader, columns)),
      ].join("\n"),
    });
  },
});
