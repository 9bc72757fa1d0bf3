/** Findings for a terminal: the source, the one thing to do first, then class by class; what others wrote is spelled out. */
import { escapeControls } from "../src/core/sentence.ts";
import { type WrapOptions, wrapText } from "../src/core/wrap_text.ts";
import type { FindingClass, FindingPlace, SaidFinding } from "../src/diagnose/finding.ts";
import { say } from "../src/diagnose/findings/curve.ts";
import { firstToAct } from "../src/diagnose/findings/order.ts";
import type { RunView } from "../src/producers/run_view.ts";
import { resemblances } from "../src/producers/suggest.ts";
import { type Style, styled as inStyle } from "./style.ts";

/** How a text is laid out. */
export interface Layout {
  readonly columns: number;
  readonly hasColours: boolean;
  /** Everything: what holds, what was skipped, all alternatives. */
  readonly all: boolean;
}

function styled(text: string, style: Style, { hasColours }: Layout): string {
  return hasColours ? inStyle(text, style) : text;
}

/** Breaks a text at its spaces, whatever others wrote in it. */
function wrap(text: string, options: WrapOptions): string[] {
  return wrapText(escapeControls(text), options);
}

/** A path that loses its middle where it is too long for a line. */
function shortPath(path: string, room: number): string {
  const text = escapeControls(path);
  if (text.length <= room) return text;
  const back = Math.max(8, Math.floor(room * 0.7));
  return `${text.slice(0, Math.max(0, room - back - 1))}…${text.slice(-back)}`;
}

const HEADINGS = {
  violated: "Violated: cannot happen in a correct run",
  suspect: "Suspect: worth a look",
  expected: "Expected: looks alarming, but is so by construction",
  note: "Notes: true, but not a fault",
  holds: "Holds",
  "not-checkable": "Not checkable",
  "not-applicable": "Not applicable",
} as const satisfies Record<FindingClass, string>;

const COLOURS: Partial<Record<FindingClass, Style>> = {
  violated: "red",
  suspect: "yellow",
  note: "cyan",
  expected: "cyan",
};

/** How many alternatives of a finding are shown without `--all`. */
const MOST_ALTERNATIVES = 2;

/** Where a dump shows a finding. */
function placeText({ file, row, sample, token }: FindingPlace): string {
  return [
    `see ${file}${row === undefined ? "" : `:${row}`}`,
    ...(sample === undefined ? [] : [`sample ${sample}`]),
    ...(token === undefined ? [] : [`token ${token}`]),
  ].join(", ");
}

/** @param options.isFirst True of the finding whose next step stands at the top already. */
function describeFinding(
  finding: SaidFinding,
  { isFirst, ...layout }: Layout & { readonly isFirst: boolean },
): string[] {
  const { id, sentence, bound, boundFrom, alternatives = [], next, explains, at } = finding;
  const { columns, all } = layout;
  const body = { columns, indent: 4 };
  const isGrave = finding.class === "violated" || finding.class === "suspect";
  const [first, ...rest] = wrap(`${id}  ${sentence}`, { columns, indent: 2, hanging: 4 });
  const head = `  ${styled(id, "bold", layout)}${first.slice(2 + id.length)}`;
  const lines = [head, ...rest];
  // Logs have charts for that: a row of theirs says little.
  const isOfDump = at?.token !== undefined || at?.sample !== undefined;
  if (isOfDump && (isGrave || all)) lines.push(...wrap(placeText(at), body));
  const isBounded = isGrave || (all && finding.class === "note");
  if (isBounded && boundFrom !== undefined) {
    const number = bound === undefined ? "" : `bound ${say(bound)}: `;
    lines.push(...wrap(`${number}${boundFrom}`, body));
  }
  const shown = all ? alternatives : isGrave ? alternatives.slice(0, MOST_ALTERNATIVES) : [];
  if (shown.length > 0) lines.push(...wrap(`or: ${shown.join("; or ")}`, body));
  if (explains !== undefined && isGrave) {
    lines.push(...wrap(`explains: ${explains.join(", ")}`, body));
  }
  if (next !== undefined && !isFirst && (isGrave || all)) {
    lines.push(...wrap(`next: ${next}`, body));
  }
  return lines;
}

function describeUnchecked(findings: readonly SaidFinding[], layout: Layout): string[] {
  return findings.flatMap(({ sentence, next }) => [
    ...wrap(capitalized(sentence.replace(/^Not checked: /, "")), {
      columns: layout.columns,
      indent: 2,
    }),
    ...(next === undefined
      ? []
      : wrap(`to check it: ${next}`, { columns: layout.columns, indent: 6 })),
  ]);
}

/** In which order classes are shown, and whether without `--all`. */
const SHOWN: readonly (readonly [FindingClass, "always" | "all"])[] = [
  ["violated", "always"],
  ["suspect", "always"],
  ["note", "always"],
  ["expected", "always"],
  ["holds", "all"],
  ["not-checkable", "always"],
  ["not-applicable", "all"],
];

/** What findings are about, as it is shown around them. */
export interface Subject {
  /** What was read, and what it holds. */
  readonly source: readonly string[];
  /** What it is called in a sentence, for example `this log`. */
  readonly name: string;
  /** What takes the place of a thing to do where no finding asks for one. */
  readonly nothingToDo: string;
  /** Lines below the findings. */
  readonly rest: readonly string[];
}

/** A path and what was found there; where both do not fit into a line the path has one of its own. */
export function sourceLine(path: string, rest: string, { columns }: Layout): string {
  const room = columns - rest.length - 2;
  if (room >= 16) return `${shortPath(path, room)}: ${rest}`;
  const lines = wrap(rest, { columns, indent: 2 });
  return [`${shortPath(path, columns - 1)}:`, ...lines].join("\n");
}

/** What was read: the file itself where a path led to one. */
export function readPath({ path, files }: { path: string; files: readonly string[] }): string {
  return files.length === 1 ? files[0] ?? path : path;
}

function describeSource({ log, producer, era, steps }: RunView, layout: Layout): string {
  const { source, rows } = log;
  const range = steps.length === 0
    ? "no step"
    : log.axes[0] === "row"
    ? "steps not given"
    : `steps ${say(steps[0])} to ${say(steps[steps.length - 1])}`;
  const writer = producer ? `${producer.title}${era ? ` ${era.title}` : ""}` : "unknown writer";
  const rest = `${source.form}, ${writer}, ${say(rows.count)} ${
    rows.count === 1 ? "row" : "rows"
  }, ${range}`;
  return sourceLine(readPath(source), rest, layout);
}

/** What takes the place of a thing to do where no finding asks for one. */
function nothingToDo({ understood, log }: RunView, findings: readonly SaidFinding[]): string {
  const plain = findings.find(({ id }) => id === "not_rl" || id === "too_little");
  if (plain) return plain.id === "not_rl" ? plain.sentence : `First: ${plain.sentence}`;
  if (understood.length === 0) {
    const [key = "score"] = log.columns.keys();
    return `First: no key has a known name. Say what they are, such as --map ${key}=reward.`;
  }
  return "First: nothing to do. No rule found a fault in this log.";
}

/** Notes on what the file holds of the run rather than on the run. */
const OF_THE_FILE: ReadonlySet<string> = new Set(["too_little", "past_erased", "ended_early"]);

/** The one thing to do. @param options.first The finding that asks for it. */
function describeFirst(
  { name, nothingToDo }: Subject,
  findings: readonly SaidFinding[],
  { first, ...layout }: Layout & { readonly first: SaidFinding | undefined },
): string[] {
  const isGrave = first?.class === "violated" || first?.class === "suspect";
  const action = first?.next ?? first?.sentence;
  const isShort = findings.some(({ id }) => id === "too_little");
  const text = first === undefined || action === undefined || OF_THE_FILE.has(first.id)
    ? nothingToDo
    : isGrave
    ? `First (${first.id}): ${action}`
    : isShort
    ? `${nothingToDo} Worth doing (${first.id}): ${action}`
    : `First: nothing looks wrong in ${name}. Worth doing (${first.id}): ${action}`;
  const [line, ...rest] = wrap(text, { columns: layout.columns, indent: 0 });
  return [styled(line, "bold", layout), ...rest];
}

/** Keys that may be metrics under another name; few of them, unless everything is asked for. */
function describeNames(view: RunView, layout: Layout): string[] {
  const lacksReward = view.all("reward").length === 0;
  const alike = layout.all || lacksReward ? resemblances(view) : [];
  if (alike.length === 0) return [];
  const shown = layout.all ? alike : alike.slice(0, 5);
  return [
    "",
    "Keys that may be metrics under another name",
    ...shown.flatMap(({ key, name }) =>
      wrap(`--map ${key}=${name}`, { columns: layout.columns, indent: 2 })
    ),
  ];
}

/** What `--all` adds: what the log holds besides, and what is known of the settings. */
function describeRest({ log, unknown, settings }: RunView, layout: Layout): string[] {
  const body = { columns: layout.columns, indent: 2 };
  const known = Object.entries(settings).map(([name, { value, from }]) =>
    `${name} ${value} (${from})`
  );
  return [
    ...(known.length > 0 ? ["", "Settings", ...wrap(known.join(", "), body)] : []),
    ...(unknown.length > 0
      ? ["", "Keys without a known meaning", ...wrap(unknown.join(", "), body)]
      : []),
    ...describeIgnored(log.source.ignored, layout),
  ];
}

/** What was skipped while something was read. */
export function describeIgnored(
  ignored: readonly { readonly what: string; readonly count: number; readonly example: string }[],
  { columns }: Layout,
): string[] {
  if (ignored.length === 0) return [];
  const lines = ignored.flatMap(({ what, count, example }) =>
    wrap(`${say(count)} × ${what}, for example ${example}`, { columns, indent: 2 })
  );
  return ["", "Skipped", ...lines];
}

/**
 * A log as the subject of findings.
 *
 * @param findings What is said about it.
 */
export function logSubject(
  view: RunView,
  findings: readonly SaidFinding[],
  layout: Layout,
): Subject {
  return {
    source: [describeSource(view, layout)],
    name: "this log",
    nothingToDo: nothingToDo(view, findings),
    rest: [...describeNames(view, layout), ...(layout.all ? describeRest(view, layout) : [])],
  };
}

/**
 * Lays findings out.
 *
 * @param subject What they are about.
 * @param findings As they are ordered: causes first.
 * @param layout Columns, colours, and whether everything is shown.
 * @returns The text, ready for a terminal.
 */
export function findingsText(
  subject: Subject,
  findings: readonly SaidFinding[],
  layout: Layout,
): string {
  const first = firstToAct(findings);
  const lines = [...subject.source, ...describeFirst(subject, findings, { ...layout, first })];
  for (const [kind, when] of SHOWN) {
    const own = findings.filter((finding) =>
      finding.class === kind && finding.id !== "not_rl" &&
      !(isToldAbove(finding, findings) && !layout.all)
    );
    if (own.length === 0 || (when === "all" && !layout.all)) continue;
    const colour = COLOURS[kind];
    const heading = HEADINGS[kind];
    lines.push(
      "",
      ...wrap(heading, { columns: layout.columns, hanging: 2 }).map((line) =>
        colour ? styled(line, colour, layout) : line
      ),
    );
    lines.push(
      ...(kind === "not-checkable"
        ? describeUnchecked(own, layout)
        : own.flatMap((finding) =>
          describeFinding(finding, { ...layout, isFirst: finding === first })
        )),
    );
  }
  return [...lines, ...subject.rest].join("\n");
}

/** True of what the first line says where there is nothing more serious. */
function isToldAbove({ id }: SaidFinding, findings: readonly SaidFinding[]): boolean {
  return id === "too_little" &&
    !findings.some((one) => one.class === "violated" || one.class === "suspect");
}

/** One line about a finding, for a log that is watched. */
export function findingLine({ id, class: kind, step, sentence }: SaidFinding): string {
  return escapeControls(
    `${kind}  ${id}${step === undefined ? "" : ` at step ${say(step)}`}: ${sentence}`,
  );
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
