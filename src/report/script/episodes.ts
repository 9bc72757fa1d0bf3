/** Episodes in the page: filtered by what they are about, and reached from the points of charts. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** What episodes can be chosen by: the attribute, and what the page calls it. */
const FACETS = [["task", "task"], ["reward", "reward"], ["stop", "ended by"]] as const;

/** Adds a choice for each facet in which the episodes of a run differ. */
export function addEpisodeFilters(): void {
  for (const container of document.querySelectorAll<HTMLElement>(".episodes")) {
    const episodes = [...container.querySelectorAll<HTMLElement>(".episode")];
    const chosen = new Map<string, string>();
    const apply = () => {
      for (const episode of episodes) {
        episode.hidden = [...chosen].some(([facet, value]) => episode.dataset[facet] !== value);
      }
    };
    const filters = document.createElement("p");
    filters.className = "filters note";
    for (const [facet, title] of FACETS) {
      const values = [...new Set(episodes.map(({ dataset }) => dataset[facet] ?? ""))].sort();
      if (values.length < 2) continue;
      const select = document.createElement("select");
      select.append(new Option("all", ""));
      for (const value of values.filter((value) => value !== "")) select.append(new Option(value));
      select.addEventListener("change", () => {
        if (select.value === "") chosen.delete(facet);
        else chosen.set(facet, select.value);
        apply();
      });
      const label = document.createElement("label");
      label.append(`${title} `, select);
      filters.append(label);
    }
    container.before(filters);
  }
}

/** The episodes of a step in the section of a chart; undefined where they are not shown. */
function episodesOf(canvas: HTMLCanvasElement, step: number): HTMLDetailsElement | undefined {
  const section = canvas.closest("section");
  const found = document.getElementById(`${section?.id ?? ""}-episodes-${step}`);
  return found instanceof HTMLDetailsElement ? found : undefined;
}

/** True where a point of a chart leads somewhere. */
export function hasEpisodes(canvas: HTMLCanvasElement, step: number): boolean {
  return episodesOf(canvas, step) !== undefined;
}

/** Shows the episodes of a step. */
export function showEpisodes(canvas: HTMLCanvasElement, step: number): void {
  const details = episodesOf(canvas, step);
  if (!details) return;
  details.open = true;
  details.scrollIntoView();
}

/** Opens the step of an episode that an address leads to. */
export function openTarget(): void {
  const details = document.getElementById(location.hash.slice(1))?.closest("details");
  if (details) details.open = true;
}
