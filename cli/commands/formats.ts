/** `agentrl formats`: the forms of logs that are read, and how each framework is told to write one. */
import type { LogReader } from "../../src/logs/reader.ts";
import { LOG_READERS } from "../../src/logs/readers.ts";
import { defineCommand } from "../command.ts";
import { wrapText } from "../flags.ts";
import { say } from "../words.ts";

function describeReader({ form, title, howToGet }: LogReader): string[] {
  return [
    ...wrapText(`${form}: ${say(title)}`, { indent: 0, hanging: 2 }),
    ...howToGet.flatMap((line) => wrapText(say(line), { indent: 4, hanging: 6 })),
  ];
}

const INTRODUCTION =
  "A path may be a file of any name, gzip or not, - for standard input, or a folder: of a checkpoint, a " +
  "run or TensorBoard's events. The content tells the form.";

/** The command `formats`. */
export const command = defineCommand({
  flags: {},
  run: () =>
    Promise.resolve({
      document: {
        formats: LOG_READERS.map(({ form, title, howToGet, producer }) => ({
          form,
          title: say(title),
          howToGet: howToGet.map(say),
          producer: producer ?? null,
        })),
      },
      text: [
        ...wrapText(INTRODUCTION, { indent: 0, hanging: 0 }),
        "",
        ...LOG_READERS.flatMap(describeReader),
      ].join("\n"),
    }),
});
