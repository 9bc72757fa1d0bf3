/** `agentrl report`: one HTML file about runs, experiments, failures and timings. */
import { reportOn } from "../../src/report/files/report_on.ts";
import { requireOutput } from "../../src/files/output.ts";
import { UserError } from "../../src/core/errors.ts";
import { defineCommand } from "../command.ts";

/** The command `report`. */
export const command = defineCommand({
  flags: {
    out: { kind: "string", default: "report.html", help: "the file" },
  },
  positionals: ["[RUN…]"],
  async run({ out }, paths) {
    if (paths.length === 0) {
      throw new UserError(
        "name what to show: folders of runs, of faults or of a lab, such as runs/grpo-seed0",
      );
    }
    requireOutput(out, { inputs: paths });
    const sizeBytes = await reportOn(paths, out);
    return { document: { out, sizeBytes }, text: `${out} (${Math.ceil(sizeBytes / 1000)} KB)` };
  },
});
