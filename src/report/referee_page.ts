/** The page of what a referee found: the verdict, each side's gap, where it lies, the worst tokens, and what stayed open. */
import type { SaidFinding } from "../diagnose/finding.ts";
import { causeWords, isOpenReference } from "../diagnose/referee/referee_words.ts";
import type { RefereeDocument } from "../diagnose/referee/report_schema.ts";
import { LOG_PROB_SIDES } from "../tokens/token_batch.ts";
import type { Section } from "./document.ts";
import { findingGroups } from "./findings_part.ts";
import { formatCount, formatNumber } from "./format.ts";
import { type Html, html, idOf } from "./html.ts";
import { refereeCharts } from "./referee_charts.ts";
import { worstPart } from "./referee_tokens.ts";
import { columnsOf, dataTable, facts, partHeading } from "./tables.ts";
import { sideName } from "./token_charts.ts";

/** What a referee wrote. */
export interface RefereeData {
  /** For headings: the end of its path. */
  readonly name: string;
  readonly document: RefereeDocument;
}

/** One of the sides. */
export type RefereeSideData = RefereeDocument["sides"][number];

/** Whether a side agrees with the model as well as its arithmetic lets it. */
function mark(side: RefereeSideData): Html {
  const { explainedBy } = side;
  if (isOpenReference(side)) {
    return html`<span class="not-applicable">– no folder of its own</span>`;
  }
  const words = causeWords(explainedBy);
  if (explainedBy === null) return html`<span class="holds">✓ ${words}</span>`;
  return /_noise$/.test(explainedBy.cause)
    ? html`<span class="not-applicable">≈ ${words}</span>`
    : html`<span class="violated">✗ ${words}</span>`;
}

function sidesTable({ sides }: RefereeDocument): Html {
  return dataTable({
    title: "Each side minus the model, in nats per token",
    kind: "stack",
    columns: [
      ...columnsOf("text", "side", "explained by"),
      ...columnsOf("number", "mean gap", "signed mean", "p50", "p99", "max", "tokens"),
    ],
    rows: sides.map((side) => [
      side.comparedWith === "reference"
        ? `${sideName(side.side)} (against its folder)`
        : sideName(side.side),
      mark(side),
      ...[side.meanNats, side.signedMeanNats, side.p50, side.p99, side.max].map(formatNumber),
      formatCount(side.tokens),
    ]),
  });
}

/** What a side is called in a dump, and what is not known without it. */
const MISSING = {
  sampler: "the engine that drew the tokens (lp_sampler)",
  old: "the trainer before its update (lp_old)",
  trainer: "the trainer at the time of the dump (lp_new)",
  reference: "the frozen model of the KL term (lp_ref)",
} as const;

function notChecked({ sides, dump, findings }: RefereeDocument): Html {
  const there = sides.map(({ side }) => side);
  const absent = LOG_PROB_SIDES.filter((side) => !there.includes(side));
  const rows: (readonly [string, string])[] = [
    ...findings.filter((finding) => finding.class === "not-checkable").map((finding) =>
      [finding.id, [finding.sentence, finding.next].join(" ").trim()] as const
    ),
    ...absent.map((side) =>
      [sideName(side), `The dump holds no finite log-probs of ${MISSING[side]}.`] as const
    ),
    ...sides.filter(({ nonFinite }) => nonFinite > 0).map(({ side, nonFinite }) =>
      [
        sideName(side),
        `NaN or infinite at ${formatCount(nonFinite)} of its tokens, which no figure counts.`,
      ] as const
    ),
    ...(dump.scored < dump.sequences
      ? [
        [
          "sequences",
          `${formatCount(dump.scored)} of ${
            formatCount(dump.sequences)
          } were scored, those whose sides are furthest apart: means are not those of the dump.`,
        ] as const,
      ]
      : []),
  ];
  return rows.length === 0
    ? html`<p>Nothing: the dump has every side, and every sequence was scored.</p>`
    : facts(rows);
}

function source({ model, dump, temperature, adapter }: RefereeDocument): Html {
  return facts([
    ["model", `${model.path} (${model.architecture})`],
    ...(model.adapter === null ? [] : [["adapter", `${model.adapter}, merged`] as const]),
    ["reference", model.reference ?? "not given"],
    ["dump", `${dump.path} (${dump.form})`],
    [
      "scored",
      `${formatCount(dump.scored)} of ${formatCount(dump.sequences)} sequences, ${
        formatCount(dump.tokens)
      } tokens, at temperature ${formatNumber(temperature)}`,
    ],
    ["on", adapter],
  ]);
}

/** A next step, where there is one. */
function nextPart(findings: readonly SaidFinding[]): Html {
  const first = findings.find((finding) =>
    (finding.class === "violated" || finding.class === "suspect") && finding.next !== undefined
  );
  return first === undefined
    ? html`<p>No side that could be judged left the model.</p>`
    : html`<p><b>Next:</b> ${first.next ?? ""} <span class="note">(${first.id})</span></p>`;
}

/**
 * The page.
 *
 * @param data What was read.
 * @param index Its number in the report, which keeps the ids of two apart.
 */
export function refereePage({ name, document }: RefereeData, index: number): Section {
  const id = idOf("referee", index);
  const findings = document.findings as readonly SaidFinding[];
  const parts = [
    ...(document.sides.length === 0 ? [] : [
      { id: `${id}-where`, title: "Where the gap lies", body: refereeCharts(document, id) },
      { id: `${id}-worst`, title: "The worst sequences", body: worstPart(document) },
    ]),
    { id: `${id}-open`, title: "What was not checked", body: notChecked(document) },
    {
      id: `${id}-findings`,
      title: "Findings",
      body: html`${findingGroups(findings, new Map())}${source(document)}`,
    },
  ];
  return {
    id,
    title: `Referee: ${name}`,
    body: html`<p class="first"><b>Verdict:</b> ${document.verdict}</p>
${document.sides.length === 0 ? "" : html`${sidesTable(document)}${nextPart(findings)}`}
${parts.map((part) => html`${partHeading(part.id, part.title)}\n${part.body}`)}`,
    parts: parts.map((part) => ({ id: part.id, title: part.title })),
  };
}
