/** The charts of a referee's page: each side's gap over the sequence, over a turn, by probability, and by sequence. */
import type { RefereeDocument } from "../diagnose/referee/report_schema.ts";
import { type Chart, chartFigure, type Tone } from "./chart.ts";
import { formatNumber } from "./format.ts";
import { type Html, html, idOf } from "./html.ts";
import { columnsOf, dataTable } from "./tables.ts";
import { sideName } from "./token_charts.ts";

type Side = RefereeDocument["sides"][number];

/** A side keeps its colour in every chart. */
const TONES = {
  sampler: "first",
  old: "second",
  trainer: "third",
  reference: "fourth",
} as const satisfies Record<Side["side"], Tone>;

function curvesChart(
  { sides }: RefereeDocument,
  chart: Pick<Chart, "id" | "title" | "xLabel"> & { readonly curve: keyof Side["curves"] },
): Chart {
  const { curve, ...rest } = chart;
  return {
    ...rest,
    yLabel: "mean |gap|, nats",
    series: sides.map(({ side, curves }) => ({
      name: sideName(side),
      style: "line",
      tone: TONES[side],
      points: curves[curve].map(({ at, meanNats }) => [at, meanNats] as const),
    })),
  };
}

function sequenceChart({ sides }: RefereeDocument, id: string): Chart {
  return {
    id,
    title: "Gap of each sequence",
    xLabel: "sequence, in the order of scoring",
    yLabel: "mean |gap|, nats",
    isScatter: true,
    series: sides.map(({ side, bySequence }) => ({
      name: sideName(side),
      style: "points",
      tone: TONES[side],
      points: bySequence.map(({ sequence, meanNats }) => [sequence, meanNats] as const)
        .toSorted(([a], [b]) => a - b),
    })),
  };
}

/** Parts of the tokens side by side: a row a part, two columns a side. */
function partsTable({ sides }: RefereeDocument): Html {
  const groups = [
    ["", ({ byTurn }: Side) => byTurn],
    ["", ({ byPosition }: Side) => byPosition],
    ["probability ", ({ byProbability }: Side) => byProbability],
  ] as const;
  const rows = groups.flatMap(([label, partsOf]) => {
    const names = new Set(sides.flatMap((side) => partsOf(side).map(({ part }) => part)));
    return Array.from(names, (name) => [
      `${label}${name}`,
      ...sides.flatMap((side) => {
        const found = partsOf(side).find(({ part }) => part === name);
        return [formatNumber(found?.meanNats), formatNumber(found?.signedMeanNats)];
      }),
    ]);
  });
  return dataTable({
    title: "By kind of token, nats: mean gap and signed mean",
    columns: [
      ...columnsOf("text", "tokens"),
      ...columnsOf(
        "number",
        ...sides.flatMap(({ side }) => [sideName(side), `${sideName(side)}, signed`]),
      ),
    ],
    rows,
  });
}

/**
 * The charts, and a table of the same by kinds of tokens.
 *
 * @param document With one side or more.
 * @param id The page's.
 */
export function refereeCharts(document: RefereeDocument, id: string): Html {
  const position = curvesChart(document, {
    id: idOf(id, "by-token"),
    title: "Gap by position",
    xLabel: "index of the token in its sequence",
    curve: "byToken",
  });
  const turn = curvesChart(document, {
    id: idOf(id, "by-turn-token"),
    title: "Gap along a turn",
    xLabel: "index of the token in its turn",
    curve: "byTurnToken",
  });
  const probability = curvesChart(document, {
    id: idOf(id, "by-log-prob"),
    title: "Gap by the model's log-prob of the token",
    xLabel: "log-prob under the model, nats",
    curve: "byLogProb",
  });
  return html`<div class="charts wide">${
    chartFigure(position, html`From index 16 on several positions share a point.`)
  }${
    chartFigure(
      turn,
      html`The first point is the first token of each turn: a template, or what stands before the turn, shows there.`,
    )
  }${
    chartFigure(
      probability,
      html`Points of as many tokens each. What rounding does grows where tokens are unlikely; what a temperature does is least where a token is as likely as tokens are on average.`,
    )
  }${
    chartFigure(
      sequenceChart(document, idOf(id, "by-sequence")),
      html`At most the 200 largest of each side. A few far from the rest: look at those below.`,
    )
  }</div>${partsTable(document)}`;
}
