/** One refreshed screen of a terminal: as wide and high as it is now, nothing left behind on resize or at the end. */
import { escapeControls } from "../src/core/sentence.ts";
import { wrapText } from "../src/core/wrap_text.ts";
import type { CanonicalMetric } from "../src/producers/definition.ts";
import type { MeasuredSeries } from "../src/producers/run_view.ts";
import { formatNumber } from "../src/report/format.ts";
import { grave, type WatchedRun } from "../src/report/watch_data.ts";
import { clockWords, stateFacts } from "../src/report/watch_run.ts";
import { type Style, styled } from "./style.ts";

/** The size of a terminal, and whether it has colours. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
  readonly hasColours: boolean;
}

/** The metrics whose course is shown, in the order in which a run is read. */
const SHOWN: readonly CanonicalMetric[] = [
  "reward",
  "eval_score",
  "length",
  "entropy",
  "kl_reference",
  "gap",
  "grad_norm",
  "loss",
];

const BLOCKS = "▁▂▃▄▅▆▇█";

/** Columns of a metric's name, and of its value. */
const NAME_COLUMNS = 14, VALUE_COLUMNS = 9;

/** A course of more cells says no more. */
const MOST_CELLS = 60;

/**
 * A curve as a line of blocks: of each stretch the value that is furthest from the middle of all, so that a spike is seen.
 *
 * @param values Those that are not finite are left out.
 * @param cells Blocks at most.
 */
export function spark(values: Float64Array, cells: number): string {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0 || cells < 1) return "";
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  const middle = finite.toSorted()[Math.floor(finite.length / 2)];
  const count = Math.min(cells, finite.length);
  return Array.from({ length: count }, (_, cell) => {
    const begin = Math.floor(cell * finite.length / count);
    const end = Math.floor((cell + 1) * finite.length / count);
    const furthest = finite.subarray(begin, end)
      .reduce((a, b) => Math.abs(b - middle) > Math.abs(a - middle) ? b : a);
    const share = high === low ? 0 : (furthest - low) / (high - low);
    return BLOCKS[Math.min(BLOCKS.length - 1, Math.floor(share * BLOCKS.length))];
  }).join("");
}

function metricLine(series: MeasuredSeries, columns: number): string {
  const { key, values } = series;
  const name = escapeControls(key);
  const shown = name.length > NAME_COLUMNS ? `…${name.slice(1 - NAME_COLUMNS)}` : name;
  const value = formatNumber(values[values.length - 1]).padStart(VALUE_COLUMNS);
  const head = `  ${shown.padEnd(NAME_COLUMNS)} ${value} `;
  return head + spark(values, Math.min(MOST_CELLS, columns - head.length - 1));
}

/** A line with its style, which does not count as width. */
interface Line {
  readonly text: string;
  readonly style?: Style;
}

function findingLines(run: WatchedRun, columns: number): Line[] {
  return grave(run).flatMap(({ id, class: kind, sentence }) =>
    wrapText(escapeControls(`${kind} ${id}: ${sentence}`), { columns, indent: 2, hanging: 4 })
      .map((text): Line => ({ text, style: kind === "violated" ? "red" : "yellow" }))
  );
}

/** A run in at most so many lines. Where they are few, its curves give way to findings, the first one last. */
function runLines(run: WatchedRun, columns: number, height = Infinity): Line[] {
  const { view, problem, pending, name } = run;
  const facts = stateFacts(run).filter(([key]) => key !== "reward" && key !== "run")
    .map(([key, value]) => key === "now" ? value : `${key} ${value}`);
  const wrap = (text: string) => wrapText(escapeControls(text), { columns, indent: 2, hanging: 4 });
  const said = [problem, pending].flatMap((text) => text === undefined ? [] : wrap(text));
  const curves = view ? SHOWN.flatMap((metric) => view.measured(metric) ?? []) : [];
  const head: Line[] = [
    { text: escapeControls(name), style: "bold" },
    ...wrap(facts.join("; ")).map((text): Line => ({ text })),
    ...said.map((text): Line => ({ text, style: "yellow" })),
  ];
  const findings = findingLines(run, columns);
  const room = height - head.length;
  const curveCount = Math.max(room - findings.length, Number(room > 1));
  return [
    ...head,
    ...curves.slice(0, Math.max(0, curveCount)).map((series): Line => ({
      text: metricLine(series, columns),
    })),
    ...findings,
  ].slice(0, height);
}

/** Lines below which a run says nothing: an empty one, its name, and how far it is. */
const LEAST_LINES = 3;

/** All runs in so many lines: each has an equal share of what those before it have left, and none is left out in silence. */
function allRunLines(
  runs: readonly WatchedRun[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
): Line[] {
  const isCrowded = runs.length * LEAST_LINES > rows;
  const shown = isCrowded ? runs.slice(0, Math.floor((rows - 1) / LEAST_LINES)) : runs;
  const more = runs.length - shown.length;
  const lines: Line[] = [];
  for (const [i, run] of shown.entries()) {
    const share = Math.floor((rows - Number(more > 0) - lines.length) / (shown.length - i));
    lines.push({ text: "" }, ...runLines(run, columns, share - 1));
  }
  if (more > 0) {
    lines.push({
      text: `and ${more} more ${more === 1 ? "run" : "runs"}, for which the window is too low`,
      style: "dim",
    });
  }
  return lines;
}

/** The last notices of all runs, the newest first. */
function noticeLines(runs: readonly WatchedRun[], columns: number): Line[] {
  const isAlone = runs.length === 1;
  return runs.flatMap(({ name, notices }) => notices.map((notice) => ({ ...notice, name })))
    .toSorted((a, b) => b.atMs - a.atMs)
    .flatMap(({ atMs, text, name }) =>
      wrapText(escapeControls(`${clockWords(atMs)}  ${isAlone ? "" : `${name}: `}${text}`), {
        columns,
        indent: 2,
        hanging: 4,
      }).map((line): Line => ({ text: line, style: "dim" }))
    );
}

/**
 * What stands on the screen.
 *
 * @param runs As they are now.
 * @param nowMs Milliseconds since 1970.
 * @returns At most `rows` lines of at most `columns` characters, colours apart. Runs share the height; what has
 *   happened stands below them as far as it fits.
 */
export function screenLines(
  runs: readonly WatchedRun[],
  size: ScreenSize & { readonly nowMs: number },
): string[] {
  const { columns, rows, hasColours, nowMs } = size;
  const lines: Line[] = [
    { text: `agentrl watch  ${clockWords(nowMs)}  Ctrl-C ends it`, style: "dim" },
    ...allRunLines(runs, { columns, rows: rows - 1 }),
    { text: "" },
    ...noticeLines(runs, columns),
  ];
  return lines.slice(0, rows).map(({ text, style }) => {
    const shown = text.length > columns ? `${text.slice(0, columns - 1)}…` : text;
    return hasColours && style ? styled(shown, style) : shown;
  });
}

/** Sequences of xterm that every terminal of today knows: another screen, no cursor, no wrapping; and back. */
export const ENTER_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/** What {@linkcode ENTER_SCREEN} changed is as it was. */
export const LEAVE_SCREEN = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/** Draws lines over what stands there: each to its end, and nothing below the last. */
export function drawn(lines: readonly string[]): string {
  return `\x1b[H${lines.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[J`;
}
