/** The script of a page that watches runs: takes what the server sends, and says when it hears nothing of it. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { showCharts } from "../script/charts.ts";
import type { WatchUpdate } from "../watch_data.ts";
import { fillPart } from "./watch_parts.ts";

/** What the page says of its connection. */
const LINKS = {
  live: "Live: the page follows the run.",
  lost: "The connection is lost; the page tries again by itself and shows what it last heard.",
  ended: "The watch has ended; the page shows what it last heard. The run is not touched by that.",
} as const;

const charts = showCharts([]);
const link = document.getElementById("watch-link");

function say(state: keyof typeof LINKS): void {
  if (!link || link.dataset.state === state) return;
  link.dataset.state = state;
  link.textContent = LINKS[state];
}

function take({ title, parts, charts: changed }: WatchUpdate): void {
  if (title !== undefined) document.title = title;
  for (const [id, markup] of Object.entries(parts)) {
    const part = document.getElementById(id);
    if (part) fillPart(part, markup);
  }
  for (const { data: { id }, label, table } of changed) {
    document.getElementById(id)?.setAttribute("aria-label", label);
    const place = document.getElementById(`${id}-table`);
    if (place) fillPart(place, table);
  }
  charts.update(changed.map(({ data }) => data));
}

document.documentElement.classList.add("js");
const source = new EventSource("events");
source.addEventListener("open", () => say("live"));
source.addEventListener("update", ({ data }) => take(JSON.parse(data)));
source.addEventListener("end", () => {
  source.close();
  say("ended");
});
source.addEventListener("error", () => {
  // Closed for good: another watch may listen there by now, which knows nothing of this page.
  say(source.readyState === EventSource.CLOSED ? "ended" : "lost");
});
