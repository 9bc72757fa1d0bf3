/** A report: from what was read to one HTML file. */
import { UserError } from "../core/errors.ts";
import { dashboardPage } from "./dashboard_page.ts";
import { buildDocument, type Section } from "./document.ts";
import type { PageScripts } from "./page_data.ts";
import { labPage } from "./lab_page.ts";
import { matrixPage } from "./matrix_page.ts";
import { reproducePage } from "./reproduce_page.ts";
import type { ReportContent } from "./report_content.ts";
import { runPage } from "./run_page.ts";
import { speedPage } from "./speed_page.ts";
import { summaryPage } from "./summary_page.ts";
import { triageData, triagePage } from "./triage_page.ts";

function pages(content: ReportContent, { chartJsVersion }: PageScripts): Section[] {
  const { runs, faults, matrix, lab, bench } = content;
  return [
    summaryPage(content),
    ...(faults ? [dashboardPage(faults)] : []),
    ...(matrix ? [matrixPage(matrix)] : []),
    triagePage(),
    ...(lab.length > 0 ? [labPage(lab)] : []),
    ...runs.map(runPage),
    ...(bench.length > 0 ? [speedPage(bench)] : []),
    reproducePage(content, { chartJsVersion }),
  ];
}

/**
 * Renders a report.
 *
 * @param content What it shows.
 * @param scripts What runs in it.
 * @returns The HTML.
 * @throws {UserError} When it does not fit into a report.
 */
export async function renderReport(
  content: ReportContent,
  scripts: PageScripts,
): Promise<string> {
  try {
    return await buildDocument({
      title: "agentrl report",
      subtitle:
        "Reinforcement learning for a tool-using agent: what ran, what it shows, and how it can go wrong.",
      sections: pages(content, scripts),
      data: { triage: triageData() },
      scripts,
    });
  } catch (error) {
    if (error instanceof RangeError) throw new UserError(error.message);
    throw error;
  }
}
