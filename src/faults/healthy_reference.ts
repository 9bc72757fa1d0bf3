/** The pinned healthy runs: the metrics of three training seeds of the default GRPO run, against which other runs are held. */
import data from "./healthy_reference.json" with { type: "json" };
import { metricSeries } from "../diagnose/metric_series.ts";
import type { HealthyReference } from "../diagnose/reference_runs.ts";
import type { Needs } from "../diagnose/triage/knowledge.ts";
import { resolveConfig, type TrainConfig } from "../rl/config.ts";
import { DEBUG_BASE } from "./debug_base.ts";
import type { MetricName, MetricsRow } from "../rl/metrics.ts";

/** The content of healthy_reference.json, which `cli/agentrl triage --measure` writes. */
export interface HealthyReferenceFile {
  /** The rows of each seed; numbers are rounded. */
  readonly seeds: readonly {
    readonly seed: number;
    readonly rows: readonly Readonly<Record<string, number>>[];
  }[];
}

/** Which runs they are, for people. */
export const HEALTHY_RUNS = "GRPO's defaults, the rl base agent, 24 steps, seeds 0 to 2";

/** The base agent that they begin with. */
export const HEALTHY_BASE = `rl:${DEBUG_BASE.seed}`;

const DEFAULTS = resolveConfig({ flags: { algorithm: "grpo" } });
const STEPS_PER_UPDATE = DEFAULTS.epochs * DEFAULTS.minibatches;

/** The settings that must be GRPO's defaults. */
const DEFAULT_SETTINGS = [
  "preset",
  "reward",
  "maxTurns",
  "problems",
  "groupSize",
  "resampleRounds",
  "temperature",
  "aggregation",
  "klCoef",
  "entropyCoef",
] as const satisfies (keyof TrainConfig)[];

/**
 * What a run must be for its ranges to be compared with theirs: the settings that move a metric of a healthy run by more than
 * seeds do. The learning rate is not among them, since one that is too high is what a range shows.
 */
export const LIKE_THE_HEALTHY_RUNS: Needs = {
  producers: ["agentrl"],
  algorithms: ["grpo"],
  settings: [
    { setting: "base", is: HEALTHY_BASE, words: `the base agent ${HEALTHY_BASE}` },
    ...DEFAULT_SETTINGS.map((setting) => {
      const is = DEFAULTS[setting];
      return { setting, is, words: `${setting} ${is}` };
    }),
    {
      setting: "stepsPerUpdate",
      is: STEPS_PER_UPDATE,
      words: `${STEPS_PER_UPDATE} optimizer steps per batch`,
    },
  ],
};

/** Digits that are kept: enough for every bound, which is a multiple. */
const DIGITS = 5;

/** The pinned runs as rows. */
export const HEALTHY_REFERENCE_FILE: HealthyReferenceFile = data;

/**
 * Rows of healthy runs as they are pinned.
 *
 * @param seeds The rows by seed.
 * @returns The content of the file.
 */
export function healthyReferenceFile(
  seeds: readonly { readonly seed: number; readonly rows: readonly MetricsRow[] }[],
): HealthyReferenceFile {
  const round = (value: number) => Number(value.toPrecision(DIGITS));
  return {
    seeds: seeds.map(({ seed, rows }) => ({
      seed,
      rows: rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, round(value)]))
      ),
    })),
  };
}

/**
 * The pinned runs as series.
 *
 * @param file Where they stand (default: those that ship).
 * @returns One entry a seed.
 */
export function healthyReference(file = HEALTHY_REFERENCE_FILE): HealthyReference {
  return file.seeds.map(({ seed, rows }) => {
    const names = Object.keys(rows[0] ?? {}).filter((name) => name !== "step") as MetricName[];
    return metricSeries(rows, { names, source: `healthy reference, seed ${seed}` });
  });
}
