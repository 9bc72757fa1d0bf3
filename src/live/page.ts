/** The document of the live page: controls, places that its script fills, the scripts themselves. It loads nothing. */
import { command, type MentionWords, plainMention } from "../core/mention.ts";
import {
  CONFIGURATION_FAULTS,
  type FaultName,
  FAULTS,
  FURTHER_FAULTS,
  MATRIX_FAULTS,
} from "../faults/faults.ts";
import { cspHash, LIVE_GENERATOR, ownText, STYLE_SHEET } from "../report/document.ts";
import { type Html, html, jsonBlock } from "../report/html.ts";
import { BLOCKS } from "./blocks.ts";
import liveStyle from "./live.css" with { type: "text" };
import type { LiveData } from "./messages.ts";
import { LIVE_DEFAULTS, MOST_SEED, MOST_STEPS, NO_FAULT } from "./settings.ts";
import { chartPlaces, type FaultSummaries, PLACES } from "./view.ts";

/** The scripts of the page. */
export interface LiveScripts {
  /** The published build of Chart.js. */
  readonly chartJs: string;
  /** The page's own, from src/live/script/main.ts. */
  readonly page: string;
  /** The trainer's, for a worker, or for an element of the page where no worker has WebGPU. */
  readonly worker: string;
}

/** The tutorial's failures. */
const TEN_FAULTS: readonly FaultName[] = [...MATRIX_FAULTS, ...CONFIGURATION_FAULTS];

const SUMMARIES: FaultSummaries = Object.fromEntries(
  Object.entries(FAULTS).map(([name, { summary }]) => [name, summary]),
);

function faultSwitch(value: string, about: string): Html {
  const isFirst = value === LIVE_DEFAULTS.fault;
  const name = value === NO_FAULT ? "no second run" : value;
  const input = isFirst
    ? html`<input type="radio" name="fault" value="${value}" checked>`
    : html`<input type="radio" name="fault" value="${value}">`;
  return html`<label>${input} <span><b>${name}</b> <span class="note">${about}</span></span></label>`;
}

function controls(): Html {
  const switches = (names: readonly FaultName[]) =>
    names.map((name) => faultSwitch(name, FAULTS[name].summary));
  return html`
    <aside aria-label="Controls">
      <form id="live-controls" autocomplete="off">
        <div class="buttons"><button type="button" id="live-start" class="primary">Start</button>
    <button type="button" id="live-one" aria-disabled="true">One step</button>
    <button type="button" id="live-again" aria-disabled="true">Start over</button></div>
        <p id="${PLACES.status}" role="status">This page needs JavaScript.</p>
        <div id="${PLACES.machine}" class="note"></div>
        <details open id="live-choices">
          <summary>What goes wrong, and the settings</summary>
          <fieldset class="numbers">
            <legend>Settings of both runs</legend>
            <label>Seed <input type="number" name="seed" min="0" max="${MOST_SEED}" step="1" value="${LIVE_DEFAULTS
              .seed}"></label>
            <label>Steps <input type="number" name="steps" min="1" max="${MOST_STEPS}" step="1" value="${LIVE_DEFAULTS
              .steps}"></label>
          </fieldset>
          <fieldset class="faults"><legend>Fault of the second run</legend>
    ${switches(TEN_FAULTS)}${faultSwitch(NO_FAULT, "the healthy trainer alone")}
    <details><summary>${FURTHER_FAULTS
      .length} more, from reports about real trainers</summary>${switches(FURTHER_FAULTS)}</details>
          </fieldset>
        </details>
      </form>
    </aside>
  `;
}

function section(id: string, { title, about, body }: {
  readonly title: string;
  readonly about: string;
  readonly body: Html;
}): Html {
  return html`
    <section
      aria-labelledby="${id}-heading"><h2 id="${id}-heading">${title}</h2><p class="note">${about}</p>${body}</section>
  `;
}

/** A place that the script fills. */
function place(id: string): Html {
  return html`<div id="${id}"></div>`;
}

/** What reads the files. */
const READERS = [
  command("triage", {}, { subjects: ["metrics.jsonl"] }),
  command("eval", { checkpoint: "checkpoint.safetensors", preset: "rl" }),
];

function files(words: MentionWords): Html {
  const button = (run: string, file: string, words: string) =>
    html`<button type="button" disabled data-run="${run}" data-file="${file}">${words}</button>`;
  return html`
    <div id="live-files">
      <p class="buttons">${button("healthy", "metrics", "Healthy run: metrics.jsonl")}${button(
        "healthy",
        "checkpoint",
        "its checkpoint",
      )}</p>
      <p class="buttons">${button("broken", "metrics", "Broken run: metrics.jsonl")}${button(
        "broken",
        "checkpoint",
        "its checkpoint",
      )}</p>
      <pre>${READERS.map(words).join("\n")}</pre>
    </div>
  `;
}

/**
 * Builds the page.
 *
 * @param options.data What it begins with.
 * @param options.scripts What runs in it.
 * @param options.words Says what reads the files of a run.
 * @returns HTML that loads nothing: its policy allows its own scripts and style, and a worker made of its own text.
 * @throws {RangeError} When a script's text would end its element.
 */
export async function liveDocument(
  { data, scripts, words = plainMention }: {
    readonly data: LiveData;
    readonly scripts: LiveScripts;
    readonly words?: MentionWords;
  },
): Promise<string> {
  const style = STYLE_SHEET + liveStyle;
  const { chartJs, page, worker } = scripts;
  const hashes = await Promise.all([chartJs, page, worker].map(cspHash));
  const policy = [
    "default-src 'none'",
    `script-src ${hashes.join(" ")}`,
    "worker-src blob:",
    `style-src ${await cspHash(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html`
    <!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="generator" content="${LIVE_GENERATOR}">
        <meta http-equiv="Content-Security-Policy" content="${policy}">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <link rel="icon" href="data:,">
        <title>agentrl live</title>
        <style>${ownText(style)}</style>
      </head>
      <body>
    <a class="skip" href="#live-runs-heading">Skip to the runs</a>
    <header><h1>Two agents learn. One of the trainers is broken.</h1>
    <p>A small language model repairs programs: it reads, edits, runs tests, submits, and is paid where hidden tests
    pass. Press Start, and it learns here, by reinforcement learning on your own GPU. Beside it learns the same
    agent, under a trainer with one fault. Both rewards may rise; what is wrong shows before the first step.
    Nothing leaves this page.</p></header>
    ${controls()}
    <main>
    ${place(PLACES.notice)}
    ${section("live-runs", {
      title: "Two runs, one seed",
      about: "Both begin with the same agent and draw the same random numbers.",
      body: place(PLACES.runs),
    })}
    ${section("live-curves", {
      title: "Curves",
      about: "A point is a step: 64 episodes are played, and the policy is updated on them.",
      body: chartPlaces(),
    })}
    ${section("live-checks", {
      title: "Before step 1",
      about:
        "What must hold in a correct trainer is checked on one batch, before anything is learned.",
      body: place(PLACES.checks),
    })}
    ${section("live-words", {
      title: "What triage says",
      about:
        "It reads the verdicts and the metrics, as it would those of a run of yours; the fault's name it is not told.",
      body: place(PLACES.words),
    })}
    ${section("live-episodes", {
      title: "An episode now",
      about:
        "Grey: the task. Blue: what the agent wrote, underlined where it was unlikely. Green: what the tools answered.",
      body: place(PLACES.episodes),
    })}
    ${section("live-files", {
      title: "Take it with you",
      about: "The files of a run on disk, which the command line reads.",
      body: files(words),
    })}
    <p class="note">Made by agentrl ${data.version}.</p>
    </main>
    ${jsonBlock(BLOCKS.data, data)}
    ${jsonBlock(BLOCKS.faults, SUMMARIES)}
    ${jsonBlock(BLOCKS.worker, worker)}
        <script>${ownText(chartJs)}</script>
        <script>${ownText(page)}</script>
      </body>
    </html>
  `.markup.trim();
}
