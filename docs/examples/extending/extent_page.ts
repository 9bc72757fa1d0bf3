/** A page of the report: how many steps of each run were read. */
import type { Section } from "../../../src/report/document.ts";
import { html } from "../../../src/report/html.ts";
import type { ReportContent } from "../../../src/report/report_content.ts";
import { columnsOf, dataTable } from "../../../src/report/tables.ts";

/** The page. A page is a function of data: what it needs and does not find there is read in src/report/files. */
export function extentPage({ logs, runs }: ReportContent): Section {
  const rows = [
    ...logs.map(({ name, view }) => [name, view.steps.length]),
    ...runs.map(({ name, stepCount }) => [name, stepCount]),
  ];
  const columns = [...columnsOf("text", "run"), ...columnsOf("number", "steps")];
  return {
    id: "extent",
    title: "What was read",
    body: html`<p>Rows of one step count once.</p>
${dataTable({ title: "Steps of each run", columns, rows })}`,
  };
}
