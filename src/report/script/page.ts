/** The script of a report in the browser: reads the document's data, and brings charts, triage map and keyboard to life. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { PageData } from "../page_data.ts";
import { showCharts } from "./charts.ts";
import { addEpisodeFilters, openTarget } from "./episodes.ts";
import { moveFocusByArrows } from "./keyboard.ts";
import { sortTables } from "./sort_tables.ts";
import { showTokens } from "./token_view.ts";
import { answerTriageMaps } from "./triage_map.ts";

const data: PageData = JSON.parse(document.getElementById("report-data")?.textContent ?? "{}");
// From here on the tables follow the charts, not in their place.
document.documentElement.classList.add("js");
for (const table of document.querySelectorAll<HTMLDetailsElement>("details.data")) {
  table.open = false;
}
// Where they do not stand beside the text, the contents would fill the first screen.
const contentsList = document.querySelector<HTMLDetailsElement>("nav details");
if (contentsList) contentsList.open = matchMedia("(min-width: 75rem)").matches;
showCharts(data.charts);
showTokens(data.tokens);
answerTriageMaps(data.triage);
moveFocusByArrows();
sortTables();
addEpisodeFilters();
openTarget();
addEventListener("hashchange", openTarget);
