/** A heat map of two axes: a row for each value of one, a column for each of the other, the score in the cells. */
import { settingText } from "../compare/group_names.ts";
import type { GroupComparison } from "../compare/compare_groups.ts";
import { number } from "../compare/group_sentences.ts";
import { mean } from "../core/statistics.ts";
import { type Html, html, NOTHING } from "./html.ts";
import { columnsOf, dataTable } from "./tables.ts";

/** Shades, from the worst score to the best. */
const SHADES = 6;

/** Cells that are still looked at as a map. */
const MAX_VALUES = 30;

type Value = string | number | boolean | null;

/** Numbers by size, texts by the alphabet. */
function ordered(values: readonly Value[]): Value[] {
  return [...new Set(values)].sort((a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1
  );
}

/**
 * The heat map of the first two axes. Where there are more, a cell is the mean over the groups of the others.
 *
 * @param comparison One with two axes; nothing is shown otherwise.
 */
export function heatMap(
  { axes, differences, groups, metric, lowerIsBetter }: GroupComparison,
): Html {
  const names = axes.length > 0 ? axes : differences.map(({ name }) => name);
  if (names.length < 2 || (axes.length === 0 && names.length > 2)) return NOTHING;
  const [down, across] = names;
  const valuesOf = (name: string) =>
    differences.find((one) => one.name === name)?.values ?? groups.map(() => null);
  const [downValues, acrossValues] = [valuesOf(down), valuesOf(across)];
  const [rows, columns] = [ordered(downValues), ordered(acrossValues)];
  if (rows.length > MAX_VALUES || columns.length > MAX_VALUES) return NOTHING;
  const cell = (row: Value, column: Value) => {
    const scores = groups.flatMap(({ middle }, i) =>
      downValues[i] === row && acrossValues[i] === column && middle !== null ? [middle] : []
    );
    return scores.length === 0 ? undefined : mean(scores);
  };
  const cells = rows.map((row) => columns.map((column) => cell(row, column)));
  const known = cells.flat().filter((score) => score !== undefined);
  if (known.length < 2) return NOTHING;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const shade = (score: number) => {
    const share = high === low ? 0.5 : (score - low) / (high - low);
    return Math.round((lowerIsBetter ? 1 - share : share) * (SHADES - 1));
  };
  const others = names.slice(2);
  const table = dataTable({
    title: `${metric} by ${down} (down) and ${across} (across)`,
    columns: columnsOf("number", `${down} \\ ${across}`, ...columns.map(settingText)),
    rows: cells.map((scores, i) => [
      settingText(rows[i]),
      ...scores.map((score) =>
        score === undefined ? "–" : html`<span class="h${shade(score)}">${number(score)}</span>`
      ),
    ]),
  });
  const rest = others.length === 0
    ? NOTHING
    : html`<p class="note">Each cell is the mean over ${others.join(", ")}.</p>`;
  return html`<div class="heat">${table}${rest}</div>`;
}
