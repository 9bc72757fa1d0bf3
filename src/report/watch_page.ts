/** The page that watches runs: a frame that stays, and the markup and charts that change in it while the runs grow. */
import type { Chart } from "./chart.ts";
import { chartData, chartTable, describeChart } from "./chart.ts";
import { cspHash, ownText, STYLE_SHEET } from "./document.ts";
import { chartIds } from "./findings_part.ts";
import { type Html, html, idOf } from "./html.ts";
import { logCharts, type LogGroup } from "./log_charts.ts";
import { definitionsOf } from "./log_page.ts";
import type { PageScripts } from "./page_data.ts";
import { GROUPS } from "./run_page.ts";
import { groupCharts, otherCharts } from "./run_panels.ts";
import { partHeading } from "./tables.ts";
import { grave, lastStep, type WatchContent, type WatchedRun } from "./watch_data.ts";
import { overlayGroups } from "./watch_overlay.ts";
import { formatCount } from "./format.ts";
import { overviewPart, runParts, stepWords, sum } from "./watch_run.ts";
import watchStyle from "./watch.css" with { type: "text" };

/** Points of a curve that are sent: a chart is some 600 pixels wide. */
const MAX_POINTS = 800;

/** Colours of runs; further ones repeat them. */
const MOST_COLOURS = 5;

/** The id of the charts of several runs. */
const ALL_CHARTS = "all-charts";
/** The id of the list of several runs. */
const OVERVIEW = "all-state";

const prefixOf = (index: number) => idOf("run", index);

/** The charts of one run: of ours in the panels of a report, of another trainer's by what its keys measure. */
function groupsOf(run: WatchedRun, prefix: string): readonly LogGroup[] {
  const { own, view, findings, name } = run;
  if (own) {
    const group = (id: string, title: string, charts: readonly Chart[]): LogGroup => ({
      id: idOf(prefix, id),
      title,
      charts: charts.map((chart) => ({ chart, definitions: [] })),
    });
    return [
      ...GROUPS.map(([id, title]) => group(id, title, groupCharts(own, { group: id, prefix }))),
      group("other", "Other metrics", otherCharts(own, prefix)),
    ].filter(({ charts }) => charts.length > 0);
  }
  return view ? logCharts({ name, view, findings }, prefix).groups : [];
}

/** A chart's place: its canvas, and the table that is filled with its data. It is kept when the markup around it changes. */
function figure({ chart: { id, title }, definitions }: LogGroup["charts"][number]): Html {
  return html`
    <div id="${id}-figure"
      data-keep="yes"><figure class="chart"><figcaption><b>${title}</b></figcaption>
    <div class="plot"><canvas id="${id}" role="img" aria-label="${title}"></canvas></div>
    <div id="${id}-table"></div></figure>${definitionsOf({
      chart: { id, title, xLabel: "", yLabel: "", series: [] },
      definitions,
    })}</div>
  `;
}

function chartsPart(groups: readonly LogGroup[]): Html {
  return html`${
    groups.map(({ id, title, charts }) =>
      html`${partHeading(id, title)}<div class="charts">${charts.map(figure)}</div>`
    )
  }`;
}

/** What stands in the window's tab: how far the runs are, and how much is said about them. */
function titleOf(runs: readonly WatchedRun[]): string {
  const said = sum(runs.map((run) => grave(run).length));
  const findings = said === 1 ? "1 finding" : `${said} findings`;
  if (runs.length === 1) return `${stepWords(runs[0])}, ${findings}: ${runs[0].name}`;
  const steps = runs.map((run) => {
    const last = lastStep(run);
    return last === undefined ? "–" : formatCount(last);
  }).join(" / ");
  return `steps ${steps}, ${findings}: ${runs.length} runs`;
}

/**
 * What the page shows of the runs.
 *
 * @param runs As they are now.
 * @returns Texts and markup, all of it escaped, and charts.
 */
export function watchContent(runs: readonly WatchedRun[]): WatchContent {
  const isAlone = runs.length === 1;
  const groups = isAlone ? groupsOf(runs[0], prefixOf(0)) : overlayGroups(runs);
  const charts = groups.flatMap((group) => group.charts.map(({ chart }) => chart));
  const ids = isAlone ? chartIds(charts) : new Map<string, string>();
  const parts = new Map([
    ...runs.flatMap((run, index) => [...runParts(run, { prefix: prefixOf(index), ids })]),
    ...(isAlone ? [] : [[OVERVIEW, overviewPart(runs, prefixOf).markup] as const]),
    [ALL_CHARTS, chartsPart(groups).markup] as const,
  ]);
  return {
    title: titleOf(runs),
    parts,
    charts: charts.map((chart) => ({
      data: chartData(chart, MAX_POINTS),
      label: describeChart(chart),
      table: chartTable(chart, { isOpen: false }).markup,
    })),
  };
}

function runSection(name: string, index: number, charts: Html): Html {
  const prefix = prefixOf(index);
  const part = (id: string) => html`<div id="${idOf(prefix, id)}"></div>`;
  return html`
    <section id="${prefix}" aria-labelledby="${prefix}-heading">
    <h2 id="${prefix}-heading">${charts.markup === "" ? name : "Now"}</h2>
    ${part("state")}
    <div id="${prefix}-notices" class="notices" role="log" tabindex="0" aria-label="What happened to ${name}"></div>
    ${part("findings")}${charts}${part("samples")}
    </section>
  `;
}

/** The frame of the page, and the policy that it is to be served with. */
export interface WatchDocument {
  readonly html: string;
  /** For the header Content-Security-Policy. */
  readonly policy: string;
}

/**
 * The frame of the page.
 *
 * @param names Of the runs, in the order in which {@linkcode watchContent} gets them.
 * @param scripts What runs in it.
 */
export async function watchDocument(
  names: readonly string[],
  scripts: PageScripts,
): Promise<WatchDocument> {
  const style = STYLE_SHEET + watchStyle;
  const policy = [
    "default-src 'none'",
    `script-src ${await cspHash(scripts.chartJs)} ${await cspHash(scripts.page)}`,
    `style-src ${await cspHash(style)}`,
    "connect-src 'self'",
    // Chart.js and the tab ask for none; the empty icon keeps the browser from asking for one.
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  const place = html`<div id="${ALL_CHARTS}"></div>`;
  const isAlone = names.length === 1;
  const colours = names.length > MOST_COLOURS
    ? html`
      <p
        class="note">There are ${MOST_COLOURS} colours, which further runs repeat: the boxes under “Scale, zoom, download” hide curves.</p>
    `
    : html``;
  const together = html`
    <section id="all" aria-labelledby="all-heading">
    <h2 id="all-heading">All runs</h2>
    <div id="${OVERVIEW}"></div>
    <p class="note">Curves share a chart where they measure the same by the same definition.</p>${colours}
    ${place}
    </section>
  `;
  const sections = names.map((name, index) => runSection(name, index, isAlone ? place : html``));
  const ownPart = (id: string) => idOf(prefixOf(0), id);
  const links = isAlone
    ? [
      [prefixOf(0), "Now"],
      [ownPart("findings"), "Findings"],
      [ALL_CHARTS, "Curves"],
      [ownPart("samples"), "Latest episodes"],
    ]
    : [["all", "All runs"], ...names.map((name, index) => [prefixOf(index), name])];
  const page = html`
    <!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <link rel="icon" href="data:,">
        <title>agentrl: ${names.join(", ")}</title>
        <style>${ownText(style)}</style>
      </head>
      <body>
        <a class="skip" href="#${links[0][0]}">Skip to the content</a>
        <header>
          <h1>${isAlone ? names[0] : `${names.length} runs`}</h1>
          <p id="watch-link" role="status">Connecting.</p>
        </header>
        <nav aria-label="Contents">
          <ol>${links.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ol>
        </nav>
        <main>
    <noscript><p class="note">This page follows runs while they grow, which needs JavaScript.</p></noscript>
    ${isAlone ? html`` : together}${sections}</main>
        <script>${ownText(scripts.chartJs)}</script>
        <script>${ownText(scripts.page)}</script>
      </body>
    </html>
  `;
  return { html: page.markup.trim(), policy };
}
