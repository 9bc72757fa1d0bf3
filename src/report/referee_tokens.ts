/** The worst sequences of a referee's document as tables, a row a token. */
import { largest } from "../core/statistics.ts";
import type { RefereeDocument } from "../diagnose/referee/report_schema.ts";
import { LOG_PROB_SIDES, type LogProbSide } from "../tokens/token_batch.ts";
import { formatCount, formatNumber } from "./format.ts";
import { type Html, html } from "./html.ts";
import { columnsOf, dataTable } from "./tables.ts";
import { sideName } from "./token_charts.ts";
import { shownWord } from "./token_data.ts";

type Worst = RefereeDocument["worst"][number];

/** Sequences whose tables are never folded. */
const OPEN = 2;

/** A side minus the model, marked where it is the row that made the sequence one of the worst. */
function gapCell(gap: number | undefined, most: number): Html {
  const text = formatNumber(gap);
  return gap !== undefined && Math.abs(gap) === most && most > 0
    ? html`<b class="violated">${text}</b>`
    : html`${text}`;
}

/** The sides that are compared with the model itself: the reference may have another. */
function sidesOf({ tokens }: Worst): LogProbSide[] {
  return LOG_PROB_SIDES.filter((side) => tokens.some(({ sides }) => sides[side] !== undefined));
}

function sequenceTable(one: Worst, { isOpen, ofModel }: {
  readonly isOpen: boolean;
  readonly ofModel: readonly LogProbSide[];
}): Html {
  const { file, row, sample, first, length, tokens } = one;
  const known = sidesOf(one);
  const compared = known.filter((side) => ofModel.includes(side));
  const gapOf = ({ sides, model, isCompared }: Worst["tokens"][number], side: LogProbSide) => {
    const value = sides[side];
    return value === null || value === undefined || model === null || !isCompared
      ? undefined
      : value - model;
  };
  const gaps = tokens.flatMap((token) => compared.map((side) => Math.abs(gapOf(token, side) ?? 0)));
  const most = largest([0, ...gaps]);
  const title = `${file}:${row}${sample === undefined ? "" : `, sample ${sample}`}, tokens ${
    formatCount(first)
  } to ${formatCount(first + tokens.length - 1)} of ${formatCount(length)}`;
  const hasTexts = tokens.some(({ text }) => text !== undefined);
  const table = dataTable({
    title,
    hasCaption: false,
    // What is looked for stands first, where also a phone shows it.
    columns: [
      ...columnsOf("number", "token"),
      ...columnsOf("text", hasTexts ? "text" : "id"),
      ...columnsOf(
        "number",
        ...compared.map((side) => `${sideName(side)} − model`),
        "model",
        ...known.map(sideName),
        ...(hasTexts ? ["id"] : []),
      ),
    ],
    rows: tokens.map((token, n) => [
      formatCount(first + n),
      !hasTexts
        ? String(token.id)
        : token.text === undefined
        ? "–"
        : JSON.stringify(shownWord(token.text)),
      ...compared.map((side) => gapCell(gapOf(token, side), most)),
      formatNumber(token.model),
      ...known.map((side) => formatNumber(token.sides[side])),
      ...(hasTexts ? [String(token.id)] : []),
    ]),
  });
  return isOpen
    ? html`<h4>${title}</h4>${table}`
    : html`<details class="data" open><summary>${title}</summary>${table}</details>`;
}

/** The tables. */
export function worstPart({ worst, sides }: RefereeDocument): Html {
  const ofModel = sides.filter(({ comparedWith }) => comparedWith === "model")
    .map(({ side }) => side);
  return html`<p>Log-probs in nats, around the largest gap of each sequence. Where no gap is given the sides are not compared, since the policy did not write it.</p>
${worst.map((one, n) => sequenceTable(one, { isOpen: n < OPEN, ofModel }))}`;
}
