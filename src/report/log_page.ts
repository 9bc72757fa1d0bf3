/** The page of another trainer's run: what is said about it, first; then every metric that its log has. */
import { type Finding, FINDING_CLASSES, type FindingClass } from "../diagnose/finding.ts";
import { firstToAct } from "../diagnose/findings/order.ts";
import { chartFigure } from "./chart.ts";
import type { Section } from "./document.ts";
import { formatNumber } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { chartIds, type LogChart, logCharts, type LogGroup } from "./log_charts.ts";
import type { LogData } from "./log_data.ts";
import { facts } from "./tables.ts";

/** What each class is called, and what it means. */
const CLASSES: Readonly<Record<FindingClass, readonly [string, string]>> = {
  violated: ["Violated", "cannot be in a correct run"],
  suspect: ["Suspect", "wants a look; something else may explain it"],
  expected: ["Expected", "looks alarming, and is so by construction"],
  note: ["Note", "true, worth knowing, and no fault"],
  holds: ["Holds", "was checked and is right"],
  "not-checkable": ["Not checkable", "the log lacks what it needs"],
};

function evidence({ step, value, bound, boundFrom }: Finding): string {
  const parts = [
    ...(step === undefined ? [] : [`step ${formatNumber(step)}`]),
    ...(value === undefined
      ? []
      : [`value ${value === null ? "not finite" : formatNumber(value)}`]),
    ...(bound === undefined ? [] : [`bound ${formatNumber(bound)}`]),
    ...(boundFrom === undefined ? [] : [boundFrom]),
  ];
  return parts.join(" · ");
}

function findingItem(finding: Finding, ids: ReadonlyMap<string, string>): Html {
  const { id, class: kind, key, sentence, alternatives = [], next, at } = finding;
  const chart = key === undefined ? undefined : ids.get(key);
  const numbers = evidence(finding);
  const place = at === undefined ? "" : `${at.file}${at.row === undefined ? "" : `:${at.row}`}`;
  return html`
    <li
      class="finding ${kind}-edge"><p><b>${id}</b> ${sentence}${chart === undefined
        ? NOTHING
        : html`
          <a href="#${chart}-figure">See ${key ?? ""}</a>
        `}</p>${next === undefined ? NOTHING : html`<p><b>Next:</b> ${next}</p>`}${numbers === ""
        ? NOTHING
        : html`<p class="note">${numbers}</p>`}${alternatives.length === 0
        ? NOTHING
        : html`<p class="note">Or: ${alternatives.join("; ")}.</p>`}${place === ""
        ? NOTHING
        : html`<p class="note">${place}</p>`}</li>
  `;
}

/** The one thing to do first. */
function firstPart({ findings }: LogData): Html {
  const first = firstToAct(findings);
  if (!first) {
    return html`
      <p
        class="first"><b>First:</b> nothing to do. No rule found a fault in what this log holds, which is not the same as healthy.</p>
    `;
  }
  return html`<p class="first"><b>First:</b> ${
    first.next ?? first.sentence
  } <span class="note">(${first.id})</span></p>`;
}

function findingsPart(data: LogData, ids: ReadonlyMap<string, string>): Html {
  const groups = FINDING_CLASSES.map((kind) => {
    const own = data.findings.filter((finding) => finding.class === kind);
    if (own.length === 0) return NOTHING;
    const [title, meaning] = CLASSES[kind];
    const list = html`<ul class="findings">${own.map((finding) => findingItem(finding, ids))}</ul>`;
    const heading = html`<b>${title}</b> (${own.length}): ${meaning}`;
    return kind === "violated" || kind === "suspect"
      ? html`<p>${heading}</p>${list}`
      : html`<details><summary>${heading}</summary>${list}</details>`;
  });
  return html`${firstPart(data)}${groups}`;
}

function definitionsOf({ definitions }: LogChart): Html {
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
  return html`<div id="${chart.chart.id}-figure">${chartFigure(chart.chart)}${
    definitionsOf(chart)
  }</div>`;
}

function groupPart({ id, title, charts }: LogGroup): Html {
  return html`<h3 id="${id}">${title}</h3>
<div class="charts">${charts.map(figure)}</div>`;
}

function sourceFacts({ view }: LogData): Html {
  const { log, producer, era, steps, understood, unknown } = view;
  const { path, form, files, ignored } = log.source;
  const range = steps.length === 0
    ? "none"
    : `${formatNumber(steps[0])} to ${formatNumber(steps[steps.length - 1])}`;
  const who = producer?.title ?? "not known: its keys are nobody's that is known here";
  return facts([
    ["log", path],
    ["form", files.length > 1 ? `${form}, ${files.length} files` : form],
    ["written by", era === undefined ? who : `${who}, ${era.title}`],
    ["rows", `${formatNumber(log.rows.count)}, steps ${range}`],
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
          "passed over",
          ignored.map(({ what, count }) => `${what} (${formatNumber(count)})`).join(", "),
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
  const band = data.against
    ? html`<p class="note">Shaded: the extremes of the healthy run ${data.against.log.source.path}.</p>`
    : NOTHING;
  const rest = leftOut === 0
    ? NOTHING
    : html`<p class="note">${leftOut} further keys without a meaning here are not drawn.</p>`;
  const body = html`${findingsPart(data, chartIds(groups))}
${sourceFacts(data)}
${band}${groups.map(groupPart)}${rest}`;
  return {
    id: prefix,
    title: `Run ${data.name}`,
    body,
    parts: groups.map(({ id, title }) => ({ id, title })),
  };
}
