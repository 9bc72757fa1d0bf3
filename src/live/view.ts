/** What the page shows of what it knows: markup by the id of its place, and charts. */
import type { CheckResult } from "../diagnose/invariant.ts";
import type { MetricsRow } from "../rl/metrics.ts";
import type { Chart, Tone } from "../report/chart.ts";
import { episodeTokens } from "../report/episode_tokens.ts";
import { findingGroups, firstPart } from "../report/findings_part.ts";
import { formatCount, formatNumber } from "../report/format.ts";
import { type Html, html, NOTHING } from "../report/html.ts";
import { dataTable, verdictMark } from "../report/tables.ts";
import type { LiveEpisode, RunName } from "./messages.ts";
import { type LiveState, type LiveTriage, runNames, stepsDone, tokensPerSecond } from "./state.ts";

/** What each fault is, in a line. */
export type FaultSummaries = Readonly<Record<string, string>>;

/** Places in the page whose markup follows what it knows. */
export const PLACES = {
  status: "live-status",
  machine: "live-machine",
  notice: "live-notice",
  runs: "live-runs",
  checks: "live-checks",
  words: "live-words",
  episodes: "live-episodes",
} as const;

/** The curves, in the order of their charts: key of the metric, title, unit. */
const CURVES = [
  ["reward", "Reward", "mean of the step's episodes"],
  ["pass_rate", "Programs that were repaired", "share that pass the hidden tests"],
  ["entropy", "Entropy of the policy", "nats"],
  ["approx_kl", "Movement of an update (approx_kl)", "nats"],
  ["grad_norm", "Norm of the gradient", ""],
  ["logp_gap", "Sampler against trainer (logp_gap)", "largest difference of a log-prob, nats"],
] as const satisfies readonly (readonly [keyof MetricsRow, string, string])[];

const TONES: Readonly<Record<RunName, Tone>> = { healthy: "first", broken: "second" };

/** What a run is called. */
function titleOf(name: RunName, { settings: { fault } }: LiveState): string {
  return name === "healthy" ? "Healthy trainer" : `Trainer with ${fault}`;
}

/** The id of a metric's chart. */
function chartId(metric: string): string {
  return `live-${metric.replaceAll("_", "-")}`;
}

/** The charts of the runs; curves without points before the first step. */
export function liveCharts(state: LiveState): Chart[] {
  return CURVES.map(([metric, title, yLabel]): Chart => ({
    id: chartId(metric),
    title,
    xLabel: "step",
    yLabel,
    // Both runs and the whole length from the first step on: curves grow into their place.
    xRange: [0, Math.max(state.settings.steps - 1, 1)],
    series: runNames(state).map((name) => ({
      name: titleOf(name, state),
      style: "line",
      tone: TONES[name],
      // A recording has null for what was not finite.
      points: state.runs[name].rows.map((row) => [row.step, row[metric] ?? NaN]),
    })),
  }));
}

/** The places of the charts, which stay while the page does. */
export function chartPlaces(): Html {
  return html`<div class="charts">${
    CURVES.map(([metric, title]) => {
      const id = chartId(metric);
      return html`
        <figure class="chart" id="${id}-figure">
          <figcaption><b>${title}</b></figcaption>
          <div class="plot">
            <canvas id="${id}" role="img" aria-label="${title}"></canvas>
          </div>
          <div id="${id}-table"></div>
        </figure>
      `;
    })
  }</div>`;
}

/** One sentence about where the page stands. It is read out when it changes, so it does not count steps. */
function statusOf(state: LiveState): string {
  const { phase, doing, settings: { fault, steps }, isReplay } = state;
  const runs = fault === undefined ? "One run" : "Both runs";
  switch (phase) {
    case "idle":
      return "Press Start.";
    case "busy":
      return `${doing[0]?.toUpperCase() ?? ""}${doing.slice(1)}.`;
    case "waiting":
      return stepsDone(state) === 0 ? "Ready for the first step." : "Paused.";
    case "running":
      return isReplay ? "A recorded run is played." : `${runs} learn, step by step.`;
    case "pausing":
      return "Pausing after this step.";
    case "ended":
      return `${runs} ended after ${formatCount(steps)} steps.`;
    case "failed":
      return "Stopped.";
    default:
      return phase satisfies never;
  }
}

function machinePart(state: LiveState): Html {
  const { adapter, isReplay } = state;
  if (adapter === undefined) return NOTHING;
  const speed = tokensPerSecond(state);
  return html`
    <p><b>${adapter.name}</b>${adapter.isSoftware
      ? " (software: no GPU is used)"
      : ""}<br>${isReplay
      ? "where this run was recorded"
      : speed === undefined
      ? "WebGPU in this browser"
      : `${formatCount(Math.round(speed))} tokens/s sampled and trained on`}</p>
  `;
}

function noticePart({ failure, isReplay }: LiveState, help: string): Html {
  if (failure === undefined) return NOTHING;
  const { reason, sentence } = failure;
  return html`
    <div class="notice"><p>${sentence}</p>${reason === "no-webgpu"
      ? html`<p>${help} Or press “Play the recording”.</p>`
      : NOTHING}${isReplay
      ? html`<p><b>What follows was recorded</b> on another machine with the settings it shows: seed and fault cannot be chosen.</p>`
      : NOTHING}</div>
  `;
}

/** The verdicts in a line. */
function checksLine(results: readonly CheckResult[] | undefined): Html {
  if (results === undefined) return html`<p class="note">Not checked yet</p>`;
  const violated = results.filter(({ verdict }) => verdict === "violated");
  const holding = results.filter(({ verdict }) => verdict === "holds").length;
  return violated.length === 0
    ? html`<p>${verdictMark("holds")} Before step 1: none violated, ${holding} hold</p>`
    : html`
      <p>${verdictMark("violated")} Before step 1: ${violated.map(({ name }) => name).join(
        "; ",
      )}</p>
    `;
}

/** What triage concludes where it names no cause. */
const CONCLUSIONS: Readonly<Record<LiveTriage["conclusion"], string>> = {
  "not-finite": "numbers are no longer finite",
  fault: "a fault",
  "unknown-cause": "something is wrong, and no failure that is known explains it",
  "falls-short": "nothing is known to be wrong, but it earns too little",
  "nothing-fired": "no rule has fired",
};

function triageLine(name: RunName, state: LiveState): Html {
  const { triage } = state.runs[name];
  if (triage === undefined) return html`<p class="note">Triage has nothing to read yet</p>`;
  const [first] = triage.causes;
  return first === undefined
    ? html`<p>Triage: ${CONCLUSIONS[triage.conclusion]}</p>`
    : html`<p>Triage: <b>${first.fault}</b>, belief ${first.belief.toFixed(2)}</p>`;
}

/** A number of the last step, large. */
function figureOf(label: string, value: number | undefined): Html {
  return html`
    <div>
      <dt>${label}</dt>
      <dd>${value === undefined ? "–" : formatNumber(value)}</dd>
    </div>
  `;
}

function runCard(name: RunName, state: LiveState, faults: FaultSummaries): Html {
  const { settings: { fault = "", steps } } = state;
  const { rows, results } = state.runs[name];
  const last = rows.at(-1);
  const about = name === "healthy"
    ? "GRPO as it should be."
    : `The same agent, seed and settings, but ${faults[fault] ?? fault}.`;
  return html`
    <section class="run ${name}" aria-labelledby="live-${name}-title">
    <h3 id="live-${name}-title">${titleOf(name, state)}</h3>
    <p class="note">${about}</p>
    <progress max="${steps}" value="${rows.length}" aria-label="Steps of ${titleOf(
      name,
      state,
    )}"></progress>
    <p class="note">step ${rows.length} of ${steps}</p>
    <dl class="figures">${figureOf("reward", last?.reward)}${figureOf(
      "repaired",
      last?.pass_rate,
    )}${figureOf("entropy", last?.entropy)}</dl>
    ${checksLine(results)}${triageLine(name, state)}</section>
  `;
}

/** The verdicts of both runs, violated ones first. */
function checksPart(state: LiveState): Html {
  const names = runNames(state);
  const all = names.map((name) => state.runs[name].results);
  const [first] = all;
  if (first === undefined) {
    return html`<p class="note">The trainer is checked before its first step; its verdicts will stand here.</p>`;
  }
  const verdictOf = (results: readonly CheckResult[] | undefined, id: number) =>
    results?.find((result) => result.id === id);
  const isViolated = ({ id }: CheckResult) =>
    all.some((results) => verdictOf(results, id)?.verdict === "violated");
  const rowOf = ({ id, name }: CheckResult) => [
    `${id} ${name}`,
    ...all.map((results) => {
      const result = verdictOf(results, id);
      if (result === undefined) return "–";
      const value = result.value === null ? "" : ` ${formatNumber(result.value)}`;
      return html`${verdictMark(result.verdict)}${value}`;
    }),
  ];
  const table = (title: string, results: readonly CheckResult[]) =>
    dataTable({
      title,
      hasCaption: false,
      kind: "stack",
      columns: [
        { name: "what must hold", kind: "text" },
        ...names.map((name) => ({ name: titleOf(name, state), kind: "text" as const })),
      ],
      rows: results.map(rowOf),
    });
  const violated = first.filter(isViolated);
  const others = first.filter((result) => !isViolated(result));
  return html`${
    violated.length === 0
      ? html`<p>None is violated.</p>`
      : html`<p>Violated before the first step, so before a second of training was spent:</p>${
        table("Violated invariants", violated)
      }`
  }<details><summary>${others.length} others</summary>${
    table("Other invariants", others)
  }</details>`;
}

/** The note, what to do first, all findings. A cause says more of what to do than the invariant that it violates. */
function triageWords({ note, causes, findings }: LiveTriage): Html {
  const named = findings.filter(({ id }) => causes.some(({ fault }) => fault === id));
  const first = firstPart(named.length > 0 ? named : findings);
  return html`<p>${note}</p>${first}${findingGroups(findings, new Map())}`;
}

function wordsPart(state: LiveState): Html {
  return html`<div class="pair">${
    runNames(state).map((name) => {
      const { triage } = state.runs[name];
      return html`
        <div><h3>${titleOf(
          name,
          state,
        )}</h3>${triage === undefined
          ? html`<p class="note">Triage reads the metrics of each step; its words will stand here.</p>`
          : triageWords(triage)}</div>
      `;
    })
  }</div>`;
}

function episodePart({ task, reward, passes, ...tokens }: LiveEpisode): Html {
  return html`<p class="note">Task <b>${task}</b> · reward <b>${formatNumber(reward)}</b> · ${
    passes ? "repaired" : "not repaired"
  }</p>${episodeTokens(tokens)}`;
}

function episodesPart(state: LiveState): Html {
  const { played } = state;
  const names = runNames(state).filter((name) => state.runs[name].episode !== undefined);
  const now = names.map((name) => {
    const { episode, rows } = state.runs[name];
    return episode === undefined ? NOTHING : html`
      <section
        aria-labelledby="live-${name}-episode"><h3 id="live-${name}-episode">${titleOf(
          name,
          state,
        )}, step ${rows.length - 1}</h3>${episodePart(episode)}</section>
    `;
  });
  const passed = played.filter(({ passes }) => passes).length;
  const base = played.length === 0 ? NOTHING : html`
    <details
      class="base"><summary>Before any training: ${passed} of ${played
        .length} programs repaired</summary>${played.map(episodePart)}</details>
  `;
  if (names.length === 0 && played.length === 0) {
    return html`<p class="note">The agent has not played yet.</p>`;
  }
  return html`<div class="pair">${now}</div>${base}`;
}

/**
 * What the page shows.
 *
 * @param state What it knows.
 * @param options.faults What each fault is.
 * @param options.help How WebGPU is turned on in this browser.
 * @returns Markup by the id of its place.
 */
export function liveParts(
  state: LiveState,
  { faults, help }: { readonly faults: FaultSummaries; readonly help: string },
): ReadonlyMap<string, Html> {
  return new Map([
    [PLACES.status, html`${statusOf(state)}`],
    [PLACES.machine, machinePart(state)],
    [PLACES.notice, noticePart(state, help)],
    [PLACES.runs, html`${runNames(state).map((name) => runCard(name, state, faults))}`],
    [PLACES.checks, checksPart(state)],
    [PLACES.words, wordsPart(state)],
    [PLACES.episodes, episodesPart(state)],
  ]);
}
