/** The page of a comparison over seeds: what differs, what each group reaches, its curves, its settings, what triage says. */
import { settingText } from "../compare/group_names.ts";
import type { CurveBand, GroupResult, SeedResult } from "../compare/group_result.ts";
import {
  caveats,
  estimateText,
  number,
  PAIR_HEADINGS,
  pairedSentence,
  pairSentence,
  pairVerdict,
  scoreSentence,
} from "../compare/group_sentences.ts";
import type { GroupComparison } from "../compare/compare_groups.ts";
import { CANONICAL, type CanonicalMetric } from "../producers/definition.ts";
import { type Chart, chartFigure, type Tone } from "./chart.ts";
import type { Section } from "./document.ts";
import { heatMap } from "./heat_map.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { parallelCoordinates } from "./parallel_coordinates.ts";
import { columnsOf, dataTable, partHeading } from "./tables.ts";

const TONES: readonly Tone[] = ["first", "second", "third", "fourth", "fifth"];

/** Sentences of a kind that a page lists. */
const MAX_SENTENCES = 40;

function list(sentences: readonly string[]): Html {
  if (sentences.length === 0) return NOTHING;
  const more = sentences.length - MAX_SENTENCES;
  return html`<ul>${sentences.slice(0, MAX_SENTENCES).map((text) => html`<li>${text}</li>`)}${
    more > 0 ? html`<li>and ${more} more</li>` : NOTHING
  }</ul>`;
}

function verdicts(comparison: GroupComparison): Html {
  const of = (kind: ReturnType<typeof pairVerdict>) =>
    comparison.pairs.filter((pair) => pairVerdict(pair) === kind)
      .map((pair) => pairSentence(comparison, pair));
  const part = (title: string, sentences: readonly string[]) =>
    sentences.length === 0 ? NOTHING : html`<h3>${title}</h3>${list(sentences)}`;
  return html`${PAIR_HEADINGS.map(([kind, title]) => part(title, of(kind)))}`;
}

function seedText(seed: SeedResult | null): string {
  if (seed === null) return "–";
  return seed.seed === null ? number(seed.score) : `${number(seed.score)} #${seed.seed}`;
}

function stepsText({ efficiency }: GroupResult): string {
  if (efficiency === null) return "–";
  const { medianSteps, reached, runs } = efficiency;
  return `${medianSteps === null ? "none" : number(medianSteps)} (${reached}/${runs})`;
}

function episodesText({ efficiency, episodesPerStep }: GroupResult): string {
  if (efficiency?.medianSteps === null || efficiency === null || episodesPerStep === null) {
    return "–";
  }
  // Steps count from 0: the one that reaches the threshold is done.
  return number((efficiency.medianSteps + 1) * episodesPerStep);
}

function resultsTable({ groups, threshold, axes, differences }: GroupComparison): Html {
  const shown = axes.length > 1 ? axes : [];
  const valueOf = (name: string, group: number) => {
    const value = differences.find((one) => one.name === name)?.values[group] ?? null;
    return settingText(value);
  };
  const reach = threshold === null ? "steps" : `steps to ${number(threshold)}`;
  return dataTable({
    title: "Settings and result",
    isSortable: true,
    columns: [
      ...columnsOf("text", "group", ...shown),
      ...columnsOf(
        "number",
        "runs",
        "interquartile mean",
        "mean",
        "best",
        "worst",
        reach,
        "episodes",
      ),
    ],
    rows: groups.map((group, i) => [
      group.name,
      ...shown.map((name) => valueOf(name, i)),
      String(group.runs),
      estimateText(group.middle, group.middleInterval),
      estimateText(group.mean, group.meanInterval),
      seedText(group.best),
      seedText(group.worst),
      stepsText(group),
      episodesText(group),
    ]),
  });
}

/** The groups that charts show: the best ones, as many as have a tone. */
function charted({ groups }: GroupComparison): readonly GroupResult[] {
  return groups.filter(({ runs }) => runs > 0).slice(0, TONES.length);
}

function metricTitle(metric: string): string {
  return Object.hasOwn(CANONICAL, metric)
    ? `${metric}: ${CANONICAL[metric as CanonicalMetric].split(";", 1)[0]}`
    : metric;
}

function curveChart(metric: string, comparison: GroupComparison, id: string): Chart | undefined {
  const shown = charted(comparison).flatMap((group, i) => {
    const curve = group.curves.find((one) => one.metric === metric);
    return curve ? [{ group, curve, tone: TONES[i] }] : [];
  });
  if (shown.length === 0) return undefined;
  const line = (points: readonly CurveBand[]) =>
    points.map(({ step, mean }) => [step, mean] as const);
  return {
    id,
    title: metricTitle(metric),
    xLabel: "step",
    yLabel: "",
    series: shown.map(({ group, curve, tone }) => ({
      name: group.name,
      style: curve.points.length === 1 ? "points" : "line",
      tone,
      points: line(curve.points),
    })),
    bands: shown.map(({ group, curve, tone }) => ({
      name: `${group.name}, ${
        curve.isInterval ? "95 % interval of the mean" : "lowest to highest seed"
      }`,
      of: group.name,
      tone,
      points: curve.points.map(({ step, low, high }) => [step, low, high] as const),
    })),
  };
}

function curves(comparison: GroupComparison, prefix: string): Html {
  const metrics = [
    ...new Set(comparison.groups.flatMap((group) => group.curves.map(({ metric }) => metric))),
  ];
  const charts = metrics.flatMap((metric, i) =>
    curveChart(metric, comparison, idOf(prefix, "curve", i)) ?? []
  );
  if (charts.length === 0) return NOTHING;
  const left = comparison.groups.length - charted(comparison).length;
  const note = left > 0
    ? html`<p class="note">Drawn are the best ${
      charted(comparison).length
    } of ${comparison.groups.length} groups.</p>`
    : NOTHING;
  return html`${partHeading(idOf(prefix, "curves"), "Curves: the mean over seeds")}${note}
<div class="charts wide">${charts.map((chart) => chartFigure(chart))}</div>`;
}

function profile(comparison: GroupComparison, prefix: string): Html {
  const shown = charted(comparison).filter((group) => group.profile.length > 1);
  if (shown.length === 0) return NOTHING;
  return chartFigure(
    {
      id: idOf(prefix, "profile"),
      title: "Performance profile",
      xLabel: `score τ (${comparison.metric})`,
      yLabel: "share of runs above τ",
      series: shown.map((group, i) => ({
        name: group.name,
        style: "line",
        tone: TONES[i],
        points: group.profile.map(({ score, share }) => [score, share] as const),
      })),
      bands: shown.map((group, i) => ({
        name: `${group.name}, 95 %`,
        of: group.name,
        tone: TONES[i],
        points: group.profile.map(({ score, low, high }) => [score, low, high] as const),
      })),
    },
    html`A curve that lies above another one everywhere is the better method, whatever is asked of a score.`,
  );
}

function pairedTable(comparison: GroupComparison, prefix: string): Html {
  const sentences = comparison.pairs.flatMap((pair) => pairedSentence(comparison, pair) ?? []);
  if (sentences.length === 0) return NOTHING;
  return html`${partHeading(idOf(prefix, "paired"), "Seed by seed")}
<p>Runs of one seed share what it decides; of their differences in ${comparison.metric}:</p>
${list(sentences)}`;
}

function seedsTable({ groups }: GroupComparison): Html {
  const rows = groups.flatMap((group) =>
    group.strata.flatMap((stratum) =>
      stratum.seeds.map(({ path, seed, score }) => [
        group.name,
        stratum.name || "–",
        seed === null ? "–" : String(seed),
        number(score),
        path,
      ])
    )
  );
  const title = rows.length <= MAX_SEEDS
    ? "every seed"
    : `the first ${MAX_SEEDS} of ${rows.length} seeds`;
  return html`<details class="data" open><summary>Table: ${title}</summary>${
    dataTable({
      title: "Every seed",
      hasCaption: false,
      isSortable: true,
      columns: [
        ...columnsOf("text", "group", "environment"),
        ...columnsOf("number", "seed", "score"),
        ...columnsOf("text", "run"),
      ],
      rows: rows.slice(0, MAX_SEEDS),
    })
  }</details>`;
}

/** A column for each group, as far as they are few; of many the number of all runs. */
const MAX_COLUMNS = 6;

/** Of few groups a column each, since settings are many; of many groups a row each. */
function settingsTable({ groups, differences }: GroupComparison, prefix: string): Html {
  if (differences.length === 0) return NOTHING;
  const shared = { title: "Settings that differ", hasCaption: false };
  const table = groups.length <= MAX_COLUMNS
    ? dataTable({
      ...shared,
      columns: columnsOf("text", "setting", ...groups.map(({ name }) => name)),
      rows: differences.map(({ name, values }) => [name, ...values.map(settingText)]),
    })
    : dataTable({
      ...shared,
      isSortable: true,
      columns: columnsOf("text", "group", ...differences.map(({ name }) => name)),
      rows: groups.map(({ name }, i) => [
        name,
        ...differences.map(({ values }) => settingText(values[i])),
      ]),
    });
  return html`${
    partHeading(idOf(prefix, "settings"), "Settings that differ")
  }<div class="settings">${table}</div>`;
}

/** Groups and seeds that a page has room for: it is to be mailed. */
const MAX_GROUPS = 500;
const MAX_SEEDS = 2000;

/** The comparison of the best groups, where there are more than a page shows. */
function bestGroups(comparison: GroupComparison): GroupComparison {
  if (comparison.groups.length <= MAX_GROUPS) return comparison;
  return {
    ...comparison,
    groups: comparison.groups.slice(0, MAX_GROUPS),
    pairs: comparison.pairs.filter(({ second }) => second < MAX_GROUPS),
    differences: comparison.differences.map(({ name, values }) => ({
      name,
      values: values.slice(0, MAX_GROUPS),
    })),
  };
}

function findingsTable({ groups, findings }: GroupComparison, prefix: string): Html {
  if (!findings) return NOTHING;
  const isShort = groups.length <= MAX_COLUMNS;
  const body = findings.length === 0
    ? html`<p>Triage finds nothing violated or suspect in any of these runs.</p>`
    : dataTable({
      title: "Of how many runs it is said",
      columns: [
        ...columnsOf("text", "finding", "class"),
        ...columnsOf("number", ...(isShort ? groups.map(({ name }) => name) : []), "all runs"),
      ],
      rows: findings.map(({ id, class: kind, counts }) => [
        id,
        kind,
        ...isShort ? counts.map(String) : [],
        String(counts.reduce((sum, count) => sum + count, 0)),
      ]),
    });
  return html`${partHeading(idOf(prefix, "findings"), "What triage says")}${body}`;
}

/**
 * The page.
 *
 * @param whole The comparison.
 * @param options.name For the heading.
 * @param options.index Its number in the report.
 */
export function comparePage(
  whole: GroupComparison,
  { name, index }: { readonly name: string; readonly index: number },
): Section {
  const comparison = bestGroups(whole);
  const left = whole.groups.length - comparison.groups.length;
  const prefix = idOf("compare", index);
  const part = (id: string, title: string) => ({ id: idOf(prefix, id), title });
  const body = html`<p>${scoreSentence(comparison)} In brackets are intervals of 95 %; # is
a seed, and behind the steps to a score is how many runs reached it.</p>
${resultsTable(comparison)}
${
    left === 0
      ? NOTHING
      : html`<p class="note">Of ${whole.groups.length} groups the best ${MAX_GROUPS} are shown.</p>`
  }
${seedsTable(comparison)}
${verdicts(comparison)}
${partHeading(idOf(prefix, "mind"), "What to mind")}
${list(caveats(whole))}
${pairedTable(comparison, prefix)}
${curves(comparison, prefix)}
${partHeading(idOf(prefix, "pictures"), "Settings and scores")}
<div class="charts wide">${profile(comparison, prefix)}</div>
${parallelCoordinates(comparison)}
${heatMap(comparison)}
${settingsTable(comparison, prefix)}
${findingsTable(comparison, prefix)}`;
  const parts = [
    part("mind", "What to mind"),
    part("paired", "Seed by seed"),
    part("curves", "Curves"),
    part("pictures", "Settings and scores"),
    part("settings", "Settings that differ"),
    part("findings", "What triage says"),
  ].filter(({ id }) => body.markup.includes(`id="${id}"`));
  return { id: prefix, title: `Compared over seeds: ${name}`, body, parts };
}
