/** What is said about a run: the one thing to do first, then findings by class, each linked to the chart that shows it. */
import {
  FINDING_CLASSES,
  type FindingClass,
  type FindingPlace,
  type SaidFinding,
} from "../diagnose/finding.ts";
import { firstToAct } from "../diagnose/findings/order.ts";
import { type Chart, chartFigure } from "./chart.ts";
import { formatCount, formatNumber } from "./format.ts";
import { type Html, html, NOTHING } from "./html.ts";

/** Ids of charts by the metrics or keys that they draw. */
export type ChartIds = ReadonlyMap<string, string>;

/** The element in which the place of a finding shows; undefined where it is not on the page. */
export type PlaceTarget = (at: FindingPlace) => string | undefined;

/** The charts of a page, to be linked to. */
export function chartIds(charts: readonly Chart[]): ChartIds {
  return new Map(
    charts.flatMap(({ id, series }) => series.map(({ name }) => [name, id] as const)),
  );
}

/** A chart that findings link to. @param more What stands below it. */
export function linkedFigure(chart: Chart, more: Html = NOTHING): Html {
  return html`<div id="${chart.id}-figure">${chartFigure(chart)}${more}</div>`;
}

/** A link to the chart of a metric or key; nothing where none draws it. */
export function chartLink(key: string | undefined, ids: ChartIds): Html {
  const id = key === undefined ? undefined : ids.get(key);
  return id === undefined ? NOTHING : html`
    <a href="#${id}-figure">See ${key ?? ""}</a>
  `;
}

/** What each class is called, and what it means. */
const CLASSES: Readonly<Record<FindingClass, readonly [string, string]>> = {
  violated: ["Violated", "cannot happen in a correct run"],
  suspect: ["Suspect", "worth a look; something else may explain it"],
  expected: ["Expected", "looks alarming, and is so by construction"],
  note: ["Note", "true, worth knowing, not a fault"],
  holds: ["Holds", "was checked and is right"],
  "not-checkable": ["Not checkable", "the record lacks what it needs"],
  "not-applicable": ["Not applicable", "the setting has nothing for it to check"],
};

function evidence({ step, value, bound, boundFrom }: SaidFinding): string {
  const parts = [
    ...(step === undefined ? [] : [`step ${formatCount(step)}`]),
    ...(value === undefined
      ? []
      : [`value ${value === null ? "not finite" : formatNumber(value)}`]),
    ...(bound === undefined ? [] : [`bound ${formatNumber(bound)}`]),
    ...(boundFrom === undefined ? [] : [boundFrom]),
  ];
  return parts.join(" · ");
}

function placePart(at: FindingPlace | undefined, targetOf: PlaceTarget): Html {
  if (at === undefined) return NOTHING;
  const { file, row, sample, token } = at;
  const place = [
    `${file}${row === undefined ? "" : `:${row}`}`,
    ...(sample === undefined ? [] : [`sample ${sample}`]),
    ...(token === undefined ? [] : [`token ${token}`]),
  ].join(", ");
  const target = targetOf(at);
  const shown = target === undefined
    ? place
    : html`<a href="#${target}" data-token="${token ?? ""}">${place}</a>`;
  return html`<p class="note">${shown}</p>`;
}

function findingItem(finding: SaidFinding, ids: ChartIds, targetOf: PlaceTarget): Html {
  const { id, class: kind, key, sentence, alternatives = [], next, at } = finding;
  const numbers = evidence(finding);
  return html`
    <li
      class="finding ${kind}-edge"><p><b>${id}</b> ${sentence}${chartLink(
        key,
        ids,
      )}</p>${next === undefined ? NOTHING : html`<p><b>Next:</b> ${next}</p>`}${numbers === ""
        ? NOTHING
        : html`<p class="note">${numbers}</p>`}${alternatives.length === 0
        ? NOTHING
        : html`<p class="note">Or: ${alternatives.join("; ")}.</p>`}${placePart(
          at,
          targetOf,
        )}</li>
  `;
}

/** The one thing to do first. */
export function firstPart(findings: readonly SaidFinding[]): Html {
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

/** Findings by class, the gravest first; what needs no look is folded. */
export function findingGroups(
  findings: readonly SaidFinding[],
  ids: ChartIds,
  targetOf: PlaceTarget = () => undefined,
): Html {
  const groups = FINDING_CLASSES.map((kind) => {
    const own = findings.filter((finding) => finding.class === kind);
    if (own.length === 0) return NOTHING;
    const [title, meaning] = CLASSES[kind];
    const list = html`<ul class="findings">${
      own.map((finding) => findingItem(finding, ids, targetOf))
    }</ul>`;
    const heading = html`<b>${title}</b> (${own.length}): ${meaning}`;
    return kind === "violated" || kind === "suspect"
      ? html`<p>${heading}</p>${list}`
      : html`<details><summary>${heading}</summary>${list}</details>`;
  });
  return html`${groups}`;
}

/** What to do first, then all findings. */
export function findingsPart(findings: readonly SaidFinding[], ids: ChartIds): Html {
  return html`${firstPart(findings)}${findingGroups(findings, ids)}`;
}
