/** The page of a run: what triage says of it, what it is, what it reached, its invariants, every metric in four groups, its episodes. */
import type { MetricGroup } from "../rl/metric_dictionary.ts";
import type { CheckResult } from "../diagnose/invariant.ts";
import { violated } from "../diagnose/invariants.ts";
import { resolveConfig } from "../rl/config.ts";
import { baseName, type RunSettings } from "../run/run_settings.ts";
import type { Chart } from "./chart.ts";
import type { Section } from "./document.ts";
import { chartIds, linkedFigure } from "./findings_part.ts";
import { formatBound, formatNumber } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import type { RunData } from "./run_data.ts";
import { bandNote, groupCharts, otherCharts } from "./run_panels.ts";
import { columnsOf, dataTable, facts, partHeading, verdictMark } from "./tables.ts";
import { tokenFindings, tokenParts } from "./token_page.ts";
import { triagePart } from "./triage_part.ts";
import { pointedSequences, tokensId, transcripts } from "./transcripts.ts";

/** Groups of metrics and their headings, in the order in which a run is read. */
export const GROUPS: readonly (readonly [MetricGroup, string])[] = [
  ["outcome", "Outcome: what was reached"],
  ["behaviour", "Behaviour: how"],
  ["optimizer", "Optimizer: what the updates did"],
  ["consistency", "Consistency: what must be a fixed value in a correct trainer"],
];

/** Recorded steps that are listed. */
const RECORDED_SHOWN = 20;

function ends(run: RunData, name: string): string {
  const points = run.metrics.get(name) ?? [];
  if (points.length === 0) return "–";
  return `${formatNumber(points[0][1])} → ${formatNumber(points[points.length - 1][1])}`;
}

/** The settings that are not its algorithm's defaults; the seed stands with the algorithm. */
function changedSettings({ settings }: RunData): string {
  if (settings === undefined) return "not known";
  const { config, environment } = settings;
  const defaults = new Map<string, unknown>(
    Object.entries(resolveConfig({ flags: { algorithm: config.algorithm }, environment })),
  );
  const changed = Object.entries(config)
    .filter(([key, value]) =>
      key !== "seed" && JSON.stringify(value) !== JSON.stringify(defaults.get(key))
    )
    .map(([key, value]) =>
      `${key} ${JSON.stringify(value)} (default ${JSON.stringify(defaults.get(key))})`
    );
  return changed.join(", ") || "none";
}

/** What it is and what it reached, in a line for its heading. */
export function runSummary(run: RunData): string {
  const { settings, stepCount } = run;
  const what = settings === undefined ? "A training run" : settings.config.algorithm;
  const reached = [["reward", "reward"], ["eval_pass", "held-out pass rate"]]
    .filter(([name]) => run.metrics.has(name)).map(([name, title]) =>
      `${title} ${ends(run, name)}`
    );
  return [what, `${formatNumber(stepCount)} steps`, ...reached].join(", ");
}

/** The gym or the environment that it trains in. */
function playedIn({ config, environment }: RunSettings): readonly [string, string] {
  if (environment === undefined) {
    return ["gym", `${config.preset}, reward by ${config.reward} tests`];
  }
  const { name, words, tasks } = environment;
  return [
    "environment",
    `${name}: ${words.length} words, ${tasks.train} tasks for training, ${tasks.heldout} held out`,
  ];
}

function runFacts(run: RunData): Html {
  const { settings, stepCount, path } = run;
  const known = settings
    ? [
      ["algorithm", `${settings.config.algorithm}, seed ${settings.config.seed}`],
      playedIn(settings),
      ["base agent", baseName(settings.base)],
      ["other than the defaults", changedSettings(run)],
      ["fault on purpose", settings.bug ?? "none"],
      ["adapter", settings.adapter ?? "not known"],
    ] as const
    : [];
  return facts([
    ["run", path],
    ...known,
    ["steps", settings ? `${stepCount} of ${settings.config.steps}` : String(stepCount)],
    ["reward, first → last step", ends(run, "reward")],
    ["held-out pass rate, first → last", ends(run, "eval_pass")],
  ]);
}

/** The verdicts at step 0 as a table. */
function checksTable(checks: readonly CheckResult[]): Html {
  if (checks.length === 0) return NOTHING;
  return dataTable({
    title: "Invariants before the first step",
    columns: [
      ...columnsOf("text", "check", "verdict"),
      ...columnsOf("number", "value", "bound"),
      ...columnsOf("text", "what the value is"),
    ],
    rows: checks.map(({ id, name, verdict, value, relation, bound, reason }) => [
      `${id} ${name}`,
      verdictMark(verdict),
      formatNumber(value),
      formatBound(relation, bound),
      reason,
    ]),
  });
}

/** Later steps that are listed by number. */
const LATER_SHOWN = 20;

/** What the checks said again: of which steps, and what they found violated. */
function laterChecksPart({ laterChecks = [] }: RunData): Html {
  const steps = [...new Set(laterChecks.map(({ step }) => step))];
  if (steps.length === 0) return NOTHING;
  const broken = violated(laterChecks);
  const shown = steps.slice(0, LATER_SHOWN).join(", ");
  const rest = steps.length - LATER_SHOWN;
  const where = rest > 0 ? `${shown} and ${rest} more` : shown;
  const table = broken.length === 0 ? NOTHING : dataTable({
    title: "Invariants violated in later steps",
    columns: [
      ...columnsOf("number", "step"),
      ...columnsOf("text", "check"),
      ...columnsOf("number", "value", "bound"),
      ...columnsOf("text", "what the value is"),
    ],
    rows: broken.map(({ step, id, name, value, relation = "<=", bound, reason = "" }) => [
      String(step),
      `${id} ${name}`,
      formatNumber(value),
      formatBound(relation, bound),
      reason,
    ]),
  });
  return html`<p>Checked again in ${steps.length === 1 ? "step" : "steps"} ${where}: ${
    broken.length === 0 ? "nothing is violated" : `${broken.length} violated`
  }.</p>${table}`;
}

function recordedList({ recorded }: RunData): Html {
  if (recorded.length === 0) return NOTHING;
  const items = recorded.slice(0, RECORDED_SHOWN).map(({ step, reasons }) =>
    html`<li>step ${step}: ${reasons.join("; ") || "recorded"}</li>`
  );
  const rest = recorded.length - items.length;
  return html`
    <details>
      <summary>Recorded steps (filled triangles): ${recorded.length}</summary>
      <ul>${items}${rest > 0 ? html`<li>and ${rest} more</li>` : NOTHING}</ul>
    </details>
  `;
}

/** What is said about the tokens of its episodes, and those episodes token by token that a finding points to. */
function tokensPart({ tokens }: RunData, prefix: string): Html {
  if (tokens === undefined) return NOTHING;
  if ("leftOutBytes" in tokens) {
    return html`
      <p
        class="note">Not judged here: its episodes hold ${formatNumber(
          Math.round(tokens.leftOutBytes / 1e6),
        )} MB. The checks of token dumps take them by themselves.</p>
    `;
  }
  const id = tokensId(prefix);
  const kept = pointedSequences(tokens);
  const parts = tokenParts({ ...tokens, digest: { ...tokens.digest, kept } }, id).map((
    { id, title, body },
  ) => html`<h4 id="${id}">${title}</h4>${body}`);
  return html`${tokenFindings(tokens, id)}${parts}`;
}

/**
 * The page of a run.
 *
 * @param run The run.
 * @param index Its number in the report, which keeps the ids of two runs of one name apart.
 */
export function runPage(run: RunData, index: number): Section {
  const prefix = idOf("run", index);
  const parts: { id: string; title: string }[] = [];
  const block = (id: string, title: string, body: Html): Html => {
    if (body.markup === "") return NOTHING;
    parts.push({ id: idOf(prefix, id), title });
    return html`${partHeading(idOf(prefix, id), title)}\n${body}`;
  };
  const grid = (charts: readonly Chart[]) =>
    charts.length === 0
      ? NOTHING
      : html`<div class="charts">${charts.map((chart) => linkedFigure(chart))}</div>`;
  const groups = GROUPS.map(([group, title]) =>
    [group, title, groupCharts(run, { group, prefix })] as const
  );
  const others = otherCharts(run, prefix);
  const ids = chartIds([...groups.flatMap(([, , charts]) => charts), ...others]);
  const body = html`${triagePart(run, ids)}${runFacts(run)}
${checksTable(run.checks)}${laterChecksPart(run)}
<p class="note">${
    bandNote(run)
  } Triangles on the axis: checkpoints (open) and recorded steps (filled).
Exact zeros on a logarithmic axis are drawn at its foot, marked 0.</p>
${recordedList(run)}
${groups.map(([group, title, charts]) => block(group, title, grid(charts)))}${
    block("other", "Other metrics", grid(others))
  }${block("tokens", "Tokens: findings", tokensPart(run, prefix))}${
    block("episodes", "Episodes", transcripts(run, prefix))
  }`;
  return { id: prefix, title: `Run ${run.name}`, body, parts };
}
