/** Small parts of pages: facts, verdicts, tables of results. */
import type { Verdict } from "../debug/invariants.ts";
import type { Cell } from "../lab/experiment.ts";
import { formatCell } from "./format.ts";
import { type Html, html } from "./html.ts";

/** Names and values, one a line. */
export function facts(rows: readonly (readonly [string, string | Html])[]): Html {
  return html`<dl class="facts">${
    rows.map(([name, value]) =>
      html`
        <dt>${name}</dt>
        <dd>${value}</dd>
      `
    )
  }</dl>`;
}

const SIGNS = {
  holds: "✓ holds",
  violated: "✗ violated",
  "not-applicable": "– not applicable",
} as const satisfies Record<Verdict, string>;

/** A verdict by sign, word and colour. */
export function verdictMark(verdict: Verdict): Html {
  return html`<span class="${verdict}">${SIGNS[verdict]}</span>`;
}

/** Numbers, also those that stand in a text such as `0.02 (0.01)`. */
function isNumeric(cell: Cell): boolean {
  return typeof cell !== "string" || /^[−\-\d.,±%/·× ()]+$/.test(cell);
}

/**
 * A table of results. Columns that hold a text are set left; those of the tutorial are toned down.
 *
 * @param table Column names, and rows of as many cells.
 */
export function resultTable(
  { title, columns, rows }: {
    readonly title: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly Cell[])[];
  },
): Html {
  const classes = columns.map((column, i) => {
    if (/tutorial|peer/.test(column)) return "tutorial";
    return rows.every((row) => isNumeric(row[i] ?? null)) ? "number" : "text";
  });
  const body = rows.map((row) =>
    html`<tr>${
      row.map((cell, i) =>
        i === 0
          ? html`<th scope="row">${formatCell(cell)}</th>`
          : html`<td class="${classes[i] ?? "text"}">${formatCell(cell)}</td>`
      )
    }</tr>`
  );
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table>
        <caption>${title}</caption>
        <thead>
          <tr>${columns.map((column, i) =>
            html`<th scope="col" class="${classes[i]}">${column}</th>`
          )}</tr>
        </thead>
        <tbody>${body}</tbody>
      </table>
    </div>
  `;
}
