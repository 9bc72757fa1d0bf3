/** The dashboard of ten failures (Figure 18.1): per failure the reward and the metric that exposes it, beside a healthy run. */
import { firstSteps, lastSteps } from "../core/run_ends.ts";
import { FAULTS } from "../faults/faults.ts";
import type { MetricName } from "../rl/metrics.ts";
import { METRICS } from "../rl/metric_dictionary.ts";
import { type Chart, chartFigure } from "./chart.ts";
import type { Section } from "./document.ts";
import {
  EXPOSED_BY_NO_METRIC,
  type FailurePair,
  failurePairs,
  type FaultsData,
  judgeReward,
  untilStep,
} from "./faults_data.ts";
import { formatNumber } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { anchor, columnsOf, dataTable, partHeading, resultTable, verdictMark } from "./tables.ts";

/** The element that shows a failure. */
export function failureId(name: string): string {
  return idOf("fault", name);
}

function pairChart(pair: FailurePair, metric: MetricName): Chart {
  const { name, controlName, faulty, control } = pair;
  const lastStep = faulty.metrics.get("reward")?.at(-1)?.[0] ?? 0;
  return {
    id: idOf("fault", name, metric),
    title: metric,
    xLabel: "step",
    yLabel: METRICS[metric].unit,
    xRange: [0, lastStep],
    series: [
      {
        name: controlName,
        style: "line",
        tone: "first",
        points: untilStep(control.metrics.get(metric) ?? [], lastStep),
      },
      { name, style: "line", tone: "second", points: faulty.metrics.get(metric) ?? [] },
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
    slower: "hardly: it rises, more slowly",
    worse: "yes",
  };
  return `${words[verdict]}, ${numbers}`;
}

function pairArticle(pair: FailurePair, number: number): Html {
  const { name, metric } = pair;
  const { formula } = METRICS[metric];
  const note = EXPOSED_BY_NO_METRIC.has(name)
    ? `${formula}; no metric exposes this failure, only the test of the gradient does`
    : formula;
  return html`
    <article class="pair" id="${failureId(name)}">
      <h3>${number}. ${name}${anchor(failureId(name))}</h3>
      <p>${FAULTS[name].summary}. <span class="note">Does the reward show it? ${rewardSentence(
        pair,
      )}.</span></p>
      ${chartFigure(pairChart(pair, "reward"))}
      ${chartFigure(pairChart(pair, metric), html`<span class="note">${note}</span>`)}
    </article>
  `;
}

function signatureTable({ signatures }: FaultsData): Html {
  if (signatures.length === 0) return NOTHING;
  const title = "What each failure must show";
  const table = dataTable({
    title,
    hasCaption: false,
    columns: columnsOf("text", "run", "claim", "measured", "verdict"),
    rows: signatures.map(({ run, claim, measured, holds }) => [
      run,
      claim,
      measured,
      verdictMark(holds ? "holds" : "missed"),
    ]),
  });
  return html`${partHeading("signatures", title)}${table}`;
}

/** Means of the first and last four steps of every run. */
function endsTable({ runs }: FaultsData): Html {
  const metrics = ["reward", "entropy", "reads", "malformed", "grad_norm", "logp_gap"] as const;
  const ends = (points: readonly (readonly [number, number])[] | undefined) => {
    if (!points || points.length === 0) return "–";
    const meanOf = (part: typeof points) =>
      part.reduce((sum, [, y]) => sum + y, 0) / Math.max(1, part.length);
    return `${formatNumber(meanOf(firstSteps(points)))} → ${
      formatNumber(meanOf(lastSteps(points)))
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
${partHeading("all-runs", "All runs of the catalogue")}
${endsTable(faults)}`,
    parts: [
      ...pairs.map(({ name }) => ({ id: failureId(name), title: name })),
      ...(faults.signatures.length > 0 ? [{ id: "signatures", title: "what each must show" }] : []),
      { id: "all-runs", title: "all runs" },
    ],
  };
}
