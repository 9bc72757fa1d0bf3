/** Runs that are being watched, as a page and a terminal show them, and what travels to the page. */
import type { SaidFinding } from "../diagnose/finding.ts";
import type { RunView } from "../producers/run_view.ts";
import type { ChartData } from "./chart.ts";
import type { RunData } from "./run_data.ts";

/** Something that happened to a run's files, in the order in which it was seen. */
export interface Notice {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly text: string;
  /** Of a finding its sentence, where the findings themselves do not stand beside it. */
  readonly more?: string;
}

/** A sample of another trainer's token dump. What the dump does not tell is left out. */
export interface Sample {
  /** File and row. */
  readonly place: string;
  readonly step?: number;
  readonly reward?: number;
  readonly tokenCount: number;
  /** Texts where the dump or a tokenizer has them, else token ids; cut where they are long. */
  readonly prompt?: string;
  readonly answer: string;
}

/** How fast a run is, as far as its files tell. */
export interface Pace {
  readonly tokensPerSecond?: { readonly value: number; readonly from: string };
  /** Steps that the run is to make. */
  readonly plannedSteps?: number;
  readonly left?: { readonly durationMs: number; readonly from: string };
}

/** A run that is being watched, at one moment. */
export interface WatchedRun {
  /** Differs from the names of the other runs. */
  readonly name: string;
  /** As it was given. */
  readonly path: string;
  /** What was read last; undefined until something could be read. It stays when the files go. */
  readonly view: RunView | undefined;
  /** Of a run of ours its settings, metrics and checkpoints, and the episodes of its last step. */
  readonly own: RunData | undefined;
  /** In the order in which they are to be read. */
  readonly findings: readonly SaidFinding[];
  /** Why its files could not be read or judged when they were last looked at. */
  readonly problem: string | undefined;
  /** That the last line is not whole yet, where that shows. */
  readonly pending: string | undefined;
  /** The last ones, the newest last. */
  readonly notices: readonly Notice[];
  readonly pace: Pace;
  /** The last samples of another trainer's token dump; empty where there is none. */
  readonly samples: readonly Sample[];
}

/** A chart as the page draws it, with what stands beside the canvas for who cannot see it. */
export interface WatchedChart {
  readonly data: ChartData;
  readonly label: string;
  /** Markup of its table. */
  readonly table: string;
}

/** What the page shows: texts and markup by the element in which they stand, and charts. */
export interface WatchContent {
  /** Of the window's tab. */
  readonly title: string;
  /** Markup by the id of its element. */
  readonly parts: ReadonlyMap<string, string>;
  readonly charts: readonly WatchedChart[];
}

/** What is new of it, as it is sent. */
export interface WatchUpdate {
  readonly title?: string;
  readonly parts: Readonly<Record<string, string>>;
  readonly charts: readonly WatchedChart[];
}

/** The last step of a run; undefined before its first. */
export function lastStep({ view }: WatchedRun): number | undefined {
  return view?.steps[view.steps.length - 1];
}

/** Findings that ask for a look: violated and suspect ones. */
export function grave({ findings }: WatchedRun): SaidFinding[] {
  return findings.filter(({ class: kind }) => kind === "violated" || kind === "suspect");
}
