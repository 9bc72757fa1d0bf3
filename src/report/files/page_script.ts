/** The scripts of pages, each as one text: modules of src/report/script without their types, in the order of their imports. */
import { stripTypeScriptTypes } from "node:module";
import chartAxes from "../script/chart_axes.ts" with { type: "text" };
import chartTools from "../script/chart_tools.ts" with { type: "text" };
import chartView from "../script/chart_view.ts" with { type: "text" };
import charts from "../script/charts.ts" with { type: "text" };
import episodes from "../script/episodes.ts" with { type: "text" };
import keyboard from "../script/keyboard.ts" with { type: "text" };
import numbers from "../script/numbers.ts" with { type: "text" };
import sortTables from "../script/sort_tables.ts" with { type: "text" };
import page from "../script/page.ts" with { type: "text" };
import tokenColumns from "../script/token_columns.ts" with { type: "text" };
import tokenQuantities from "../script/token_quantities.ts" with { type: "text" };
import tokenSequence from "../script/token_sequence.ts" with { type: "text" };
import tokenText from "../script/token_text.ts" with { type: "text" };
import tokenValues from "../script/token_values.ts" with { type: "text" };
import tokenView from "../script/token_view.ts" with { type: "text" };
import triageMap from "../script/triage_map.ts" with { type: "text" };
import watchEvents from "../watch_script/watch_events.ts" with { type: "text" };
import watchParts from "../watch_script/watch_parts.ts" with { type: "text" };

/** Each module follows those that it imports, so that their names are defined; a name must be of one module only. */
const TOKEN_MODULES = [
  tokenQuantities,
  tokenColumns,
  tokenSequence,
  tokenValues,
  tokenText,
  tokenView,
];
const MODULES = [
  numbers,
  chartView,
  chartAxes,
  chartTools,
  episodes,
  charts,
  triageMap,
  keyboard,
  sortTables,
  ...TOKEN_MODULES,
  page,
];

/** Imports and the word `export` at the beginning of a line, which one text needs no more, and the blanks that types leave. */
const LEFTOVERS = /^import [^;]*;\n|^export |[ \t]+$/gm;

/** Modules as one script: nothing of it is visible outside. */
function joined(modules: readonly string[]): string {
  const bodies = modules.map((source) => stripTypeScriptTypes(source).replace(LEFTOVERS, ""));
  return `"use strict";\n(() => {\n${bodies.join("\n")}})();\n`;
}

/**
 * Joins the modules of a report.
 *
 * @returns JavaScript for a script element.
 */
export function pageScript(): string {
  return joined(MODULES);
}

/** What a page that watches runs needs of it, and its own modules behind. */
const WATCH_MODULES = [
  numbers,
  chartView,
  chartAxes,
  chartTools,
  episodes,
  charts,
  watchParts,
  watchEvents,
];

/** The script of a page that watches runs, as {@linkcode pageScript} is that of a report. */
export function watchScript(): string {
  return joined(WATCH_MODULES);
}
