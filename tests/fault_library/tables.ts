/** The tables of the library from observations, as Markdown. */
import { markdownTable } from "../../src/core/markdown_table.ts";
import { mean, wilsonInterval } from "../../src/core/statistics.ts";
import type { Half } from "./fault.ts";
import {
  type Answer,
  type AnswerKind,
  answerKind,
  caughtLater,
  caughtOf,
  type CorrectRuns,
  type FaultRuns,
  isHarmful,
  type Observation,
} from "./observation.ts";

/** What all runs of a fault say, once where they agree. */
function joined(cells: readonly string[]): string {
  return new Set(cells).size === 1 ? cells[0] : cells.join(" / ");
}

function answerWords({ conclusion, causes: [first] }: Answer): string {
  return first ? `${first.name} ${first.belief.toFixed(2)}` : conclusion;
}

function beforeCell(run: Observation): string {
  return run.before.length === 0 ? "-" : run.before.join(" ");
}

function laterCell(run: Observation): string {
  const later = caughtLater(run);
  return later === undefined ? "-" : `${later.by} at ${later.step}`;
}

/** The last column: a fault that was caught is no longer a question of harm, but the table tells it. */
function outcomeCell(fault: FaultRuns, run: Observation): string {
  const caught = caughtOf(fault, run);
  const harm = isHarmful(fault, run) ? "harmful" : "harmless";
  return caught === "missed" ? `missed, ${harm}` : caught === "late" ? `late, ${harm}` : harm;
}

/** One row a fault; where its seeds differ, a cell has one answer a seed. */
export function faultTable(faults: readonly FaultRuns[]): string[] {
  const header = [
    "fault",
    "kind",
    "begins",
    "before step 1",
    "during the run",
    "triage",
    "which is",
    "pass rate",
    "outcome",
  ];
  const rows = faults.map((fault) => {
    const cells = (cell: (run: Observation) => string) => joined(fault.runs.map(cell));
    return [
      fault.name,
      fault.kind,
      String(fault.begins),
      cells(beforeCell),
      cells(laterCell),
      cells(({ answer }) => answerWords(answer)),
      cells((run) => answerKind(fault, run)),
      cells(({ passRate }) => Number.isNaN(passRate) ? "none" : passRate.toFixed(2)),
      cells((run) => outcomeCell(fault, run)),
    ];
  });
  return markdownTable(header, rows, { numbers: ["begins"] });
}

/** Counts over the runs of some faults. */
export interface Tally {
  readonly faults: number;
  readonly runs: number;
  readonly before: number;
  readonly inTime: number;
  readonly late: number;
  readonly missedHarmless: number;
  readonly missedHarmful: number;
  readonly harmful: number;
  /** Harmful runs caught before step 1, or in time. */
  readonly harmfulCaught: number;
  readonly answers: Readonly<Record<AnswerKind, number>>;
}

/** Counts over the runs of some faults. */
export function tally(faults: readonly FaultRuns[]): Tally {
  const all = faults.flatMap((fault) =>
    fault.runs.map((run) => ({
      caught: caughtOf(fault, run),
      isHarm: isHarmful(fault, run),
      answer: answerKind(fault, run),
    }))
  );
  const count = (test: (run: typeof all[number]) => boolean) => all.filter(test).length;
  const answered = (kind: AnswerKind) => count(({ answer }) => answer === kind);
  const isCaught = (caught: string) => caught === "before" || caught === "in time";
  return {
    faults: faults.length,
    runs: all.length,
    before: count(({ caught }) => caught === "before"),
    inTime: count(({ caught }) => caught === "in time"),
    late: count(({ caught }) => caught === "late"),
    missedHarmless: count(({ caught, isHarm }) => caught === "missed" && !isHarm),
    missedHarmful: count(({ caught, isHarm }) => caught === "missed" && isHarm),
    harmful: count(({ isHarm }) => isHarm),
    harmfulCaught: count(({ caught, isHarm }) => isHarm && isCaught(caught)),
    answers: {
      named: answered("named"),
      near: answered("near"),
      "unknown cause": answered("unknown cause"),
      wrong: answered("wrong"),
      "falls short": answered("falls short"),
      nothing: answered("nothing"),
    },
  };
}

function share(count: number, total: number): string {
  return total === 0 ? "-" : `${count} of ${total} (${Math.round(100 * count / total)} %)`;
}

/** Both halves beside each other. */
export function summaryTable(faults: readonly FaultRuns[]): string[] {
  const halves: readonly Half[] = ["development", "held-out"];
  const tallies = halves.map((half) => tally(faults.filter((fault) => fault.half === half)));
  const row = (name: string, cell: (of: Tally) => string) => [name, ...tallies.map(cell)];
  return markdownTable(["", ...halves], [
    row("faults", ({ faults }) => String(faults)),
    row("runs", ({ runs }) => String(runs)),
    row("caught before step 1", ({ before, runs }) => share(before, runs)),
    row("caught within four steps of the first that differs", (t) => share(t.inTime, t.runs)),
    row("caught later", (t) => share(t.late, t.runs)),
    row("missed and harmless", (t) => share(t.missedHarmless, t.runs)),
    row("missed and harmful", (t) => share(t.missedHarmful, t.runs)),
    row(
      "harmful runs caught before step 1 or within four",
      (t) => share(t.harmfulCaught, t.harmful),
    ),
    row("triage: named", (t) => share(t.answers.named, t.runs)),
    row("triage: near", (t) => share(t.answers.near, t.runs)),
    row("triage: unknown cause", (t) => share(t.answers["unknown cause"], t.runs)),
    row("triage: another cause", (t) => share(t.answers.wrong, t.runs)),
    row("triage: falls short", (t) => share(t.answers["falls short"], t.runs)),
    row("triage: nothing", (t) => share(t.answers.nothing, t.runs)),
  ]);
}

/** The bins of belief, highest first: from `low` on, to below the one before. */
export const BELIEF_BINS = [
  { name: "0.9 and above", low: 0.9 },
  { name: "0.5 to 0.9", low: 0.5 },
  { name: "below 0.5", low: 0 },
] as const;

/** One bin of answers. */
export interface CalibrationBin {
  readonly name: string;
  readonly answers: number;
  readonly right: number;
  /** NaN without answers. */
  readonly meanBelief: number;
  /** 95 % Wilson interval of the share that was right; NaN without answers. */
  readonly low: number;
  readonly high: number;
}

/** Beliefs in first-ranked causes, and how often they were right: named or near. */
export function calibration(faults: readonly FaultRuns[]): CalibrationBin[] {
  const answers = faults.flatMap((fault) =>
    fault.runs.flatMap((run) => {
      const [first] = run.answer.causes;
      const isRight = ["named", "near"].includes(answerKind(fault, run));
      return first ? [{ belief: first.belief, isRight }] : [];
    })
  );
  return BELIEF_BINS.map(({ name, low }, i) => {
    const below = BELIEF_BINS[i - 1]?.low ?? Infinity;
    const own = answers.filter(({ belief }) => belief >= low && belief < below);
    const right = own.filter(({ isRight }) => isRight).length;
    if (own.length === 0) {
      return { name, answers: 0, right, meanBelief: NaN, low: NaN, high: NaN };
    }
    const interval = wilsonInterval(right, own.length);
    return {
      name,
      answers: own.length,
      right,
      meanBelief: mean(own.map(({ belief }) => belief)),
      low: interval.low,
      high: interval.high,
    };
  });
}

/** Beliefs against shares; a mean inside its interval is calibrated. */
export function calibrationTable(faults: readonly FaultRuns[]): string[] {
  const header = ["belief", "answers", "right", "mean belief", "share right, 95 %", "inside"];
  const rows = calibration(faults).map(({ name, answers, right, meanBelief, low, high }) => [
    name,
    String(answers),
    String(right),
    answers === 0 ? "-" : meanBelief.toFixed(2),
    answers === 0 ? "-" : `${low.toFixed(2)} to ${high.toFixed(2)}`,
    answers === 0 ? "-" : meanBelief >= low && meanBelief <= high ? "yes" : "no",
  ]);
  return markdownTable(header, rows, { numbers: ["answers", "right", "mean belief"] });
}

/** From this belief on a wrong name is a confident one. */
export const CONFIDENT = 0.5;

function falseAlarms({ runs }: CorrectRuns) {
  const violated = runs.flatMap(({ seed, before, later }) => [
    ...before.map((id) => `${id} (seed ${seed})`),
    ...later.map(({ id, step }) => `${id} at ${step} (seed ${seed})`),
  ]);
  const named = runs.flatMap(({ seed, answer: { causes: [first] } }) =>
    first && first.belief >= CONFIDENT
      ? [`${first.name} ${first.belief.toFixed(2)} (seed ${seed})`]
      : []
  );
  return { violated, named };
}

/** One row a setting of the right trainer. */
export function correctTable(settings: readonly CorrectRuns[]): string[] {
  const rows = settings.map((setting) => {
    const { violated, named } = falseAlarms(setting);
    const conclusions = new Map<string, number>();
    for (const { answer: { conclusion, causes } } of setting.runs) {
      const words = causes.length > 0 ? "below 0.5 or named" : conclusion;
      conclusions.set(words, (conclusions.get(words) ?? 0) + 1);
    }
    return [
      setting.name,
      String(setting.runs.length),
      violated.join(", ") || "-",
      named.join(", ") || "-",
      [...conclusions].map(([words, count]) => `${words} × ${count}`).join(", "),
    ];
  });
  const header = ["setting", "runs", "violated checks", `names from ${CONFIDENT} on`, "triage"];
  return markdownTable(header, rows, { numbers: ["runs"] });
}

/** Both sums of the table of correct runs, as a sentence. */
export function correctSentence(settings: readonly CorrectRuns[]): string {
  const runs = settings.reduce((sum, { runs }) => sum + runs.length, 0);
  const alarms = settings.map(falseAlarms);
  const count = (of: "violated" | "named") => alarms.reduce((sum, a) => sum + a[of].length, 0);
  const short = settings.flatMap(({ runs }) => runs)
    .filter(({ answer }) => answer.conclusion === "falls-short").length;
  return `${runs} runs of the right trainer under ${settings.length} settings: ${
    count("violated")
  } violated checks, ${
    count("named")
  } names with a belief of ${CONFIDENT} or more, ${short} said to fall short.`;
}
