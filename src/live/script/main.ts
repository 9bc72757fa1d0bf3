/** The script of the live page: hands what the visitor asks for to the trainer, and shows what comes back. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { FaultName } from "../../faults/faults.ts";
import { type Chart, chartData, chartTable, describeChart } from "../../report/chart.ts";
import { showCharts } from "../../report/script/charts.ts";
import { moveFocusWithin } from "../../report/script/keyboard.ts";
import { fillPart } from "../../report/watch_script/watch_parts.ts";
import { webGpuHelp } from "../browser_help.ts";
import { connect } from "../client.ts";
import type { Answer, LiveData, LiveSettings, Request, RunName } from "../messages.ts";
import { BLOCKS } from "../blocks.ts";
import { fragmentOf, NO_FAULT, settingsOf } from "../settings.ts";
import { afterAnswer, afterRequest, firstState, type LiveState } from "../state.ts";
import { type FaultSummaries, liveCharts, liveParts, PLACES } from "../view.ts";

/** Points that a curve may have: more than the steps of a run. */
const MAX_POINTS = 1000;

/** What may be taken of a frame: half of it at 60 a second. */
const FRAME_MS = 8;

function block<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent ?? "null");
}

function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found as T;
}

const data: LiveData = block(BLOCKS.data);
const faults: FaultSummaries = block(BLOCKS.faults);
const form = element<HTMLFormElement>("live-controls");
const startButton = element<HTMLButtonElement>("live-start");
const oneButton = element<HTMLButtonElement>("live-one");
const againButton = element<HTMLButtonElement>("live-again");
const help = webGpuHelp(navigator.userAgent);

/** What is asked for when both runs are ready: all steps, one, or none. */
type Wish = "all" | "one" | "none";

/** The page: one value that changes, and what is shown of it. */
class LivePage {
  #state: LiveState;
  #wish: Wish = "all";
  readonly #shown = new Map<string, string>();
  readonly #charts = showCharts([]);
  #isDrawing = false;
  readonly #client = connect(data, (answer) => this.#hear(answer));

  constructor() {
    this.#state = firstState(this.#readFragment());
    this.#fillForm(this.#state.settings);
    this.#draw();
  }

  /** The large button: it starts, pauses and goes on. */
  toggle(): void {
    const { phase } = this.#state;
    if (phase === "idle" || phase === "failed") this.#open("all");
    else if (phase === "waiting") this.#ask({ kind: "step", steps: "all" });
    else if (phase === "running") this.#ask({ kind: "pause" });
    else if (phase === "ended") this.startOver("all");
  }

  /** One step of each run. */
  stepOnce(): void {
    const { phase } = this.#state;
    if (phase === "idle") this.#open("one");
    else if (phase === "waiting") this.#ask({ kind: "step", steps: "one" });
  }

  /** Both runs from the beginning, as the form says. */
  startOver(wish: Wish): void {
    this.#wish = wish;
    this.#ask({ kind: "begin", settings: this.#readFragment() });
  }

  /** The form was changed: the address says so, and runs that were begun begin again. */
  takeForm(): void {
    const chosen = new FormData(form);
    const said = new URLSearchParams();
    for (const name of ["fault", "seed", "steps"]) said.set(name, String(chosen.get(name) ?? ""));
    const settings = settingsOf(String(said), faultNames());
    history.replaceState(null, "", fragmentOf(settings));
    this.#fillForm(settings); // What was out of range is not any more.
    this.#change(settings);
  }

  /** The address was changed by hand, or by a link. */
  takeFragment(): void {
    const settings = this.#readFragment();
    this.#fillForm(settings);
    this.#change(settings);
  }

  /** Asks for a file of a run. */
  download(run: RunName, file: "metrics" | "checkpoint"): void {
    this.#ask({ kind: "download", run, file });
  }

  #change(settings: LiveSettings): void {
    const { phase } = this.#state;
    if (phase === "idle" || phase === "failed") {
      this.#state = { ...this.#state, settings };
      this.#draw();
    } else this.startOver(phase === "waiting" ? "none" : "all");
  }

  #readFragment(): LiveSettings {
    return settingsOf(location.hash, faultNames(), data.recording.settings);
  }

  #fillForm({ fault, seed, steps }: LiveSettings): void {
    for (const input of form.querySelectorAll<HTMLInputElement>("input")) {
      if (input.name === "fault") input.checked = input.value === (fault ?? NO_FAULT);
      if (input.name === "seed") input.value = String(seed);
      if (input.name === "steps") input.value = String(steps);
    }
  }

  #open(wish: Wish): void {
    this.#wish = wish;
    this.#ask({ kind: "open" });
  }

  #ask(request: Request): void {
    this.#state = afterRequest(this.#state, request);
    this.#draw();
    this.#client.send(request);
  }

  #hear(answer: Answer): void {
    if (answer.kind === "file") return save(answer);
    this.#state = afterAnswer(this.#state, answer);
    if (answer.kind === "played") this.startOver(this.#wish);
    else if (answer.kind === "ready" && this.#wish !== "none") {
      this.#ask({ kind: "step", steps: this.#wish });
    } else this.#draw();
  }

  /** Shows what has changed with the next frame: answers may come faster than the screen can show. */
  #draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => this.#drawFrame());
  }

  /** Shows part by part, as far as a frame has the time; the rest waits for the next one, so that the page stays at hand. */
  #drawFrame(): void {
    const endMs = performance.now() + FRAME_MS;
    for (const show of this.#changes()) {
      show();
      if (performance.now() > endMs) return void requestAnimationFrame(() => this.#drawFrame());
    }
    this.#isDrawing = false;
  }

  /** What is to be shown afresh, one part or chart after the other. */
  *#changes(): Generator<() => void> {
    yield () => this.#showButtons();
    for (const [id, { markup }] of liveParts(this.#state, { faults, help })) {
      if (this.#isShown(id, markup)) continue;
      yield () => fillPlace(id, markup);
    }
    for (const chart of liveCharts(this.#state)) {
      if (this.#isShown(chart.id, JSON.stringify(chart))) continue;
      yield () => this.#showChart(chart);
    }
  }

  /** True where a place shows this already; else it counts as shown from now on. */
  #isShown(id: string, content: string): boolean {
    if (this.#shown.get(id) === content) return true;
    this.#shown.set(id, content);
    return false;
  }

  #showChart(chart: Chart): void {
    element(chart.id).setAttribute("aria-label", describeChart(chart));
    fillPart(element(`${chart.id}-table`), chartTable(chart, { isOpen: false }).markup);
    this.#charts.update([chartData(chart, MAX_POINTS)]);
  }

  #showButtons(): void {
    const { phase, runs, isReplay, failure } = this.#state;
    startButton.textContent = {
      idle: "Start",
      busy: "Start",
      waiting: "Go on",
      running: "Pause",
      pausing: "Pause",
      ended: "Start over",
      failed: failure?.reason === "no-webgpu" ? "Play the recording" : "Try again",
    }[phase];
    setIdle(startButton, phase === "busy" || phase === "pausing");
    setIdle(oneButton, phase !== "idle" && phase !== "waiting");
    // At the end the large button says the same.
    setIdle(againButton, ["idle", "busy", "ended", "failed"].includes(phase));
    for (const fieldset of form.querySelectorAll("fieldset")) fieldset.disabled = isReplay;
    for (const button of element("live-files").querySelectorAll<HTMLButtonElement>("button")) {
      const { rows } = runs[button.dataset.run as RunName];
      button.disabled = rows.length === 0 || isReplay || phase === "failed";
    }
  }
}

/** Puts markup into its place. */
function fillPlace(id: string, markup: string): void {
  const place = element(id);
  fillPart(place, markup);
  if (id !== PLACES.episodes) return;
  place.querySelectorAll<HTMLElement>(".roving").forEach(moveFocusWithin);
}

/** A button that has nothing to do now keeps the keyboard, which a disabled one would lose. */
function setIdle(button: HTMLButtonElement, isIdle: boolean): void {
  button.setAttribute("aria-disabled", String(isIdle));
}

/** The faults that the form offers. */
function faultNames(): FaultName[] {
  return Object.keys(faults) as FaultName[];
}

/** Hands a file to the visitor. */
function save({ name, type, bytes }: Extract<Answer, { readonly kind: "file" }>): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

document.documentElement.classList.add("js");
// On a narrow screen the choices would push the runs out of sight.
element<HTMLDetailsElement>("live-choices").open = matchMedia("(min-width: 75rem)").matches;
const page = new LivePage();
/** Does the work of a button where it has some. */
function onPress(button: HTMLButtonElement, work: () => void): void {
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") !== "true") work();
  });
}

onPress(startButton, () => page.toggle());
onPress(oneButton, () => page.stepOnce());
onPress(againButton, () => page.startOver("all"));
form.addEventListener("change", () => page.takeForm());
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => page.takeFragment());
element("live-files").addEventListener("click", ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return;
  const { run, file } = target.dataset;
  if (run && file) page.download(run as RunName, file as "metrics" | "checkpoint");
});
