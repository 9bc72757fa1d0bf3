/** Small parts of pages: tables, facts, verdicts. */
import type { CheckVerdict } from "../diagnose/invariant.ts";
import type { Cell } from "../lab/experiment.ts";
import { formatCell } from "./format.ts";
import { type Content, type Html, html, NOTHING } from "./html.ts";

/** A column: numbers end at its right edge, texts begin at its left, the tutorial's numbers are toned down. */
export interface Column {
  readonly name: string;
  readonly kind: "number" | "text" | "tutorial";
}

/** Columns of one kind. */
export function columnsOf(kind: Column["kind"], ...names: readonly string[]): Column[] {
  return names.map((name) => ({ name, kind }));
}

/** A table with a heading for each row in its first column. */
export interface Table {
  /** What it holds. */
  readonly title: string;
  /** False where the title stands above it already (default true). */
  readonly hasCaption?: boolean;
  /**
   * `stack`: rows become cards where the window is narrow; `matrix`: likewise, its many columns are narrow, and arrow keys
   * move within it. Default `plain`.
   */
  readonly kind?: "plain" | "matrix" | "stack";
  /** True where a click on the name of a column sorts the rows by it. */
  readonly isSortable?: boolean;
  readonly columns: readonly Column[];
  /** One cell a column. */
  readonly rows: readonly (readonly Content[])[];
}

/**
 * A table that scrolls by itself where the window is narrow, so that the page does not.
 *
 * @param table The table.
 */
export function dataTable(
  { title, hasCaption = true, kind = "plain", isSortable = false, columns, rows }: Table,
): Html {
  const head = columns.map(({ name, kind }) => html`<th scope="col" class="${kind}">${name}</th>`);
  const cell = (part: Content, { name, kind: align }: Column) => {
    if (kind !== "plain") return html`<td class="${align}" data-label="${name}">${part}</td>`;
    // Numbers are the most and need no class: that keeps the tables of charts small.
    return align === "number" ? html`<td>${part}</td>` : html`<td class="${align}">${part}</td>`;
  };
  const body = rows.map(([first = "", ...others]) =>
    html`<tr><th scope="row">${first}</th>${
      others.map((part, i) => cell(part, columns[i + 1]))
    }</tr>`
  );
  const caption = hasCaption ? html`<caption><span>${title}</span></caption>` : NOTHING;
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table
        class="${isSortable
          ? `${kind} sortable`
          : kind}">${caption}<thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>
    </div>
  `;
}

/**
 * The link of a heading to itself, to be copied: it shows on hover. The keyboard and readers of the page have the contents.
 *
 * @param id Of the heading or its section.
 */
export function anchor(id: string): Html {
  return html`
    <a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1">#</a>
  `;
}

/** A heading within a page that can be linked to. */
export function partHeading(id: string, title: string): Html {
  return html`<h3 id="${id}">${title}${anchor(id)}</h3>`;
}

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

/** A verdict by one sign, where there is no room for its word. */
export const VERDICT_SIGNS = {
  holds: "✓",
  violated: "✗",
  "not-applicable": "–",
  "not-checkable": "?",
  missed: "✗",
} as const satisfies Record<CheckVerdict | "missed", string>;

/** A verdict by sign, word and colour. */
export function verdictMark(verdict: CheckVerdict | "missed"): Html {
  return html`<span class="${verdict}">${VERDICT_SIGNS[verdict]} ${
    verdict.replace("-", " ")
  }</span>`;
}

/** Numbers, also those that are in a text such as `0.02 (0.01)`. */
function isNumeric(cell: Cell): boolean {
  return typeof cell !== "string" || /^[−\-\d.,±%/·× ()]+$/.test(cell);
}

/**
 * A table of results of the lab: what is a number and what a text is seen from the cells.
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
  const kindOf = (column: string, i: number): Column["kind"] => {
    if (/tutorial|peer/.test(column)) return "tutorial";
    return rows.every((row) => isNumeric(row[i] ?? null)) ? "number" : "text";
  };
  return dataTable({
    title,
    columns: columns.map((name, i) => ({ name, kind: kindOf(name, i) })),
    rows: rows.map((row) => columns.map((_, i) => formatCell(row[i]))),
  });
}
