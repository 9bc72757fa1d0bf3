/** The worst sequences as tables, for readers without JavaScript and for those who want numbers to copy. */
import { at } from "../core/element.ts";
import { LOG_PROB_SIDES, TOKEN_ROLES } from "../tokens/token_batch.ts";
import { formatNumber } from "./format.ts";
import { type Content, type Html, html, NOTHING } from "./html.ts";
import { type Column, columnsOf, dataTable } from "./tables.ts";
import { sideName } from "./token_charts.ts";
import type { TokenData } from "./token_data.ts";
import type { KeptSequence } from "./token_keep.ts";
import { gapsOf } from "./token_summary.ts";

/** Sequences that are listed, those whose tokens are, and tokens of each. */
const LISTED = 30;
const WITH_TOKENS = 6;
const TOKENS_SHOWN = 24;

/** Seven digits: what a 32-bit number can hold. */
function exact(value: number): string {
  return Number.isFinite(value)
    ? String(Number(value.toPrecision(7))).replace("-", "−")
    : String(value);
}

/** A number of the dump: what is missing is a dash, what is a NaN or an infinity there is said. */
function valueCell(value: number, isBroken: boolean): string {
  return Number.isNaN(value) && !isBroken ? "–" : exact(value);
}

function tokenColumns({ tokens }: KeptSequence, words: ReadonlyMap<number, string>) {
  const { logProbs, entropy, advantages, mask, roles } = tokens;
  const gapAt = gapsOf(tokens);
  const known = [
    ...LOG_PROB_SIDES.flatMap((side) => {
      const values = logProbs[side];
      return values ? [[sideName(side), values] as const] : [];
    }),
    ...(entropy ? [["entropy", entropy] as const] : []),
    ...(advantages ? [["advantage", advantages] as const] : []),
  ];
  const columns: Column[] = [
    ...columnsOf("number", "token"),
    ...columnsOf("text", words.size > 0 ? "text" : "id"),
    ...(roles ? columnsOf("text", "role") : []),
    ...(mask ? columnsOf("text", "trained") : []),
    ...columnsOf("number", ...known.map(([name]) => name), ...(gapAt ? ["gap"] : [])),
  ];
  const rowOf = (i: number): Content[] => [
    ...(roles ? [TOKEN_ROLES[roles[i]] ?? "–"] : []),
    ...(mask ? [mask[i] === 1 ? "yes" : "no"] : []),
    ...known.map(([, { values, nonFinite }]) => valueCell(values[i], nonFinite.includes(i))),
    ...(gapAt ? [valueCell(gapAt(i), false)] : []),
  ];
  return { columns, rowOf };
}

function sequenceTable(kept: KeptSequence, { id, words }: TableOptions): Html {
  const { summary: { key, title, focus, tokenCount }, begin, tokens: { ids } } = kept;
  const first = Math.max(0, Math.min(focus - begin - TOKENS_SHOWN / 2, ids.length - TOKENS_SHOWN));
  const last = Math.min(ids.length, first + TOKENS_SHOWN);
  const { columns, rowOf } = tokenColumns(kept, words);
  const rows = Array.from({ length: last - first }, (_, n) => {
    const tokenId = at(ids, first + n);
    return [
      formatNumber(begin + first + n),
      JSON.stringify(words.get(tokenId) ?? tokenId),
      ...rowOf(first + n),
    ];
  });
  const shown = `tokens ${begin + first} to ${begin + last - 1} of ${formatNumber(tokenCount)}`;
  return html`
    <details class="data token-table" open id="${id}-sequence-${key}">
      <summary>Table: ${title}, ${shown}</summary>
      ${dataTable({ title: `${title}, ${shown}`, hasCaption: false, columns, rows })}
    </details>
  `;
}

interface TableOptions {
  /** The page's id. */
  readonly id: string;
  readonly words: ReadonlyMap<number, string>;
}

function overview({ digest: { kept, totals } }: TokenData): Html {
  const listed = kept.slice(0, LISTED);
  const rows = listed.map(({ summary, findings }) => [
    summary.title,
    findings.map(({ id }) => id).join(", ") || "–",
    summary.group ?? "–",
    formatNumber(summary.reward),
    formatNumber(summary.advantage?.mean),
    formatNumber(summary.tokenCount),
    formatNumber(summary.trainedCount),
    formatNumber(summary.gap?.mean),
    formatNumber(summary.gap?.worst),
    formatNumber(summary.nonFinite),
    summary.stop ?? "–",
  ]);
  const title = `The worst ${listed.length} of ${formatNumber(totals.sequences)} sequences`;
  return html`
    <details class="data" open>
      <summary>Table: ${title}</summary>
      ${dataTable({
        title,
        hasCaption: false,
        kind: "stack",
        columns: [
          ...columnsOf("text", "sequence", "findings", "group"),
          ...columnsOf("number", "reward", "advantage", "tokens", "trained"),
          ...columnsOf("number", "mean gap", "largest gap", "not finite"),
          ...columnsOf("text", "ended by"),
        ],
        rows,
      })}
    </details>
  `;
}

/**
 * Tables of the worst sequences and of their tokens.
 *
 * @param id The page's.
 * @returns Nothing of a dump without sequences.
 */
export function tokenTables(data: TokenData, id: string): Html {
  const { digest: { kept }, words } = data;
  if (kept.length === 0) return NOTHING;
  const withTokens = kept.filter(({ tokens }) => tokens.ids.length > 0).slice(0, WITH_TOKENS);
  return html`${overview(data)}${withTokens.map((one) => sequenceTable(one, { id, words }))}`;
}
