/** `agentrl report`: one HTML file about runs, whoever trained them, experiments, failures and timings. */
import { UserError } from "../../src/core/errors.ts";
import { requireOutput } from "../../src/files/output.ts";
import { reportLogs } from "../../src/report/files/report_on.ts";
import { defineCommand } from "../command.ts";
import { COMMAND_WORDS } from "../next_command.ts";
import { JUDGE_FLAGS, readAgainst, readView } from "../read_log.ts";

/** The command `report`. */
export const command = defineCommand({
  flags: {
    out: { kind: "string", default: "report.html", help: "the file" },
    ...JUDGE_FLAGS,
  },
  positionals: ["[PATH…]"],
  async run(flags, paths) {
    const { out } = flags;
    if (paths.length === 0) {
      throw new UserError(
        "name what to show: a run's folder, any trainer's log, or the folders of faults and lab",
      );
    }
    const read = flags.against === undefined ? paths : [...paths, flags.against];
    requireOutput(out, { inputs: read.filter((path) => path !== "-") });
    const sizeBytes = await reportLogs(paths, out, {
      readView: (path) => readView(path, flags),
      against: await readAgainst(flags),
      words: COMMAND_WORDS,
    });
    return { document: { out, sizeBytes }, text: `${out} (${Math.ceil(sizeBytes / 1000)} KB)` };
  },
});
