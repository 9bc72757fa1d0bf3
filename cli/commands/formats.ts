/** `agentrl formats`: the forms of logs and token dumps that are read, and how each framework is told to write one. */
import { escapeControls } from "../../src/core/sentence.ts";
import { wrapText } from "../../src/core/wrap_text.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import type { LogReader } from "../../src/logs/reader.ts";
import { LOG_READERS } from "../../src/logs/readers.ts";
import { TOKEN_READERS } from "../../src/tokens/token_readers.ts";
import { defineCommand } from "../command.ts";
import { say } from "../words.ts";

type Described = Pick<LogReader, "form" | "title" | "howToGet" | "producer">;

function describeReader({ form, title, howToGet }: Described, columns: number): string[] {
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

const DUMPS = "Token dumps, which have what no log has (docs/formats.md):";

const document = ({ form, title, howToGet, producer }: Described) => ({
  form,
  title: say(title),
  howToGet: howToGet.map(say),
  producer: producer ?? null,
});

/** The command `formats`. */
export const command = defineCommand({
  flags: {},
  run: () => {
    const columns = terminalColumns();
    return Promise.resolve({
      document: {
        formats: LOG_READERS.map(document),
        dumps: TOKEN_READERS.map((reader) => ({ ...document(reader), holds: reader.holds })),
      },
      text: [
        ...wrapText(INTRODUCTION, { columns }),
        "",
        ...LOG_READERS.flatMap((reader) => describeReader(reader, columns)),
        "",
        ...wrapText(DUMPS, { columns }),
        "",
        ...TOKEN_READERS.flatMap((reader) => describeReader(reader, columns)),
      ].join("\n"),
    });
  },
});
