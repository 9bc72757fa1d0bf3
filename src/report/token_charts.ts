/** The two charts of a token page: sampler against trainer, and their gap by position. */
import type { LogProbSide } from "../tokens/token_batch.ts";
import { type Chart, chartFigure } from "./chart.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import type { TokenDigest } from "./token_digest.ts";

const SIDE_NAMES: Readonly<Record<LogProbSide, string>> = {
  sampler: "sampler",
  old: "old policy",
  trainer: "trainer",
  reference: "reference",
};

/** A side in words. */
export function sideName(side: LogProbSide): string {
  return SIDE_NAMES[side];
}

function scatterChart(
  { scatter }: TokenDigest,
  { id, from, to }: { readonly id: string; readonly from: string; readonly to: string },
): Chart {
  const values = scatter.flat();
  const low = values.reduce((least, value) => Math.min(least, value), 0);
  const high = values.reduce((most, value) => Math.max(most, value), low);
  return {
    id: idOf(id, "scatter"),
    title: `Log-probs of the ${to} against those of the ${from}`,
    xLabel: `${from}, nats`,
    yLabel: `${to}, nats`,
    isScatter: true,
    series: [
      { name: "tokens", style: "points", tone: "first", points: scatter },
      { name: "equal", style: "line", tone: "level", points: [[low, low], [high, high]] },
    ],
  };
}

function gapChart(
  { gapByPosition }: TokenDigest,
  { id, from, to }: { readonly id: string; readonly from: string; readonly to: string },
): Chart {
  return {
    id: idOf(id, "gap-by-position"),
    title: `Gap between ${from} and ${to} by position`,
    xLabel: "index of the token in its sequence",
    yLabel: "nats",
    series: [
      { name: "mean gap", style: "line", tone: "first", points: gapByPosition.mean },
      { name: "largest gap", style: "line", tone: "second", points: gapByPosition.worst },
    ],
  };
}

/**
 * The charts.
 *
 * @param id The page's.
 * @returns Nothing where no two engines were asked about the same tokens.
 */
export function gapChartsPart(digest: TokenDigest, id: string): Html {
  const { gapSides: sides, scatter } = digest;
  if (sides === undefined || scatter.length === 0) return NOTHING;
  const [from, to] = sides.map(sideName);
  const names = { id, from, to };
  return html`<div class="charts wide">${
    chartFigure(
      scatterChart(digest, names),
      html`Trained tokens: an even sample of the dump, and the farthest from the line.`,
    )
  }${
    chartFigure(
      gapChart(digest, names),
      html`Trained tokens, without the sign of the gap; from index 16 on several positions share a point.`,
    )
  }</div>`;
}
