/** A report: from what was read to one HTML file. */
import { UserError } from "../core/errors.ts";
import { writeFileAtomic } from "../run/atomic_file.ts";
import { readChartJs } from "./chart_js.ts";
import { buildDocument, type Section } from "./document.ts";
import type { RunData } from "./run_data.ts";
import { runPage } from "./run_page.ts";

/** What a report shows. */
export interface ReportContent {
  readonly runs: readonly RunData[];
}

/**
 * Renders a report.
 *
 * @param content What it shows.
 * @returns The HTML.
 * @throws {UserError} When there is nothing to show, or it does not fit into a report.
 */
export async function renderReport({ runs }: ReportContent): Promise<string> {
  const sections: Section[] = runs.map(runPage);
  if (sections.length === 0) throw new UserError("Cannot write a report: there is nothing to show");
  try {
    return await buildDocument({
      title: "agentrl report",
      subtitle: "",
      sections,
      data: {},
      chartJs: readChartJs(),
    });
  } catch (error) {
    if (error instanceof RangeError) throw new UserError(error.message);
    throw error;
  }
}

/**
 * Renders a report and writes it, whole or not at all.
 *
 * @param path The file.
 * @param content What it shows.
 * @returns Its size in bytes.
 * @throws {UserError} As {@linkcode renderReport}, and when the file cannot be written.
 */
export async function writeReport(path: string, content: ReportContent): Promise<number> {
  const bytes = new TextEncoder().encode(await renderReport(content));
  writeFileAtomic(path, bytes);
  return bytes.length;
}
