/** What an experiment of the lab is: a record that says what it shows, and a run that returns plain data and verdicts. */
import type { Commands } from "../gpu/commands.ts";

/** One entry of a table; null where there is no number. */
export type Cell = number | string | null;

/** A table of results. A column named `tutorial` holds the numbers of the text that the experiment reproduces. */
export interface ResultTable {
  /** One line. */
  readonly title: string;
  /** One name a column. */
  readonly columns: readonly string[];
  /** One cell a column. */
  readonly rows: readonly (readonly Cell[])[];
}

/** A figure that anyone can draw: points or lines over one axis. */
export interface ResultFigure {
  /** One line. */
  readonly title: string;
  /** What x is, with its unit. */
  readonly xLabel: string;
  /** What y is, with its unit. */
  readonly yLabel: string;
  /** Curves and marks. */
  readonly series: readonly {
    readonly name: string;
    readonly style: "line" | "points";
    /** (x, y), in the order in which a line joins them. */
    readonly points: readonly (readonly [number, number])[];
  }[];
}

/** Something that must hold, and whether it does. */
export interface LabCheck {
  /** The requirement, for example `cosine at least 0.995`. */
  readonly requirement: string;
  /** What was measured; null where it is not a finite number. */
  readonly value: Cell;
  /** The verdict. */
  readonly holds: boolean;
}

/** What a run of an experiment hands back; all of it is plain data. */
export interface LabResult {
  /** At least one. */
  readonly tables: readonly ResultTable[];
  /** May be empty. */
  readonly figures: readonly ResultFigure[];
  /** What must hold; a run with a variant may have none. */
  readonly checks: readonly LabCheck[];
  /** Further numbers for programs: values that JSON keeps. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** What an experiment may use. */
export interface LabContext {
  /** The device's recorder. */
  readonly commands: Commands;
  /** Seed of every random stream. */
  readonly seed: number;
  /** True: smaller sizes, for a first look. */
  readonly quick: boolean;
  /** One of the experiment's variants; undefined: as in the tutorial. */
  readonly variant: string | undefined;
  /** Says in a few words what is being done, and how much of the experiment is done, 0 to 1 (default 0). */
  readonly progress: (note: string, share?: number) => void;
  /**
   * What several experiments of one lab need, made once and kept: base agents, episodes, trained agents.
   * @param key Names everything that the value depends on besides the seed and `quick`.
   */
  readonly shared: <T>(key: string, make: () => Promise<T>) => Promise<T>;
}

/** One experiment. */
export interface Experiment {
  /** Its name on the command line and the stem of its file. */
  readonly name: string;
  /** One line. */
  readonly title: string;
  /** One or two sentences: what a reader sees in the result. */
  readonly shows: string;
  /** What the tutorial prints for it: values that JSON keeps. */
  readonly tutorial: Readonly<Record<string, unknown>>;
  /** Changed assumptions that can be tried, and what each one is. */
  readonly variants: Readonly<Record<string, string>>;
  /** Seconds that it takes in full size, roughly: by these a lab judges how much of its work is done. */
  readonly costSeconds: number;
  /**
   * Runs it.
   * @throws {DeviceLostError} When the device is gone.
   */
  readonly run: (context: LabContext) => Promise<LabResult>;
}

/**
 * A context with nothing in its memory yet.
 * @param options.progress Default: says nothing.
 */
export function createLabContext(
  commands: Commands,
  options: {
    readonly seed: number;
    readonly quick: boolean;
    readonly variant?: string | undefined;
    readonly progress?: LabContext["progress"];
  },
): LabContext {
  const made = new Map<string, Promise<unknown>>();
  return {
    commands,
    seed: options.seed,
    quick: options.quick,
    variant: options.variant,
    progress: options.progress ?? (() => {}),
    shared: <T>(key: string, make: () => Promise<T>): Promise<T> => {
      const known = made.get(key) ?? make();
      made.set(key, known);
      return known as Promise<T>; // A key names one kind of value.
    },
  };
}

/** The size of a full run, or the smaller one of a quick run. */
export function sizeOf(
  { quick }: LabContext,
  sizes: { readonly full: number; readonly quick: number },
): number {
  return quick ? sizes.quick : sizes.full;
}

/**
 * The steps of STREAM.experiment that the experiments draw from, so that no two of them share random numbers. The seed
 * stands beside them.
 */
export const DRAW = {
  baseAgent: 0,
  transcript: 1,
  support: 2,
  probe: 3,
  taskMeans: 4,
  trained: 7,
  pairs: 8,
  bandit: 9,
  repairLogits: 10,
  repairBatches: 11,
  rerunNoise: 12,
  /** The first of the streams of the surrogate; the first of them is also the estimator's. */
  repairEpisodes: 100,
} as const;
