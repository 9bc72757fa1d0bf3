/** What the page says of one watched run: how far it is, what happened to its files, what is found, its last episodes. */
import { triagePart } from "./triage_part.ts";
import { type ChartIds, findingsPart } from "./findings_part.ts";
import { formatCount, formatNumber } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { facts, partHeading } from "./tables.ts";
import { transcripts } from "./transcripts.ts";
import { grave, lastStep, type Notice, type Sample, type WatchedRun } from "./watch_data.ts";

/** The sum of some numbers. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** `step 48 of 80`; the steps of our own runs count from 0: `step 79, 80 of 80 steps`. */
export function stepWords(run: WatchedRun): string {
  const last = lastStep(run);
  if (last === undefined) return "no step yet";
  const { plannedSteps } = run.pace;
  const step = `step ${formatCount(last)}`;
  if (plannedSteps === undefined) return step;
  const planned = formatCount(plannedSteps);
  return run.own
    ? `${step}, ${formatCount(last + 1)} of ${planned} steps`
    : `${step} of ${planned}`;
}

/** `7 s`, `3 min`, `2 h 7 min`. */
export function durationWords(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${formatNumber(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

/** `12:03:44 UTC`, of a moment in milliseconds since 1970. */
export function clockWords(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(11, 19)} UTC`;
}

/** How far a run is and how fast, in names and values; what its files do not tell is left out. */
export function stateFacts(run: WatchedRun): (readonly [string, string])[] {
  const { view, path, pace: { tokensPerSecond, left }, own } = run;
  const reward = view?.measured("reward");
  const value = reward?.values[reward.values.length - 1];
  const producer = own ? "agentrl" : view?.producer?.title;
  return [
    ["now", stepWords(run)],
    ...(left ? [["time left", `${durationWords(left.durationMs)} (${left.from})`] as const] : []),
    ...(tokensPerSecond
      ? [
        ["tokens/s", `${formatNumber(tokensPerSecond.value)} (${tokensPerSecond.from})`] as const,
      ]
      : []),
    ...(reward && value !== undefined
      ? [["reward", `${formatNumber(value)} (${reward.key})`] as const]
      : []),
    ["run", producer === undefined ? path : `${path}, ${producer}`],
  ];
}

function statePart(run: WatchedRun): Html {
  const { problem, pending } = run;
  const said = [problem, pending].flatMap((text) => text ?? []);
  return html`${said.map((text) => html`<p class="first"><b>Just now:</b> ${text}</p>`)}${
    facts(stateFacts(run))
  }`;
}

/** A line a run, where several share the page: where it is, what is said of it, what is wrong with its files. */
export function overviewPart(
  runs: readonly WatchedRun[],
  prefixOf: (index: number) => string,
): Html {
  const items = runs.map((run, index) => {
    const { pace: { left }, problem, pending, name } = run;
    const count = grave(run).length;
    const said = [
      stepWords(run),
      ...(left ? [`${durationWords(left.durationMs)} left`] : []),
      count === 1 ? "1 finding" : `${count} findings`,
      ...[problem, pending].flatMap((text) => text ?? []),
    ].join("; ");
    return html`<li><a href="#${prefixOf(index)}">${name}</a>: ${said}</li>`;
  });
  return html`<ul>${items}</ul>`;
}

function noticesPart(notices: readonly Notice[]): Html {
  if (notices.length === 0) return NOTHING;
  return html`<ul>${
    notices.toReversed().map(({ atMs, text }) =>
      html`<li><time datetime="${new Date(atMs).toISOString()}">${
        clockWords(atMs)
      }</time> ${text}</li>`
    )
  }</ul>`;
}

function sampleItem({ place, step, reward, tokenCount, prompt, answer }: Sample): Html {
  const numbers = [
    place,
    ...(step === undefined ? [] : [`step ${formatCount(step)}`]),
    ...(reward === undefined ? [] : [`reward ${formatNumber(reward)}`]),
    ...(tokenCount === 0 ? [] : [`${formatNumber(tokenCount)} tokens`]),
  ].join(", ");
  return html`
    <li
      class="finding"><p class="note">${numbers}</p>${prompt === undefined
        ? NOTHING
        : html`<pre class="sample" tabindex="0">${prompt}</pre>`}<pre class="sample answer" tabindex="0">${answer}</pre></li>
  `;
}

function samplesPart({ own, samples }: WatchedRun, prefix: string): Html {
  const id = idOf(prefix, "episodes");
  const shown = own
    ? transcripts(own, prefix)
    : samples.length === 0
    ? NOTHING
    : html`<ul class="findings">${samples.map(sampleItem)}</ul>`;
  return shown.markup === "" ? NOTHING : html`${partHeading(id, "Latest episodes")}${shown}`;
}

function findingPart({ own, view, findings }: WatchedRun, ids: ChartIds): Html {
  if (own) return triagePart(own, ids);
  return view ? findingsPart(findings, ids) : NOTHING;
}

/**
 * The markup of a run by the ids of the elements that it fills.
 *
 * @param options.prefix Begins the ids.
 * @param options.ids The charts of the page, to which findings link.
 */
export function runParts(
  run: WatchedRun,
  { prefix, ids }: { readonly prefix: string; readonly ids: ChartIds },
): (readonly [string, string])[] {
  const parts: Readonly<Record<string, Html>> = {
    state: statePart(run),
    notices: noticesPart(run.notices),
    findings: findingPart(run, ids),
    samples: samplesPart(run, prefix),
  };
  return Object.entries(parts).map(([id, { markup }]) => [idOf(prefix, id), markup]);
}
