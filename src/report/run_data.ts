/** A run as the report shows it. */
import { type Column, ColumnCollector } from "../core/columns.ts";
import { UserError } from "../core/errors.ts";
import type { SaidFinding } from "../diagnose/finding.ts";
import type { CheckResult } from "../diagnose/invariant.ts";
import type { LaterCheck } from "../diagnose/triage/evaluate.ts";
import type { TriageReport } from "../diagnose/triage/triage.ts";
import type { RunSettings } from "../run/run_settings.ts";
import type { TokenData } from "./token_data.ts";
import { keptIndices, type Point } from "./downsample.ts";

/** A sampled episode. */
export interface EpisodeData {
  readonly step: number;
  readonly episode: number;
  readonly group: number;
  readonly tokens: readonly number[];
  /** As in OWNER of src/gym/vocabulary.ts. */
  readonly owners: readonly number[];
  /** The sampler's, in nats. */
  readonly logps: readonly number[];
  readonly reward: number;
  readonly info: Readonly<Record<string, unknown>>;
}

/** A recorded step, and why it was recorded. */
export interface RecordedStepData {
  readonly step: number;
  readonly reasons: readonly string[];
}

/** What triage says of a run. */
export interface RunJudgement {
  readonly report: TriageReport;
  readonly findings: readonly SaidFinding[];
}

/** All that is known of a run. */
export interface RunData {
  /** For headings: the end of its path. */
  readonly name: string;
  /** The folder or file, for commands. */
  readonly path: string;
  readonly settings: RunSettings | undefined;
  readonly stepCount: number;
  /** (step, value) by metric, in the order of the first row; a value that was not finite is NaN. */
  readonly metrics: ReadonlyMap<string, readonly Point[]>;
  readonly checks: readonly CheckResult[];
  /** The verdicts about later steps; left out where none were given. */
  readonly laterChecks?: readonly LaterCheck[];
  /** Of the steps that are shown. */
  readonly episodes: readonly EpisodeData[];
  readonly checkpoints: readonly number[];
  readonly recorded: readonly RecordedStepData[];
  /** Its episodes token by token; left out where none were written or nobody asked. */
  readonly tokens?: TokenData | { readonly leftOutBytes: number };
  /** What triage says of it, or why it could not be judged; left out where nobody asked. */
  readonly triage?: RunJudgement | { readonly problem: string };
}

/** More points of a metric than any chart shows; of a longer run the ends and the extremes stay. */
const MAX_POINTS = 20_000;

/** Points at the end that stay as they are: means of the last steps are taken from them. */
const LAST_POINTS = 8;

function pointsOf({ steps, values }: Column): readonly Point[] {
  const point = (i: number): Point => [steps[i], values[i]];
  if (values.length <= MAX_POINTS) return values.map((_, i) => point(i));
  const early = values.length - LAST_POINTS;
  const kept = keptIndices({ count: early, y: (i) => values[i] }, MAX_POINTS - LAST_POINTS);
  return [...kept, ...Array.from({ length: LAST_POINTS }, (_, i) => early + i)].map(point);
}

/**
 * Metrics by name from rows of them.
 *
 * @param rows One a step; without a `step` they count from 0.
 * @param source What error sentences call them.
 * @throws {UserError} When there is no row, or a step is not a number.
 */
export function metricsOf(rows: Iterable<Readonly<Record<string, unknown>>>, source: string) {
  const collector = new ColumnCollector();
  for (const { step = collector.rowCount, ...values } of rows) {
    if (typeof step !== "number") {
      throw new UserError(
        `Cannot use ${source}, row ${collector.rowCount + 1}: step is ${
          JSON.stringify(step)
        }, but must be a number`,
      );
    }
    collector.beginRow(step);
    for (const name in values) {
      const value = values[name];
      // null stands for what is not finite. Texts and lists are notes of other programs.
      if (typeof value === "number" || value === null) collector.add(name, value ?? NaN);
    }
  }
  const { rowCount: stepCount } = collector;
  if (stepCount === 0) throw new UserError(`Cannot use ${source}: it holds no row`);
  const columns = collector.columns();
  return {
    stepCount,
    metrics: new Map(Array.from(columns, ([name, column]) => [name, pointsOf(column)] as const)),
  };
}

/**
 * A run of which nothing but its metrics is known.
 *
 * @param rows One a step; without a `step` they count from 0.
 * @throws {UserError} As {@linkcode metricsOf}.
 */
export function runOfRows(
  rows: Iterable<Readonly<Record<string, unknown>>>,
  { name, path }: { readonly name: string; readonly path: string },
): RunData {
  const none = { settings: undefined, checks: [], episodes: [], checkpoints: [], recorded: [] };
  return { name, path, ...metricsOf(rows, path), ...none };
}
