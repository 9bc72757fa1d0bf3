/** A run as a comparison of groups sees it: its settings, its seed, its curves; and the score of a seed. */
import { lastSteps } from "../core/run_ends.ts";
import { mean } from "../core/statistics.ts";
import type { CanonicalMetric } from "../producers/definition.ts";
import type { Curve } from "./sample_efficiency.ts";

/** Settings by name; what is not text, number or truth value is its JSON. */
export type Settings = Readonly<Record<string, string | number | boolean | null>>;

/** What triage says of a run, as far as it is counted. */
export interface CountedFinding {
  readonly id: string;
  readonly class: "violated" | "suspect";
}

/** A run. */
export interface RunRecord {
  readonly path: string;
  /** Undefined where the log does not tell it: such runs are in no pair. */
  readonly seed: number | undefined;
  /** What is compared: settings apart from the seed and the environment. */
  readonly method: Settings;
  /** The setting of the environment; empty where none is known. */
  readonly environment: Settings;
  /** Names of settings in the order in which they name a group, for example the axes of a sweep; others follow. */
  readonly axes: readonly string[];
  /** A name that was given to its group; undefined: settings name it. */
  readonly group?: string | undefined;
  /** By the name of a metric. */
  readonly curves: ReadonlyMap<string, Curve>;
  /** Ends of metrics by their definitions, as of a pass rate: no interval goes beyond them. */
  readonly ranges?: ReadonlyMap<string, readonly [number, number]>;
  /** Why it has no score, for example that it is not finished. */
  readonly leftOut?: string | undefined;
  /** True where nothing was read of it, so that its settings are those that were planned. */
  readonly isPlanOnly?: boolean;
  /** Episodes in a step; undefined where that is not known. */
  readonly episodesPerStep?: number | undefined;
  /** Undefined where it was not judged. */
  readonly findings?: readonly CountedFinding[] | undefined;
}

/** How a score is made of a curve. */
export type ScoreRule =
  /** The last value: an evaluation stands for itself. */
  | "last"
  /** The mean of the last four, as of training metrics, of which one step is noisy. */
  | "last_four";

/** Metrics of which less is better, whoever logs them. */
const LOWER_IS_BETTER: ReadonlySet<string> = new Set<CanonicalMetric>([
  "truncated",
  "errors",
  "kl_reference",
  "kl_teacher",
  "kl_old",
  "kl_update",
  "gap",
  "gap_max",
  "loss",
  "value_loss",
  "step_time",
  "flat_groups",
  "none_solved",
]);

/** True of a canonical metric of which less is better. */
export function isLowerBetter(metric: string): boolean {
  return LOWER_IS_BETTER.has(metric);
}

/** The rule for a metric. */
export function scoreRule(metric: string): ScoreRule {
  return metric === "eval_score" ? "last" : "last_four";
}

/** The score of a run; undefined where a value that it is made of is missing or not finite. */
export function scoreOf(
  curve: Curve | undefined,
  rule: ScoreRule,
): number | undefined {
  const values = Array.from(curve?.values ?? []);
  const counted = rule === "last" ? values.slice(-1) : lastSteps(values);
  if (counted.length === 0) return undefined;
  const score = mean(counted);
  return Number.isFinite(score) ? score : undefined;
}
