/** Comparisons for a terminal. */
import { settingText } from "../src/compare/group_names.ts";
import type { GroupComparison } from "../src/compare/compare_groups.ts";
import type { GroupResult, SeedResult } from "../src/compare/group_result.ts";
import {
  caveats,
  estimateText,
  number,
  PAIR_HEADINGS,
  pairedSentence,
  pairSentence,
  pairVerdict,
  scoreSentence,
} from "../src/compare/group_sentences.ts";
import type { MetricComparison, RunComparison } from "../src/compare/compare_runs.ts";
import { equalSentence, partingSentence, settingTexts } from "../src/compare/run_sentences.ts";
import { wrapText } from "../src/core/wrap_text.ts";
import { escapeControls } from "../src/core/sentence.ts";
import { formatColumns } from "./table.ts";

/** Rows of settings and metrics that a text shows; `--json` has all of them. */
const MAX_ROWS = 20;

/** Sentences under one heading; `--json` has all of them. */
const MAX_SENTENCES = 12;

/** Groups with a row each, the best first. */
const MAX_GROUPS = 40;

/** Groups that have a column each. */
const MAX_COLUMNS = 4;

function paragraph(text: string, columns: number): string[] {
  return wrapText(escapeControls(text), { columns, indent: 2, hanging: 4 });
}

function section(title: string, sentences: readonly string[], columns: number): string[] {
  if (sentences.length === 0) return [];
  const more = sentences.length - MAX_SENTENCES;
  return [
    "",
    ...wrapText(escapeControls(title), { columns }),
    ...sentences.slice(0, MAX_SENTENCES).flatMap((text) => paragraph(text, columns)),
    ...(more > 0 ? [`  and ${more} more (--json has all)`] : []),
  ];
}

function table(
  title: string,
  header: readonly string[],
  { rows, columns }: { readonly rows: readonly (readonly string[])[]; readonly columns: number },
): string[] {
  if (rows.length === 0) return [];
  const more = rows.length > MAX_ROWS ? [`  and ${rows.length - MAX_ROWS} more`] : [];
  return [
    "",
    title,
    ...formatColumns(header, rows.slice(0, MAX_ROWS), { columns, indent: 2 }),
    ...more,
  ];
}

function seedText(seed: SeedResult | null): string {
  if (seed === null) return "";
  return seed.seed === null ? number(seed.score) : `${number(seed.score)} #${seed.seed}`;
}

function efficiencyText({ efficiency }: GroupResult): string {
  if (efficiency === null) return "";
  const { medianSteps, reached, runs } = efficiency;
  return reached === runs && medianSteps !== null
    ? number(medianSteps)
    : `${medianSteps === null ? "none" : number(medianSteps)} (${reached}/${runs})`;
}

/**
 * A comparison over seeds.
 *
 * @param columns Columns of the terminal.
 */
export function groupsText(comparison: GroupComparison, columns: number): string {
  const { groups, pairs, threshold, differences, findings = [] } = comparison;
  const isShort = groups.length <= MAX_COLUMNS;
  const named = (kind: ReturnType<typeof pairVerdict>) =>
    pairs.filter((pair) => pairVerdict(pair) === kind);
  const settingRows = !isShort ? [] : differences.map(({ name, values }) => [
    name,
    ...values.map(settingText),
  ]);
  const names = groups.map(({ name }) => name);
  return [
    ...wrapText(scoreSentence(comparison), { columns }),
    ...wrapText(
      `IQM is the mean of the middle half of the seeds, n their number, # the seed; in brackets intervals of 95 %.${
        threshold === null
          ? ""
          : ` Steps: the median until ${number(threshold)} is reached (by how many runs).`
      }`,
      { columns },
    ),
    "",
    ...formatColumns(
      ["group", " n", " IQM", " mean", " best", " worst", " steps"],
      groups.slice(0, MAX_GROUPS).map((group) => [
        group.name,
        String(group.runs),
        estimateText(group.middle, group.middleInterval),
        estimateText(group.mean, group.meanInterval),
        seedText(group.best),
        seedText(group.worst),
        efficiencyText(group),
      ]),
      { columns, indent: 2 },
    ),
    ...(groups.length > MAX_GROUPS
      ? [`  and ${groups.length - MAX_GROUPS} more (--json has all)`]
      : []),
    ...PAIR_HEADINGS.flatMap(([kind, title]) =>
      section(title, named(kind).map((pair) => pairSentence(comparison, pair)), columns)
    ),
    ...section(
      `Seed by seed, where seeds are paired: the difference of ${comparison.metric}`,
      pairs.flatMap((pair) => pairedSentence(comparison, pair) ?? []),
      columns,
    ),
    ...section("Mind", caveats(comparison), columns),
    ...table("What triage says, and of how many runs", [
      "finding",
      "class",
      ...(isShort ? names : []).map((name) => ` ${name}`),
      " all runs",
    ], {
      rows: findings.map(({ id, class: kind, counts }) => [
        id,
        kind,
        ...isShort ? counts.map(String) : [],
        String(counts.reduce((sum, count) => sum + count, 0)),
      ]),
      columns,
    }),
    ...table("Settings that differ", ["setting", ...names], { rows: settingRows, columns }),
  ].join("\n");
}

function metricName({ metric, part }: MetricComparison): string {
  return part === "" ? metric : `${metric} ${part}`;
}

function whyNot(metrics: readonly MetricComparison[], verdict: MetricComparison["verdict"]) {
  return metrics.filter((one) => one.verdict === verdict).map((one) => {
    const definitions = one.definitions
      ? ` First: ${one.definitions[0]} Second: ${one.definitions[1]}`
      : "";
    return `${metricName(one)} (${[...new Set(one.keys)].join(", ")}): ${one.why}.${definitions}`;
  });
}

/**
 * A comparison of two runs.
 *
 * @param columns Columns of the terminal.
 */
export function runsText(comparison: RunComparison, columns: number): string {
  const { paths, trainers, metrics, settings, onlyIn } = comparison;
  const parts = metrics.filter(({ verdict }) => verdict === "parts");
  const together = metrics.filter(({ verdict }) => verdict === "together");
  const lines = (text: string) => wrapText(escapeControls(text), { columns, hanging: 4 });
  return [
    ...lines(`first:  ${paths[0]} (${trainers[0] ?? "unknown trainer"})`),
    ...lines(`second: ${paths[1]} (${trainers[1] ?? "unknown trainer"})`),
    "",
    ...lines(equalSentence(comparison)),
    ...lines(partingSentence(comparison)),
    ...table(
      "Parts, the first to part first",
      ["metric", " from step", " first", " second", " in noise"],
      {
        rows: parts.map((one) => [
          metricName(one),
          number(one.parting?.step ?? NaN),
          number(one.parting?.first ?? NaN),
          number(one.parting?.second ?? NaN),
          one.parting?.inNoise === null ? "no noise" : number(one.parting?.inNoise ?? NaN),
        ]),
        columns,
      },
    ),
    ...section(
      "Do not part",
      together.length === 0 ? [] : [together.map(metricName).join(", ")],
      columns,
    ),
    ...section(
      "Not comparable: the definitions differ",
      whyNot(metrics, "not-comparable"),
      columns,
    ),
    ...section("Not checkable", whyNot(metrics, "not-checkable"), columns),
    ...section(
      "In one run only",
      onlyIn.flatMap((names, i) =>
        names.length === 0 ? [] : [`${i === 0 ? "first" : "second"}: ${names.join(", ")}`]
      ),
      columns,
    ),
    ...table("Settings that differ", ["setting", "first", "second"], {
      rows: settings.map((one) => [one.name, ...settingTexts(one)]),
      columns,
    }),
  ].join("\n");
}
