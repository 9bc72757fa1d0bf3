/** A run as the report shows it. */
import { UserError } from "../core/errors.ts";
import type { CheckResult } from "../diagnose/invariants.ts";
import type { RunSettings } from "../run/run_settings.ts";
import type { Point } from "./downsample.ts";

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
  readonly episodes: readonly EpisodeData[];
  readonly checkpoints: readonly number[];
  readonly recorded: readonly RecordedStepData[];
}

/** Metrics by name from rows of them; `source` is what error sentences call them. */
export function metricsOf(rows: readonly Readonly<Record<string, unknown>>[], source: string) {
  const metrics = new Map<string, Point[]>();
  for (const [index, { step = index, ...values }] of rows.entries()) {
    if (typeof step !== "number") {
      throw new UserError(
        `Cannot use ${source}, row ${index + 1}: step is ${
          JSON.stringify(step)
        }, but must be a number`,
      );
    }
    for (const [name, value] of Object.entries(values)) {
      // null stands for what is not finite. Texts and lists are notes of other programs.
      if (typeof value !== "number" && value !== null) continue;
      const points = metrics.get(name) ?? [];
      points.push([step, value ?? NaN]);
      metrics.set(name, points);
    }
  }
  return { stepCount: rows.length, metrics };
}

/**
 * A run of which nothing but its metrics is known.
 *
 * @param rows One a step; without a `step` they count from 0.
 * @throws {UserError} When a step is no number.
 */
export function runOfRows(
  rows: readonly Readonly<Record<string, unknown>>[],
  { name, path }: { readonly name: string; readonly path: string },
): RunData {
  const none = { settings: undefined, checks: [], episodes: [], checkpoints: [], recorded: [] };
  return { name, path, ...metricsOf(rows, path), ...none };
}
