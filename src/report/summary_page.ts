/** The first page: which failures the reward curve hides and what catches each, what ran, and what was found. */
import { firstToAct } from "../diagnose/findings/order.ts";
import { FAULTS } from "../faults/faults.ts";
import { failureId, rewardSentence } from "./dashboard_page.ts";
import type { Section } from "./document.ts";
import {
  EXPOSED_BY_NO_METRIC,
  type Failure,
  type FailurePair,
  failurePairs,
  judgeReward,
  lastMean,
} from "./faults_data.ts";
import { formatCell, formatNumber } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { experimentId } from "./lab_page.ts";
import { caughtBy } from "./matrix_page.ts";
import type { ReportContent } from "./report_content.ts";
import { columnsOf, dataTable, facts } from "./tables.ts";

function link(id: string, text: string): Html {
  return html`<a href="#${id}">${text}</a>`;
}

function plural(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** What catches a failure before any training. */
function catcher(name: Failure, { matrix }: ReportContent): Html {
  const row = [...(matrix?.rows ?? []), ...(matrix?.further ?? [])].find(({ bug }) => bug === name);
  const ids = row ? caughtBy(row) : [];
  if (ids.length > 0) return link("matrix", `check ${ids.join(", ")}`);
  if (FAULTS[name].kind === "configuration") return html`no check: the code is right`;
  return html`${row ? "no check" : "–"}`;
}

/** The metric that exposes a failure, at the end of the run and of its control. */
function exposure({ name, metric, faulty, control }: FailurePair): string {
  const lastStep = faulty.metrics.get("reward")?.at(-1)?.[0] ?? 0;
  const ours = formatNumber(lastMean(faulty, metric));
  const healthy = formatNumber(lastMean(control, metric, lastStep));
  const numbers = `${metric} ${ours} against ${healthy}`;
  return EXPOSED_BY_NO_METRIC.has(name) ? `no metric (${numbers})` : numbers;
}

function failuresTable(content: ReportContent): Html {
  const pairs = content.faults ? failurePairs(content.faults) : [];
  if (pairs.length === 0) return NOTHING;
  const colour = (pair: FailurePair) =>
    judgeReward(pair).verdict === "worse" ? "holds" : "violated";
  return dataTable({
    title: "Ten failures: what the reward hides, what exposes it, what catches it",
    kind: "stack",
    columns: columnsOf(
      "text",
      "failure",
      "does the reward show it?",
      "exposed by (last steps)",
      "caught before training by",
    ),
    rows: pairs.map((pair) => [
      link(failureId(pair.name), pair.name),
      html`<span class="${colour(pair)}">${rewardSentence(pair)}</span>`,
      exposure(pair),
      catcher(pair.name, content),
    ]),
  });
}

function failureLinks(pairs: readonly FailurePair[]): Html[] {
  return pairs.map(({ name }, i) => html`${i === 0 ? "" : ", "}${link(failureId(name), name)}`);
}

/** The catalogue in a sentence. */
function hiddenFinding({ faults }: ReportContent): Html[] {
  const pairs = faults ? failurePairs(faults) : [];
  if (pairs.length === 0) return [];
  const withVerdict = (...verdicts: readonly string[]) =>
    pairs.filter((pair) => verdicts.includes(judgeReward(pair).verdict));
  const hidden = withVerdict("hidden", "better");
  const slower = withVerdict("slower");
  const rest = slower.length === 0 ? NOTHING : html`
    With ${failureLinks(slower)} it only rises more slowly, as an unlucky seed would.
  `;
  return [
    html`The reward curve hides ${hidden.length} of ${plural(pairs.length, "failure")}: ${
      failureLinks(hidden)
    }.${rest}`,
  ];
}

/** The matrix in a sentence. */
function matrixFinding({ matrix }: ReportContent): Html[] {
  if (!matrix) return [];
  const faulty = matrix.rows.filter(({ bug }) => bug !== "none");
  const caught = faulty.filter((row) => caughtBy(row).length > 0);
  const healthy = matrix.rows.find(({ bug }) => bug === "none");
  const clean = healthy && caughtBy(healthy).length === 0
    ? "the trainer without a fault passes all of them"
    : "the trainer without a fault violates some of them, so look there first";
  return [
    html`${
      link("matrix", `Invariants catch ${caught.length} of ${plural(faulty.length, "fault")}`)
    } of the code before the first step, and ${clean}.`,
  ];
}

/** The experiments in a sentence, those that miss a requirement by name. */
function labFinding({ lab }: ReportContent): Html[] {
  const checks = lab.flatMap((record) => record.checks);
  if (lab.length === 0) return [];
  const missed = lab.filter((record) => record.checks.some(({ holds }) => !holds));
  const names = missed.map((record, i) =>
    html`${i === 0 ? "" : ", "}${link(experimentId(record), record.experiment)}`
  );
  return [html`${
    link(
      "lab",
      `${checks.filter(({ holds }) => holds).length} of ${
        plural(checks.length, "requirement")
      } hold`,
    )
  } in ${plural(lab.length, "experiment")}${
    missed.length === 0 ? NOTHING : html`; look at ${names}`
  }.`];
}

/** Where the same can be watched. */
function liveFinding({ live, lab }: ReportContent): Html[] {
  if (live === undefined || lab.length === 0) return [];
  return [
    html`
      <a
        href="${live}">Watch it live</a>: the same agent learns in your browser, under a healthy trainer and under a broken one.
    `,
  ];
}

/** How each run went. */
function runFindings({ runs }: ReportContent): Html[] {
  return runs.map((run, i) => {
    const ends = (name: string) => {
      const points = run.metrics.get(name) ?? [];
      return `${formatNumber(points[0]?.[1])} → ${formatNumber(points.at(-1)?.[1])}`;
    };
    const broken = run.checks.filter(({ verdict }) => verdict === "violated").map(({ id }) => id);
    const held = run.metrics.has("eval_pass") ? `, held-out ${ends("eval_pass")}` : "";
    const checks = broken.length > 0 ? `; violates check ${broken.join(", ")} at step 0` : "";
    return html`${link(idOf("run", i), run.name)}: ${plural(run.stepCount, "step")}, reward ${
      ends("reward")
    }${held}${checks}.`;
  });
}

/** What is said first of each run of another trainer. */
function logFindings({ logs }: ReportContent): Html[] {
  return logs.map(({ name, findings, view }, i) => {
    const first = firstToAct(findings);
    const words = first ? first.sentence : "nothing was found that is worth a word.";
    return html`${link(idOf("log", i), name)} (${
      view.producer?.title ?? "unknown trainer"
    }): ${words}`;
  });
}

function whatRan(content: ReportContent): Html {
  const { lab, runs, logs, faults, matrix } = content;
  const all = [...runs, ...(faults?.runs.values() ?? [])];
  const adapters = new Set([
    ...lab.map(({ adapter }) => adapter),
    ...all.flatMap(({ settings }) => settings?.adapter ?? []),
  ]);
  const labMs = lab.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const steps = all.reduce((sum, { stepCount }) => sum + stepCount, 0);
  return facts([
    [
      "what ran",
      [
        ...(lab.length > 0
          ? [
            `${plural(lab.length, "experiment")}${
              lab.some(({ quick }) => quick) ? " (quick: smaller sizes)" : ""
            }`,
          ]
          : []),
        ...(faults ? [`${plural(faults.runs.size, "run")} of the catalogue`] : []),
        ...(logs.length > 0 ? [plural(logs.length, "log") + " of other trainers"] : []),
        ...(runs.length > 0 ? [plural(runs.length, "run")] : []),
        ...(matrix ? ["the invariants under every fault"] : []),
      ].join(", "),
    ],
    ["adapter", [...adapters].join("; ") || "not known"],
    ...(lab.length > 0
      ? [["time of the experiments", `${formatCell(Math.round(labMs / 1000))} s`] as const]
      : []),
    ...(steps > 0 ? [["training steps shown", formatNumber(steps)] as const] : []),
  ]);
}

/**
 * The page.
 *
 * @param content The whole report.
 */
export function summaryPage(content: ReportContent): Section {
  const findings = [
    ...hiddenFinding(content),
    ...matrixFinding(content),
    ...labFinding(content),
    ...liveFinding(content),
    ...logFindings(content),
    ...runFindings(content),
  ];
  return {
    id: "summary",
    title: "Summary",
    body: html`${whatRan(content)}
<ul>${findings.map((finding) => html`<li>${finding}</li>`)}</ul>
${failuresTable(content)}`,
  };
}
