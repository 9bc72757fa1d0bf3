/** The matrix of invariants (Figure 18.2): which check catches which fault, with the measured value in each cell. */
import { z } from "zod";
import type { Section } from "./document.ts";
import { formatNumber } from "./format.ts";
import { type Html, html } from "./html.ts";

const checkSchema = z.object({
  id: z.int(),
  name: z.string(),
  value: z.number().nullable(),
  relation: z.string().default(""),
  bound: z.number(),
  boundReason: z.string().default(""),
  verdict: z.enum(["holds", "violated", "not-applicable"]),
  reason: z.string().default(""),
});

const rowSchema = z.object({ bug: z.string(), checks: z.array(checkSchema) });

/** The document of `agentrl check --matrix --json`. */
export const matrixSchema = z.object({
  rows: z.array(rowSchema).min(1),
  further: z.array(rowSchema).default([]),
});

/** The verdicts for every fault. */
export type MatrixData = z.infer<typeof matrixSchema>;

type Row = MatrixData["rows"][number];
type Check = Row["checks"][number];

const SIGNS = { holds: "✓", violated: "✗", "not-applicable": "–" } as const;

function cell({ verdict, value, relation, bound, boundReason, reason, name }: Check): Html {
  const more = `${name}: ${reason}; bound ${relation} ${formatNumber(bound)} (${boundReason})`;
  return html`<td><span class="tip ${verdict}" tabindex="0">${SIGNS[verdict]} ${
    value === null ? "" : formatNumber(value)
  }<span class="more"> ${more}</span></span></td>`;
}

/** The ids of the checks that catch a fault. */
export function caughtBy({ checks }: Row): number[] {
  return checks.filter(({ verdict }) => verdict === "violated").map(({ id }) => id);
}

function table(title: string, rows: readonly Row[]): Html {
  const [first] = rows;
  if (first === undefined) return html``;
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table class="matrix" data-roving>
        <caption>${title}</caption>
        <thead>
          <tr><th scope="col">fault</th>${first.checks.map(({ id, name }) =>
            html`<th scope="col">${id} ${name}</th>`
          )}<th scope="col">caught by</th></tr>
        </thead>
        <tbody>${rows.map((row) =>
          html`<tr><th scope="row">${row.bug}</th>${row.checks.map(cell)}<td><span>${
            caughtBy(row).join(", ") || "no check"
          }</span></td></tr>`
        )}</tbody>
      </table>
    </div>
  `;
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
      <p>Each row is the trainer with one fault, checked on 64 episodes before any training. A cell holds the measured value;
      its bound and where the bound comes from show on hover and focus (arrow keys move between cells). ✓ holds, ✗ violated, – not applicable.</p>
      ${table("The faults of the tutorial", rows)}
      ${table("Further faults, and configurations that run correct code", further)}
      <p
        class="note">Invariants catch faults of the code. A configuration runs correct code: no check can catch it, and the healthy
      reference and an independent evaluation have to.</p>
    `,
  };
}
