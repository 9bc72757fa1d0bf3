/** The matrix of invariants (Figure 18.2): which check catches which fault, with the measured value in each cell. */
import { labMatrixSchema, type MatrixData } from "../diagnose/check_schema.ts";
import { MATRIX_FAULTS } from "../faults/faults.ts";
import type { Section } from "./document.ts";
import { formatBound, formatNumber } from "./format.ts";
import { type Html, html, NOTHING } from "./html.ts";
import { columnsOf, dataTable, VERDICT_SIGNS } from "./tables.ts";

/** The matrix in the data of the lab's experiment; undefined where they hold none. */
export function matrixOfLab(data: unknown): MatrixData | undefined {
  const result = labMatrixSchema.safeParse(data);
  if (!result.success) return undefined;
  const all = result.data.rows.map(({ fault, checks }) => ({ bug: fault, checks }));
  const ofTutorial: ReadonlySet<string> = new Set(["none", ...MATRIX_FAULTS]);
  return {
    rows: all.filter(({ bug }) => ofTutorial.has(bug)),
    further: all.filter(({ bug }) => !ofTutorial.has(bug)),
  };
}

type Row = MatrixData["rows"][number];
type Check = Row["checks"][number];

function cell({ verdict, value, relation, bound, boundReason, reason, name }: Check): Html {
  const measured = value === null ? "" : `${formatNumber(value)}, `;
  const more = `${name}: ${measured}${reason}; bound ${
    formatBound(relation, bound)
  } (${boundReason})`;
  // A column for each check leaves no room for the values of what holds.
  const shown = verdict === "violated" && value !== null
    ? `${VERDICT_SIGNS[verdict]} ${formatNumber(value)}`
    : VERDICT_SIGNS[verdict];
  return html`<span class="tip ${verdict}" tabindex="0">${shown}<span class="more"> ${more}</span></span>`;
}

/** The ids of the checks that catch a fault. */
export function caughtBy({ checks }: Row): number[] {
  return checks.filter(({ verdict }) => verdict === "violated").map(({ id }) => id);
}

function table(title: string, rows: readonly Row[]): Html {
  const [first] = rows;
  if (first === undefined) return NOTHING;
  const ids = first.checks.map(({ id }) => String(id));
  const caught = (row: Row) => caughtBy(row).join(", ") || (row.bug === "none" ? "–" : "no check");
  return dataTable({
    title,
    kind: "matrix",
    columns: columnsOf("number", "fault", ...ids, "caught by"),
    rows: rows.map((row) => [row.bug, ...row.checks.map(cell), html`<span>${caught(row)}</span>`]),
  });
}

/** What the numbers above the columns stand for. */
function names([first]: readonly Row[]): Html {
  return html`<ol class="note">${
    first?.checks.map(({ id, name }) => html`<li value="${id}">${name}</li>`) ?? []
  }</ol>`;
}

/**
 * The page.
 *
 * @param matrix The verdicts.
 */
export function matrixPage({ rows, further }: MatrixData): Section {
  return {
    id: "matrix",
    title: "Matrix of invariants",
    body: html`
      <p>Each row is the trainer with one fault, checked on 64 episodes before any training. ✓ holds, ✗ violated
      (with the measured value), – not applicable, ? not checkable. Value, bound and where the bound comes from show on hover and
      focus; arrow keys move between cells.</p>
      ${names(rows)}
      ${table("The faults of the tutorial", rows)}
      ${table("More faults, and configurations that run correct code", further)}
      <p
        class="note">Invariants catch faults of the code. A configuration runs correct code: no check can catch it, and the healthy
      reference and an independent evaluation have to.</p>
    `,
  };
}
