/** Parallel coordinates: an axis for each setting and one for the score, and a line for each method. */
import { settingText } from "../compare/group_names.ts";
import type { GroupComparison } from "../compare/compare_groups.ts";
import { number } from "../compare/group_sentences.ts";
import { type Html, html, NOTHING } from "./html.ts";

/** A setting's values at their heights, or the score's. */
interface Axis {
  readonly name: string;
  /** 0 at the bottom, 1 at the top; undefined where a group has no value. */
  readonly heights: readonly (number | undefined)[];
  readonly ticks: readonly (readonly [text: string, height: number])[];
}

/** More axes would be narrower than their names. */
const MAX_AXES = 8;

const WIDTH = 900;
const HEIGHT = 300;
const MARGIN = { left: 70, right: 90, top: 34, bottom: 20 };

/** A ratio of largest to smallest value from which on an axis is logarithmic. */
const DECADES = 30;

/** Ticks of a setting with names; more would lie on each other. */
const MAX_NAMES = 12;

/** Characters of a name beside an axis. */
const MAX_CHARACTERS = 16;

function shortened(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS - 1)}…`;
}

function numberAxis(name: string, values: readonly (number | undefined)[]): Axis {
  const known = values.filter((value) => value !== undefined);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const isLog = low > 0 && high / low >= DECADES;
  const scale = (value: number) => {
    if (low === high) return 0.5;
    return isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  };
  const ticks = [...new Set(known)];
  const shown = ticks.length <= 5 ? ticks : [low, high];
  return {
    name: isLog ? `${name} (log)` : name,
    heights: values.map((value) => value === undefined ? undefined : scale(value)),
    ticks: shown.map((value) => [number(value), scale(value)]),
  };
}

function namedAxis(name: string, values: readonly (string | number | boolean | null)[]): Axis {
  const texts = values.map(settingText);
  const different = [...new Set(texts)];
  const height = (text: string) =>
    different.length === 1 ? 0.5 : 1 - different.indexOf(text) / (different.length - 1);
  return {
    name,
    heights: texts.map(height),
    ticks: different.slice(0, MAX_NAMES).map((text) => [shortened(text), height(text)]),
  };
}

function axesOf({ differences, axes, groups, metric }: GroupComparison): Axis[] {
  const shown = differences.filter(({ name }) => axes.length === 0 || axes.includes(name));
  return [
    ...shown.slice(0, MAX_AXES - 1).map(({ name, values }) =>
      values.every((value) => typeof value === "number")
        ? numberAxis(name, values)
        : namedAxis(name, values)
    ),
    numberAxis(metric, groups.map(({ middle }) => middle ?? undefined)),
  ];
}

/**
 * The picture of a comparison: groups without a score have no line.
 *
 * @param comparison At least two groups with a score; otherwise nothing is drawn.
 */
export function parallelCoordinates(comparison: GroupComparison): Html {
  const { groups } = comparison;
  const axes = axesOf(comparison);
  if (groups.filter(({ middle }) => middle !== null).length < 2 || axes.length < 2) return NOTHING;
  const inner = {
    width: WIDTH - MARGIN.left - MARGIN.right,
    height: HEIGHT - MARGIN.top - MARGIN.bottom,
  };
  const x = (axis: number) => MARGIN.left + inner.width * axis / (axes.length - 1);
  const y = (height: number) => MARGIN.top + inner.height * (1 - height);
  const lines = groups.map(({ name, middle }, group) => {
    const points = axes.map(({ heights }, axis) => {
      const height = heights[group];
      return height === undefined ? undefined : `${x(axis).toFixed(1)},${y(height).toFixed(1)}`;
    });
    if (points.includes(undefined)) return NOTHING;
    const title = `${name}: ${number(middle ?? NaN)}`;
    // The best group stands first.
    return html`
      <polyline class="${group === 0 ? "top" : "line"}" points="${points.join(" ")}">
        <title>${title}</title>
      </polyline>
    `;
  });
  const drawn = axes.map(({ name, ticks }, axis) =>
    html`
      <line class="axis" x1="${x(axis)}" y1="${MARGIN.top}" x2="${x(axis)}" y2="${HEIGHT -
        MARGIN.bottom}" /><text
        x="${x(axis)}" y="${MARGIN.top - 16}" text-anchor="middle">${shortened(name)}</text>${ticks
          .map(([text, height]) =>
            html`<text class="tick" x="${x(axis) + 6}" y="${y(height) + 4}">${text}</text>`
          )}
    `
  );
  const label = `Parallel coordinates of ${axes.map(({ name }) => name).join(", ")}: ` +
    `a line for each of ${groups.length} groups; the table of results has the same numbers.`;
  return html`
    <figure class="parallel">
      <figcaption><b>Settings and result</b>
    One line a group, the best one heavy; point at a line for its name.</figcaption>
      <div class="scroll" tabindex="0" role="region" aria-label="Parallel coordinates">
        <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"
          aria-label="${label}">${// The best one is drawn last and lies on top.
          lines.toReversed()}${drawn}</svg>
      </div>
    </figure>
  `;
}
