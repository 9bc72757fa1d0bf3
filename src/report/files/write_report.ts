/** Writes a report: the pages with the scripts that run in them, as one file. */
import type { MentionWords } from "../../core/mention.ts";
import { writeFileAtomic } from "../../files/atomic_file.ts";
import type { ReportContent } from "../report_content.ts";
import { renderReport } from "../report.ts";
import { CHART_JS_VERSION, readChartJs } from "./chart_js.ts";
import { pageScript } from "./page_script.ts";

/**
 * Renders a report and writes it, whole or not at all.
 *
 * @param path The file.
 * @param content What it shows.
 * @param options.words Says the commands with which things are made again (default: plainly).
 * @returns Its size in bytes.
 * @throws {UserError} When it does not fit into a report, or the file cannot be written.
 */
export async function writeReport(
  path: string,
  content: ReportContent,
  { words }: { readonly words?: MentionWords | undefined } = {},
): Promise<number> {
  const scripts = {
    chartJs: readChartJs(),
    chartJsVersion: CHART_JS_VERSION,
    page: pageScript(),
  };
  const bytes = new TextEncoder().encode(await renderReport(content, scripts, { words }));
  writeFileAtomic(path, bytes);
  return bytes.length;
}
