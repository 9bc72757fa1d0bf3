/** `agentrl compare`: runs over seeds with intervals, or two runs step by step, whoever trained them. */
import { UserError } from "../../src/core/errors.ts";
import { requireOutput } from "../../src/files/output.ts";
import { type Progress, stderrProgress } from "../../src/files/progress.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { readComparison } from "../../src/report/files/comparison.ts";
import { requireReportPlace } from "../../src/report/files/write_report.ts";
import { defineCommand } from "../command.ts";
import { groupsText, runsText } from "../compare_text.ts";
import { COMMAND_WORDS } from "../next_command.ts";
import { interpret } from "../../src/producers/interpret.ts";
import { READ_FLAGS, readLog } from "../read_log.ts";

/** `NAME=PATH` for each path that is given a group. */
function parseGroups(given: readonly string[]): Map<string, string> {
  return new Map(given.map((text) => {
    const [, name, path] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (name === undefined || path === undefined) {
      throw new UserError(`--group must be NAME=PATH, found "${text}"`);
    }
    return [path, name];
  }));
}

/** Fewer runs are read before a bar could be seen. */
const LEAST_SHOWN_RUNS = 100;

/** Reads runs, and shows on stderr how far that is where there are many. */
async function withRunProgress<T>(
  read: (onRun: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  let bar: Progress | undefined;
  try {
    return await read((done, total) => {
      if (total < LEAST_SHOWN_RUNS) return;
      bar ??= stderrProgress({ label: "read", total, alreadyDone: 0 });
      bar.update(done, "runs");
    });
  } finally {
    bar?.[Symbol.dispose]();
  }
}

/** The command `compare`. */
export const command = defineCommand({
  positionals: ["[PATH…]"],
  flags: {
    metric: {
      kind: "string",
      help: "what a seed's score is: a canonical metric or a key of the logs (default: the " +
        "held-out pass rate)",
    },
    lowerIsBetter: { kind: "boolean", help: "a lower score is a better one" },
    threshold: {
      kind: "number",
      help: "what steps are counted to (default: the median score of all runs)",
    },
    by: {
      kind: "string",
      choices: ["seeds", "steps"],
      help: "groups over their seeds, or two runs step by step (default: seeds for sweeps and " +
        "for three or more runs some of which differ in their seed only)",
    },
    group: {
      kind: "list",
      help: "NAME=PATH: a log that belongs to the group NAME, where logs do not tell it",
    },
    out: { kind: "string", help: "writes the comparison as a page to this file as well" },
    ...READ_FLAGS,
  },
  async run(flags, paths) {
    const groups = parseGroups(flags.group);
    const all = [...paths, ...groups.keys()];
    if (all.length === 0) {
      throw new UserError(
        "name what to compare: the folder of a sweep, folders of runs, or logs of any trainer",
      );
    }
    const { out, metric, threshold, by } = flags;
    if (out !== undefined) {
      requireOutput(out, { inputs: all.filter((path) => path !== "-") });
      requireReportPlace(out);
    }
    const data = await withRunProgress((onRun) =>
      readComparison(all, {
        onRun,
        metric,
        threshold,
        by,
        groups,
        seed: flags.seed,
        lowerIsBetter: flags.lowerIsBetter || undefined,
        readView: async (path) => interpret(await readLog(path, flags), { settings: {} }),
      })
    );
    const { comparison } = data;
    const columns = terminalColumns();
    const text = comparison.kind === "seeds"
      ? groupsText(comparison, columns)
      : comparison.pairs.map((pair) => runsText(pair, columns)).join("\n\n");
    if (out === undefined) return { document: comparison, text };
    const { writeReport } = await import("../../src/report/files/write_report.ts");
    const { EMPTY_CONTENT } = await import("../../src/report/report_content.ts");
    const sizeBytes = await writeReport(out, { ...EMPTY_CONTENT, comparisons: [data] }, {
      words: COMMAND_WORDS.mention,
    });
    return {
      document: comparison,
      text: `${text}\n\n${out} (${Math.ceil(sizeBytes / 1000)} KB)`,
    };
  },
});
