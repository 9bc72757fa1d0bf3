/** The page of two runs compared step by step: which metric parts first, their curves overlaid, what cannot be compared. */
import type { ComparedRun, MetricComparison, RunComparison } from "../compare/compare_runs.ts";
import { number } from "../compare/group_sentences.ts";
import { equalSentence, partingSentence, settingTexts } from "../compare/run_sentences.ts";
import type { MeasuredSeries, RunView } from "../producers/run_view.ts";
import { chartFigure, type Tone } from "./chart.ts";
import type { Section } from "./document.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { pointsOf } from "./log_charts.ts";
import { columnsOf, dataTable, partHeading } from "./tables.ts";

const TONES: readonly Tone[] = ["first", "second"];

/** Charts of a pair of runs: those that part come first. */
const MAX_CHARTS = 40;

function nameOf({ metric, part }: MetricComparison): string {
  return part === "" ? metric : `${metric} ${part}`;
}

function partsTable(parts: readonly MetricComparison[], which: string): Html {
  if (parts.length === 0) return NOTHING;
  return dataTable({
    title: `Metrics of ${which} that part, the first to part first`,
    isSortable: true,
    columns: [
      ...columnsOf("text", "metric"),
      ...columnsOf("number", "from step", "first run", "second run", "in noise"),
    ],
    rows: parts.map((one) => [
      nameOf(one),
      number(one.parting?.step ?? NaN),
      number(one.parting?.first ?? NaN),
      number(one.parting?.second ?? NaN),
      one.parting?.inNoise === null ? "no noise" : number(one.parting?.inNoise ?? NaN),
    ]),
  });
}

function whyNot(title: string, metrics: readonly MetricComparison[]): Html {
  if (metrics.length === 0) return NOTHING;
  return html`
    <h4>${title}</h4>
    <ul>${metrics.map((one) =>
      html`<li><b>${nameOf(one)}</b>: ${one.why ?? ""}${
        one.definitions
          ? html`<br>${one.keys[0]}: ${one.definitions[0]}<br>${one.keys[1]}: ${one.definitions[1]}`
          : NOTHING
      }</li>`
    )}</ul>
  `;
}

function seriesIn(view: RunView, { metric }: MetricComparison, key: string) {
  return view.all(metric).find((one: MeasuredSeries) => one.key === key);
}

/** One chart of both runs where their definitions agree; of others the values say nothing beside each other. */
function curve(
  one: MetricComparison,
  runs: readonly [ComparedRun, ComparedRun],
  id: string,
): Html {
  const shown = runs.map(({ view }, i) => seriesIn(view, one, one.keys[i]));
  const names = ["first", "second"];
  return chartFigure({
    id,
    title: nameOf(one),
    xLabel: runs[0].view.log.axes[0] ?? "step",
    yLabel: "",
    series: shown.flatMap((series, i) =>
      series
        ? [{
          name: names[i],
          style: series.steps.length === 1 ? "points" as const : "line" as const,
          tone: TONES[i],
          points: pointsOf(series),
        }]
        : []
    ),
    events: one.parting ? [{ x: one.parting.step, kind: "finding" }] : [],
  });
}

function settings({ settings: differences }: RunComparison, which: string): Html {
  if (differences.length === 0) return html`<p>None of those that are known.</p>`;
  return dataTable({
    title: `Settings of ${which} that differ`,
    hasCaption: false,
    columns: columnsOf("text", "setting", "first", "second"),
    rows: differences.map((one) => [one.name, ...settingTexts(one)]),
  });
}

/**
 * The page.
 *
 * @param comparison The comparison.
 * @param options.runs Both runs.
 * @param options.id Unique in the document.
 */
export function compareStepsPage(
  comparison: RunComparison,
  { runs, id }: { readonly runs: readonly [ComparedRun, ComparedRun]; readonly id: string },
): Section {
  const { metrics, onlyIn, paths, trainers } = comparison;
  const which = paths.map((path) => path.replace(/\/+$/, "").split("/").at(-1) || path)
    .join(" and ");
  const of = (verdict: MetricComparison["verdict"]) =>
    metrics.filter((one) => one.verdict === verdict);
  const drawn = [...of("parts"), ...of("together")].slice(0, MAX_CHARTS);
  const only = onlyIn.flatMap((names, i) =>
    names.length === 0
      ? []
      : [html`<li>In the ${i === 0 ? "first" : "second"} run only: ${names.join(", ")}</li>`]
  );
  const body = html`
    <dl class="facts">
      <dt>first</dt>
      <dd>${paths[0]} (${trainers[0] ?? "unknown trainer"})</dd>
      <dt>second</dt>
      <dd>${paths[1]} (${trainers[1] ?? "unknown trainer"})</dd>
    </dl>
    <p>${equalSentence(comparison)}</p>
    <p>${partingSentence(comparison)}</p>
    ${partsTable(of("parts"), which)}
    ${partHeading(idOf(id, "settings"), "Settings that differ")}
    ${settings(comparison, which)}
    ${partHeading(idOf(id, "unsaid"), "What cannot be compared")}
    ${whyNot("Not comparable: the definitions differ", of("not-comparable"))}
    ${whyNot("Not checkable", of("not-checkable"))}
    ${only.length === 0 && of("not-comparable").length + of("not-checkable").length === 0
      ? html`<p>Every metric of one run is comparable with that of the other.</p>`
      : only.length === 0
      ? NOTHING
      : html`<ul>${only}</ul>`}
    ${drawn.length === 0
      ? NOTHING
      : html`${partHeading(idOf(id, "curves"), "Curves")}<div class="charts">${
        drawn.map((one, i) => curve(one, runs, idOf(id, "chart", i)))
      }</div>`}
  `;
  const parts = [
    { id: idOf(id, "settings"), title: "Settings that differ" },
    { id: idOf(id, "unsaid"), title: "What cannot be compared" },
    ...(drawn.length > 0 ? [{ id: idOf(id, "curves"), title: "Curves" }] : []),
  ];
  return { id, title: `Step by step: ${which}`, body, parts };
}
