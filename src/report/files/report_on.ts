/** One HTML file about what lies at some paths: reads, renders and writes. */
import { readContent } from "./content.ts";
import { writeReport } from "./write_report.ts";

/**
 * Writes a report, whole or not at all.
 *
 * @param paths Folders of runs, of `faults` and of `lab`; JSONL files of metrics; JSON of `check --matrix` and `bench`.
 * @param out The file.
 * @returns Its size in bytes.
 * @throws {UserError} When a path cannot be read or is none of these, or the file cannot be written.
 * @example
 * ```ts ignore
 * import { reportOn } from "agentrl/report";
 * await reportOn(["runs/first"], "first.html");
 * ```
 */
export function reportOn(paths: readonly string[], out: string): Promise<number> {
  return writeReport(out, readContent(paths));
}
