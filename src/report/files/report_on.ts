/** One HTML file about what lies at some paths: reads, judges, renders and writes. */
import { judgeLog } from "../../diagnose/findings/judge_log.ts";
import { type FindingWords, sayFinding } from "../../diagnose/finding.ts";
import { readRunLog } from "../../files/log_source.ts";
import { interpret } from "../../producers/interpret.ts";
import type { RunView } from "../../producers/run_view.ts";
import type { LogData } from "../log_data.ts";
import { readContent } from "./content.ts";
import { writeReport } from "./write_report.ts";

/** How logs are read and judged, and what is said about them. */
export interface LogReading {
  /** Reads a log and gives it its meaning (default: by what it tells of itself). */
  readonly readView?: (path: string) => Promise<RunView>;
  /** A healthy run of the same user's. */
  readonly against?: RunView | undefined;
  /** How next steps and settings are said, for example as commands (default: plainly). */
  readonly words?: FindingWords;
}

/** The end of a path, for headings. */
function nameOf(path: string): string {
  if (path === "-") return "standard input";
  return path.replace(/\/+$/, "").split("/").at(-1) || path;
}

async function readByItself(path: string): Promise<RunView> {
  return interpret(await readRunLog(path), { settings: {} });
}

/**
 * Writes a report in which logs of other trainers are read and judged as the caller says.
 *
 * @param reading How logs are read; see `reportOn` for the rest.
 */
export async function reportLogs(
  paths: readonly string[],
  out: string,
  reading: LogReading,
): Promise<number> {
  const { readView = readByItself, against, words } = reading;
  const readLog = async (path: string): Promise<LogData> => {
    const view = await readView(path);
    const findings = judgeLog(view, { against }).map((found) => sayFinding(found, words));
    return { name: nameOf(path), view, findings, against };
  };
  const content = await readContent(paths, { readLog, ...(words && { words }) });
  return await writeReport(out, content, { words: words?.mention });
}

/**
 * Writes a report, whole or not at all.
 *
 * @param paths Folders of runs, of `faults` and of `lab`; JSON of `check --matrix` and `bench`; logs of any trainer.
 * @param out The file.
 * @returns Its size in bytes.
 * @throws {UserError} When a path cannot be read or is none of these, or the file cannot be written.
 * @example
 * ```ts ignore
 * import { reportOn } from "agentrl/report";
 * await reportOn(["runs/first", "checkpoint-120/trainer_state.json"], "first.html");
 * ```
 */
export function reportOn(paths: readonly string[], out: string): Promise<number> {
  return reportLogs(paths, out, {});
}
