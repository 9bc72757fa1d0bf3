/** The dashboard of ten failures (Figure 18.1): per failure the reward and the metric that exposes it, beside a healthy run. */
import { FAULTS } from "../debug/faults.ts";
import type { MetricName } from "../debug/metrics.ts";
import { METRICS } from "../debug/metric_dictionary.ts";
import { type Chart, chartFigure } from "./chart.ts";
import type { Section } from "./document.ts";
import {
  type FailurePair,
  failurePairs,
  type FaultsData,
  judgeReward,
  untilStep,
} from "./faults_data.ts";
import { formatNumber } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { resultTable, verdictMark } from "./tables.ts";

/** The element that shows a failure. */
export function failureId(name: string): string {
  return idOf("fault", name);
}

function pairChart(pair: FailurePair, metric: MetricName): Chart {
  const { name, controlName, faulty, control } = pair;
  const faultyPoints = faulty.metrics.get(metric) ?? [];
  const lastStep = faulty.metrics.get("reward")?.at(-1)?.[0] ?? 0;
  return {
    id: idOf("fault", name, metric),
    title: metric,
    xLabel: "step",
    yLabel: METRICS[metric].unit,
    xRange: [0, lastStep],
    series: [
      { name, style: "line", tone: "second", points: faultyPoints },
      {
        name: controlName,
        style: "line",
        tone: "first",
        points: untilStep(control.metrics.get(metric) ?? [], lastStep),
      },
    ],
  };
}

/** What the reward curve says, in words. */
export function rewardSentence(pair: FailurePair): string {
  const { faulty, control, verdict } = judgeReward(pair);
  const numbers = `${formatNumber(faulty)} against ${formatNumber(control)}`;
  const words = {
    hidden: "no: inside the noise",
    better: "no: it looks better",
    worse: "yes: it falls behind",
  };
  return `${words[verdict]}, ${numbers}`;
}

function pairArticle(pair: FailurePair, number: number): Html {
  const { name, metric } = pair;
  return html`<article class="pair" id="${failureId(name)}">
<h4>${number}. ${name}</h4>
<p>${FAULTS[name].summary}. <span class="note">Does the reward show it? ${
    rewardSentence(pair)
  }.</span></p>
${chartFigure(pairChart(pair, "reward"))}
${chartFigure(pairChart(pair, metric), html`<span class="note">${METRICS[metric].formula}</span>`)}
</article>`;
}

function signatureTable({ signatures }: FaultsData): Html {
  if (signatures.length === 0) return NOTHING;
  const rows = signatures.map(({ run, claim, measured, holds }) =>
    html`
      <tr>
        <th scope="row">${run}</th>
        <td class="text">${claim}</td>
        <td class="text">${measured}</td>
        <td>${verdictMark(holds ? "holds" : "violated")}</td>
      </tr>
    `
  );
  return html`
    <h3 id="signatures">What each failure must show</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="What each failure must show">
      <table>
        <thead>
          <tr>
            <th scope="col">run</th>
            <th scope="col" class="text">claim</th>
            <th scope="col" class="text">measured</th>
            <th scope="col">verdict</th>
          </tr>
        </thead>
        <tbody>${rows}</tbody>
      </table>
    </div>
  `;
}

/** Means of the first and last four steps of every run. */
function endsTable({ runs }: FaultsData): Html {
  const metrics = ["reward", "entropy", "reads", "malformed", "grad_norm", "logp_gap"] as const;
  const ends = (points: readonly (readonly [number, number])[] | undefined) => {
    if (!points || points.length === 0) return "–";
    const meanOf = (part: typeof points) =>
      part.reduce((sum, [, y]) => sum + y, 0) / Math.max(1, part.length);
    return `${formatNumber(meanOf(points.slice(0, 4)))} → ${
      formatNumber(meanOf(points.slice(-4)))
    }`;
  };
  return resultTable({
    title:
      "Every run: mean of the first four steps → of the last four; the last held-out pass rate",
    columns: ["run", ...metrics, "held-out"],
    rows: [...runs].map(([name, run]) => [
      name,
      ...metrics.map((metric) => ends(run.metrics.get(metric))),
      run.metrics.get("eval_pass")?.at(-1)?.[1] ?? null,
    ]),
  });
}

/**
 * The page.
 *
 * @param faults The catalogue's runs.
 */
export function dashboardPage(faults: FaultsData): Section {
  const pairs = failurePairs(faults);
  return {
    id: "dashboard",
    title: "Dashboard of ten failures",
    body:
      html`<p>Each failure (orange, dashed, triangles) beside its matched healthy run (blue, circles), training seed ${faults.seed}. Above: the reward of
the batch, which is what one watches. Below: the metric that exposes the failure.</p>
<div class="charts wide">${pairs.map((pair, i) => pairArticle(pair, i + 1))}</div>
${signatureTable(faults)}
<h3 id="all-runs">All runs of the catalogue</h3>
${endsTable(faults)}`,
    parts: [
      ...pairs.map(({ name }) => ({ id: failureId(name), title: name })),
      ...(faults.signatures.length > 0 ? [{ id: "signatures", title: "what each must show" }] : []),
      { id: "all-runs", title: "all runs" },
    ],
  };
}
