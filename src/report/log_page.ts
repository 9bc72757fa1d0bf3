/** The page of another trainer's run: what is said about it, first; then every metric that its log has. */
import type { Section } from "./document.ts";
import { chartIds, findingsPart, linkedFigure } from "./findings_part.ts";
import { formatCount } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { type LogChart, logCharts, type LogGroup } from "./log_charts.ts";
import type { LogData } from "./log_data.ts";
import { facts, partHeading } from "./tables.ts";

/** What the curves of a chart are, folded. */
export function definitionsOf({ definitions }: LogChart): Html {
  if (definitions.length === 0) return NOTHING;
  return html`<details class="definition"><summary>What it is</summary>${
    definitions.map(([key, text]) =>
      html`
        <p><b>${key}</b>: ${text}</p>
      `
    )
  }</details>`;
}

function figure(chart: LogChart): Html {
  return linkedFigure(chart.chart, definitionsOf(chart));
}

function groupPart({ id, title, charts }: LogGroup): Html {
  return html`${partHeading(id, title)}
<div class="charts">${charts.map(figure)}</div>`;
}

function sourceFacts({ view }: LogData): Html {
  const { log, producer, era, steps, understood, unknown } = view;
  const { path, form, files, ignored } = log.source;
  const range = steps.length === 0
    ? "none"
    : `${formatCount(steps[0])} to ${formatCount(steps[steps.length - 1])}`;
  const who = producer?.title ?? "unknown: its keys belong to no trainer known here";
  return facts([
    ["log", path],
    ["form", files.length > 1 ? `${form}, ${files.length} files` : form],
    ["written by", era === undefined ? who : `${who}, ${era.title}`],
    ["rows", `${formatCount(log.rows.count)}, steps ${range}`],
    ["keys", `${understood.length} with a meaning here, ${unknown.length} without`],
    ...(log.seams.length > 0
      ? [
        [
          "restarts",
          log.seams.map(({ lastStep, nextStep }) => `${lastStep} → ${nextStep}`).join(", "),
        ] as const,
      ]
      : []),
    ...(ignored.length > 0
      ? [
        [
          "skipped",
          ignored.map(({ what, count }) => `${what} (${formatCount(count)})`).join(", "),
        ] as const,
      ]
      : []),
  ]);
}

/**
 * The page.
 *
 * @param data The log, judged.
 * @param index Its number in the report, which keeps the ids of two logs of one name apart.
 */
export function logPage(data: LogData, index: number): Section {
  const prefix = idOf("log", index);
  const { groups, leftOut } = logCharts(data, prefix);
  const charts = groups.flatMap((group) => group.charts.map(({ chart }) => chart));
  const band = data.against
    ? html`<p class="note">Shaded: the extremes of the healthy run ${data.against.log.source.path}.</p>`
    : NOTHING;
  const rest = leftOut === 0
    ? NOTHING
    : html`<p class="note">${leftOut} further keys without a meaning here are not drawn.</p>`;
  const body = html`${findingsPart(data.findings, chartIds(charts))}
${sourceFacts(data)}
${band}${groups.map(groupPart)}${rest}`;
  return {
    id: prefix,
    title: `Run ${data.name}`,
    body,
    parts: groups.map(({ id, title }) => ({ id, title })),
  };
}
