/** `agentrl report`: one HTML file about runs, whoever trained them, experiments, failures and timings. */
import { join, parse } from "node:path";
import { UserError } from "../../src/core/errors.ts";
import { requireOutput } from "../../src/files/output.ts";
import { isFolder } from "../../src/files/paths.ts";
import { reportLogs } from "../../src/report/files/report_on.ts";
import { readTokenizer } from "../../src/report/files/token_texts.ts";
import { requireReportPlace } from "../../src/report/files/write_report.ts";
import { defineCommand } from "../command.ts";
import { COMMAND_WORDS } from "../next_command.ts";
import { tokenSettings } from "../read_dump.ts";
import { JUDGE_FLAGS, readAgainst, readView } from "../read_log.ts";

/** Where a report goes that is told no place: to the run that it shows; one of several runs into the present folder. */
function besideWhatItShows(paths: readonly string[]): string {
  const [path] = paths;
  if (paths.length !== 1 || path === "-") return "report.html";
  if (isFolder(path)) return join(path, "report.html");
  const { dir, name } = parse(path);
  return join(dir, `${name}.report.html`);
}

/** The command `report`. */
export const command = defineCommand({
  flags: {
    out: {
      kind: "string",
      help: "the file (default: report.html in the run's folder, NAME.report.html beside a log " +
        "NAME, report.html here for several)",
    },
    tokenizer: {
      kind: "string",
      help: "the folder of a Hugging Face tokenizer.json: tokens of dumps are shown as text",
    },
    ...JUDGE_FLAGS,
  },
  positionals: ["[PATH…]"],
  async run(flags, paths) {
    if (paths.length === 0) {
      throw new UserError(
        "name what to show: the folder of a run or a sweep, any trainer's log or token dump, or the folders of faults and lab",
      );
    }
    const { out = besideWhatItShows(paths), tokenizer } = flags;
    const read = flags.against === undefined ? paths : [...paths, flags.against];
    requireOutput(out, { inputs: read.filter((path) => path !== "-") });
    const isReplaced = requireReportPlace(out);
    const sizeBytes = await reportLogs(paths, out, {
      readView: (path, { opened }) => readView(path, flags, { opened }),
      against: await readAgainst(flags),
      tokens: tokenSettings(flags),
      textOf: tokenizer === undefined ? undefined : await readTokenizer(tokenizer),
      words: COMMAND_WORDS,
    });
    const replaced = isReplaced ? ", replaces the earlier report" : "";
    return {
      document: { out, sizeBytes },
      text: `${out} (${Math.ceil(sizeBytes / 1000)} KB${replaced})`,
    };
  },
});
